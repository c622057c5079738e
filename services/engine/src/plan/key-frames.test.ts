import { expect, test } from '@jest/globals';
import { planKeyFrames } from './key-frames.ts';
import { planLadder } from './ladder.ts';

const frameRate = { numerator: 25, denominator: 1 };
const plan = {
  ...{ lead: 0, frameRate, frames: 25 * 24, startsShort: false, segmentSeconds: 6 },
  videoRenditions: planLadder({ width: 640, height: 360 }, 25),
};
const moving = (from: number, to: number) =>
  new Map(Array.from({ length: to - from }, (_, at) => [from + at, 3]));
const secondsOf = (keyFrames: number[] | null) => keyFrames?.map((frame) => frame / 25);

test('a video that moves has a key frame every two seconds', () => {
  expect(planKeyFrames(plan, moving(0, 24))).toBeNull();
});

test('still segments have one at their beginning alone', () => {
  expect(secondsOf(planKeyFrames(plan, moving(6, 12)))).toEqual([0, 6, 8, 10, 12, 18]);
});

test('segments are found in the source by the beginning of the part', () => {
  expect(secondsOf(planKeyFrames({ ...plan, lead: 6 }, moving(6, 12)))).toEqual([0, 2, 4, 6, 12, 18]);
});

test('short first segments keep their beginnings', () => {
  const starts = secondsOf(planKeyFrames({ ...plan, startsShort: true }, new Map()));
  expect(starts).toEqual([0, 2, 4, 8, 14, 20]);
});

test('renditions with half the frame rate have all key frames', () => {
  const fast = { ...plan, frameRate: { numerator: 60000, denominator: 1001 }, frames: 1440 };
  const keyFrames = planKeyFrames(
    { ...fast, videoRenditions: planLadder({ width: 1280, height: 720 }, 59.94) },
    new Map(),
  );
  expect(keyFrames).toEqual([0, 360, 720, 1080]);
});

test('a video with more key frames than an argument can have keeps its regular ones', () => {
  const long = { ...plan, frames: 25 * 60_000 };
  expect(planKeyFrames(long, moving(0, 6))).toBeNull();
});
