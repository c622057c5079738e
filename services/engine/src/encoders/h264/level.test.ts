import { expect, test } from '@jest/globals';
import { planLadder } from '../../plan/ladder.ts';
import { h264Level } from './level.ts';

const levels = (width: number, height: number, framesPerSecond: number) =>
  planLadder({ width, height }, framesPerSecond).map((rendition) => {
    const rate = framesPerSecond / rendition.frameStep;
    return h264Level({ ...rendition, framesPerSecond: rate, bufferSize: 2 * rendition.maxRate });
  });

test.each([
  ['25 frames per second', 1920, 1080, 25, [30, 30, 31, 40], [8, 5, 5, 4]],
  ['60 frames per second', 1920, 1080, 60, [30, 31, 32, 42], [8, 11, 5, 4]],
  ['a portrait', 1080, 1920, 30, [30, 31, 31, 40], [8, 11, 5, 4]],
  ['a small frame, where the bit rate decides', 64, 36, 30, [13], [16]],
  ['a narrow stripe, where the longer side decides', 2000, 48, 25, [31], [16]],
  ['more than decoders of level 4.2 can store', 4320, 1080, 30, [31, 31, 40, 50], [8, 5, 4, 6]],
])('the levels of a ladder of %s', (_, width, height, rate, expected, frames) => {
  expect(levels(width, height, rate).map(({ level }) => level)).toEqual(expected);
  expect(levels(width, height, rate).map(({ maxFrames }) => maxFrames)).toEqual(frames);
});

test('a configured bit rate raises the level', () => {
  const stream = { width: 1920, height: 1080, framesPerSecond: 30, maxRate: 30e6, bufferSize: 60e6 };
  expect(h264Level(stream).level).toBe(41);
});

test.each([
  [176, 144, 15, 80, 10, 4],
  [176, 144, 30, 240, 11, 9],
  [352, 288, 7, 100, 12, 6],
  [352, 288, 15, 400, 12, 6],
  [352, 416, 15, 800, 21, 8],
  [352, 288, 30, 800, 13, 6],
  [352, 288, 30, 1250, 20, 6],
  [352, 576, 25, 2500, 21, 6],
  [720, 576, 12, 2500, 22, 5],
  [720, 576, 25, 6000, 30, 5],
  [1280, 720, 30, 8000, 31, 5],
  [1280, 720, 60, 12_000, 32, 5],
  [1920, 1080, 30, 12_500, 40, 4],
  [1920, 1080, 30, 25_000, 41, 4],
  [1920, 1080, 60, 25_000, 42, 4],
  [4096, 256, 25, 5000, 40, 8],
  [2560, 1920, 30, 25_000, 50, 5],
  [3840, 2160, 30, 25_000, 51, 5],
  [3840, 2160, 60, 25_000, 52, 5],
  [8192, 4320, 30, 25_000, 60, 5],
  [8192, 4320, 60, 25_000, 61, 5],
  [8192, 4320, 120, 25_000, 62, 5],
])(
  'the lowest level for %sx%s at %s frames and %s kbit per second is %s, with %s stored frames',
  (width, height, framesPerSecond, kilobits, level, maxFrames) => {
    const maxRate = kilobits * 1000;
    expect(h264Level({ width, height, framesPerSecond, maxRate, bufferSize: 2 * maxRate })).toEqual({
      level,
      maxFrames,
    });
  },
);
