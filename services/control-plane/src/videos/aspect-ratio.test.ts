import { expect, test } from '@jest/globals';
import { aspectRatio } from './aspect-ratio.ts';

test.each([
  [1920, 1080, '16:9'],
  [854, 480, '16:9'],
  [1082, 1920, '9:16'],
  [642, 480, '4:3'],
  [480, 642, '3:4'],
  [500, 500, '1:1'],
  [722, 480, '3:2'],
  [480, 722, '2:3'],
  [1082, 1350, '4:5'],
  [1350, 1082, '5:4'],
  [2560, 1097, '21:9'],
  [1097, 2560, '9:21'],
  [2002, 1000, '2:1'],
  [1000, 2002, '1:2'],
])('%dx%d has the common ratio %s', (width, height, ratio) => {
  expect(aspectRatio(width, height)).toBe(ratio);
});

test('a ratio counts as common within one percent', () => {
  expect([aspectRatio(1009, 1000), aspectRatio(1000, 1009)]).toEqual(['1:1', '1:1']);
  expect([aspectRatio(1000, 990), aspectRatio(990, 1000)]).toEqual(['100:99', '99:100']);
});

test('any other ratio is in lowest terms', () => {
  expect(aspectRatio(1998, 1080)).toBe('37:20');
  expect(aspectRatio(360, 1000)).toBe('9:25');
});
