import { expect, test } from '@jest/globals';
import { rangeOf, segmentTimes } from './segment-times.ts';

const TIMES = segmentTimes([2, 2, 4, 6]);

test('segments follow each other', () => {
  expect(TIMES).toEqual([0, 2, 4, 8, 14]);
  expect(segmentTimes([])).toEqual([0]);
});

test('a segment covers its time, at the height in the name of its rendition', () => {
  const range = (rendition: string, sequence: number) =>
    rangeOf({ rendition, sequence, starved: false }, TIMES);
  expect(range('720p', 2)).toEqual({ from: 4, to: 8, height: 720 });
  expect(range('1080p-av1', 0)).toEqual({ from: 0, to: 2, height: 1080 });
  expect(range('audio2', 3)).toEqual({ from: 8, to: 14 });
  expect(range('720p', 4)).toBeUndefined();
});
