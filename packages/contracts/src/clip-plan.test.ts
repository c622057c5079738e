import { expect, test } from '@jest/globals';
import { planClip, windowOf } from './clip-plan.ts';
import { I_FRAME_RENDITION } from './renditions.ts';
import type { TaskPlan } from './transcode-plan.ts';

/** A key frame after this many frames, which last no whole number of microseconds. */
const GOP = 250;
const GOPS = 4000;
const RATE = 24_000 / 1001;

/** The plan of a video of eleven hours. Each group of pictures is a segment. */
const PLAN = {
  segmentStarts: Array.from({ length: GOPS }, (_, at) => at * GOP),
  encode: {
    frameRate: { numerator: 24_000, denominator: 1001 },
    frames: GOPS * GOP,
    videoRenditions: [{ name: '360p', frameStep: 1 }],
    audio: [],
  },
} as unknown as TaskPlan;

const DURATIONS = Array.from({ length: GOPS }, () => Number((GOP / RATE).toFixed(6)));

test('the I-frames of a clip are those of its segments, although rounded durations of hours add up to another time', () => {
  expect(Math.abs(DURATIONS.reduce((a, b) => a + b, 0) - (GOPS * GOP) / RATE)).toBeGreaterThan(0.001);
  const stored = [{ name: I_FRAME_RENDITION, segmentDurations: DURATIONS }] as const;
  const firstFrame = (GOPS - 10) * GOP;
  const { work } = planClip(PLAN, stored, { firstFrame, frames: 5 * GOP });
  expect(work.segments).toEqual({ [I_FRAME_RENDITION]: { first: GOPS - 10, end: GOPS - 5 } });
  const cut = planClip(PLAN, stored, { firstFrame: firstFrame + 1, frames: 5 * GOP });
  expect(cut.work.segments).toEqual({ [I_FRAME_RENDITION]: { first: GOPS - 9, end: GOPS - 5 } });
});

test('a window has one frame at least', () => {
  const encode = { ...PLAN.encode, frameRate: { numerator: 10, denominator: 1 } };
  expect(windowOf({ encode }, { start: 1.95, end: 2.0499995 })).toEqual({ firstFrame: 20, frames: 1 });
});

test('the key frames of a video are not those of its clips', () => {
  const encode = { ...PLAN.encode, keyFrames: [0, GOP] };
  const { plan } = planClip({ ...PLAN, encode }, [], { firstFrame: GOP, frames: GOP });
  expect(plan.encode).not.toHaveProperty('keyFrames');
});

test('a clip has no copy in a codec that it does not take over', () => {
  const parent = { ...PLAN, encode: { ...PLAN.encode, copiedAlternative: 'av1' as const } };
  const { plan } = planClip(parent, [], { firstFrame: 0, frames: GOP });
  expect(plan.alternatives).toEqual([]);
  expect(plan.encode).not.toHaveProperty('copiedAlternative');
});
