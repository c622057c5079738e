import { expect, test } from '@jest/globals';
import { timedChapters } from './timed-chapters.ts';

const TWO = [
  { start: 500, title: 'A' },
  { start: 4000, title: 'B' },
];

test('a chapter ends where the next one begins, the last one at the end of the video', () => {
  expect(timedChapters(TWO, 10.24)).toEqual([
    { start: 0.5, end: 4, title: 'A' },
    { start: 4, end: 10.24, title: 'B' },
  ]);
});

test('the last chapter lasts a second while the duration is not known', () => {
  expect(timedChapters(TWO, null).map(({ end }) => end)).toEqual([4, 5]);
});

test.each([
  [4.001, [4, 4.001]],
  [4, [4]],
  [0.5, []],
])('a video of %d seconds has the chapters that begin before its end', (duration, ends) => {
  expect(timedChapters(TWO, duration).map(({ end }) => end)).toEqual(ends);
});
