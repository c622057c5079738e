import { expect, test } from '@jest/globals';
import { heldUntil, isSlow } from './slow-video.ts';

const timeline = (frames: number, averageRate: number, duration = 10) => ({
  cut: 0,
  frames,
  start: 0,
  duration,
  averageRate,
  grid: null,
});

test.each([
  ['one frame', 1, 25, true],
  ['a frame each five seconds', 3, 0.2, true],
  ['a frame a second', 10, 1, false],
])('%s: slow is %#', (_, frames, rate, expected) => {
  expect(isSlow({ frames, averageRate: rate })).toBe(expected);
});

test('the last frame of slow video is shown until the sound ends', () => {
  expect(heldUntil(timeline(3, 0.2), 30)).toMatchObject({ duration: 30, averageRate: 0.1 });
  expect(heldUntil(timeline(1, 25, 0.04), 3600)).toMatchObject({ duration: 3600 });
});

test.each([
  ['the sound ends before it', timeline(3, 0.2), 8],
  ['there is no sound', timeline(3, 0.2), Number.NEGATIVE_INFINITY],
  ['it is not slow', timeline(250, 25), 30],
])('nothing is changed if %s', (_, video, soundEnd) => {
  expect(heldUntil(video, soundEnd)).toBe(video);
});
