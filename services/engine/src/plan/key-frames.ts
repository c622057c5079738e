import { audioSegmentStarts } from '@framelane/contracts/segment-times';
import { type EncodePlan, isSoundAlone } from '@framelane/contracts/transcode-plan';
import type { PictureChanges } from '../source/change-scan.ts';
import { type FrameRate, toNumber } from '../source/frame-rate.ts';
import type { Gop, GopFlaw } from '../source/gop-scan.ts';
import { isStill } from './stillness.ts';
import { segmentStarts } from './stream-copy.ts';

/** Seconds between key frames, unless the source sets them or the picture stands still (HLS authoring specification 1.13). */
export const KEY_FRAME_SECONDS = 2;

/** Minimum time between two stored I-frames of a segment (HLS authoring specification 6.3). */
export const MIN_I_FRAME_SECONDS = 1;
/** Timestamps are rounded to milliseconds in many containers. */
export const ROUNDING_SECONDS = 0.001;

/** Frames of the top rendition, counted from the first one of the video. */
export type KeyFrames = {
  /** All key frames. */
  all: readonly number[];
  /** Those that begin a segment. All renditions have these frames. */
  segmentStarts: readonly number[];
};

/** The most key frames that a run gets as a list: it is one argument, of which Linux allows 128 kB. */
export const MAX_LISTED_KEY_FRAMES = 8000;

/**
 * The key frames of an encoded video if it is still in some segments, which then have one at their beginning alone; null if it has one every two
 * seconds. Players seek by decoding from the key frame before, which is fast where little changes.
 */
export function planKeyFrames(
  plan: Pick<
    EncodePlan,
    | 'lead'
    | 'frameRate'
    | 'frames'
    | 'videoRenditions'
    | 'startsShort'
    | 'segmentSeconds'
    | 'copiedAlternative'
  >,
  changes: PictureChanges,
): number[] | null {
  const rate = toNumber(plan.frameRate);
  const regular = regularKeyFrames(plan);
  const starts = segmentStarts(
    regular.map((frame) => frame / rate),
    plan,
  );
  const starting = new Set(starts.map((start) => Math.round(start * rate)));
  const isInStill = starts.map((start, at) => {
    const end = starts[at + 1] ?? plan.frames / rate;
    return isStill(changes, { from: start + plan.lead, to: end + plan.lead });
  });
  let segment = -1;
  const kept = regular.filter((frame) => {
    if (starting.has(frame)) segment += 1;
    return starting.has(frame) || !isInStill[segment];
  });
  return kept.length < regular.length && kept.length <= MAX_LISTED_KEY_FRAMES ? kept : null;
}

/**
 * The key frames of a video: those of the source with a stream copy, else those of the plan, or one every two seconds. Those of sound alone are the
 * frames that begin segments.
 */
export function keyFramesOf(plan: EncodePlan, gops: readonly Gop[] | GopFlaw): KeyFrames {
  const rate = toNumber(plan.frameRate);
  const toFrame = (seconds: number) => Math.round(seconds * rate);
  if (isSoundAlone(plan)) {
    const starts = audioSegmentStarts(plan, plan.duration).map(toFrame);
    return { all: starts, segmentStarts: starts };
  }
  const all =
    plan.copiesVideo && typeof gops !== 'string'
      ? gops.map(({ start }) => toFrame(start))
      : (plan.keyFrames ?? regularKeyFrames(plan));
  const starts = segmentStarts(
    all.map((frame) => frame / rate),
    plan,
  );
  return { all, segmentStarts: starts.map(toFrame) };
}

/**
 * The number of frames between key frames if it is fixed: those of two seconds, rounded up to a multiple of the frame step, so that all renditions have
 * these frames.
 *
 * @param frameStep the largest frame step of all renditions
 */
export function keyFrameInterval({ numerator, denominator }: FrameRate, frameStep: number): number {
  return frameStep * Math.ceil(Math.ceil((KEY_FRAME_SECONDS * numerator) / denominator) / frameStep);
}

/** The largest frame step of the renditions of a plan. */
export function largestFrameStep({ videoRenditions }: Pick<EncodePlan, 'videoRenditions'>): number {
  return Math.max(...videoRenditions.map((rendition) => rendition.frameStep));
}

/**
 * For each multiple of two seconds, the first frame at or after it that all renditions have; with a stream copy in a further codec, one after each
 * interval. Integers avoid rounding errors.
 */
function regularKeyFrames({
  frameRate,
  frames,
  videoRenditions,
  copiedAlternative,
}: Pick<EncodePlan, 'frameRate' | 'frames' | 'videoRenditions' | 'copiedAlternative'>): number[] {
  const step = largestFrameStep({ videoRenditions });
  const { numerator, denominator } = frameRate;
  const interval = copiedAlternative === undefined ? undefined : keyFrameInterval(frameRate, step);
  const all: number[] = [];
  for (;;) {
    const due = Math.ceil((all.length * KEY_FRAME_SECONDS * numerator) / denominator);
    const next = interval === undefined ? step * Math.ceil(due / step) : all.length * interval;
    if (next >= frames) return all;
    all.push(next);
  }
}
