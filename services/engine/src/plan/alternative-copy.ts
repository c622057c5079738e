import { isDeepStrictEqual } from 'node:util';
import type { Cuts } from '@framelane/contracts/segment-times';
import { toNumber } from '../source/frame-rate.ts';
import { BT709, ownColour } from './colour.ts';
import { keyFrameInterval } from './key-frames.ts';
import { checkVideoCopy, refused, type Verdict, type VideoCopyFacts } from './stream-copy.ts';

/**
 * The same as `checkVideoCopy` for a codec that the video does not wait for. H.264, which everybody gets, must not become worse for that: it has a key frame
 * about every two seconds and short first segments as always. So the source must have a key frame after each interval of that length. It may have more.
 */
export function checkAlternativeCopy(facts: VideoCopyFacts): Verdict<Cuts> {
  const { gops, duration, frameRate, frameStep, video } = facts;
  if (typeof gops === 'string') return checkVideoCopy(facts);
  const rate = toNumber(frameRate);
  const interval = keyFrameInterval(frameRate, frameStep);
  const count = Math.ceil(Math.round(duration * rate) / interval);
  const frames = Array.from({ length: count }, (_, at) => at * interval);
  const verdict = checkVideoCopy({ ...facts, keyFrames: frames.map((frame) => frame / rate) });
  if (verdict.copy === null) return verdict;
  // The frames that the lower renditions are encoded from have these colours.
  if (!isDeepStrictEqual(ownColour(video), BT709)) return refused('colour');
  const keyFrames = new Set(gops.map(({ start }) => Math.round(start * rate)));
  const isCut = frames.every((frame) => keyFrames.has(frame));
  return isCut && verdict.copy.startsShort ? verdict : refused('segments');
}
