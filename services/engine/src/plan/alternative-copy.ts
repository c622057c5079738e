import { isDeepStrictEqual } from 'node:util';
import type { Cuts } from '@framelane/contracts/segment-times';
import { toNumber } from '../source/frame-rate.ts';
import { BT709, ownColour } from './colour.ts';
import { KEY_FRAME_SECONDS, ROUNDING_SECONDS } from './key-frames.ts';
import { checkVideoCopy, refused, type Verdict, type VideoCopyFacts } from './stream-copy.ts';

/** The shortest average distance of key frames: with more of them, H.264 needs more bits. */
const MIN_AVERAGE_GOP_SECONDS = KEY_FRAME_SECONDS / 2;

/**
 * The same as `checkVideoCopy` for a codec that the video does not wait for. H.264, which everybody gets, then has the key frames of the source, and no
 * stream copy in return. So these must be about as good as its own: no further apart, not many more, and early enough for short first segments.
 */
export function checkAlternativeCopy(facts: VideoCopyFacts): Verdict<Cuts> {
  const verdict = checkVideoCopy(facts);
  const { gops, duration, frameRate, video } = facts;
  if (verdict.copy === null || typeof gops === 'string') return verdict;
  // The frames that the lower renditions are encoded from have these colours.
  if (!isDeepStrictEqual(ownColour(video), BT709)) return refused('colour');
  const longest = KEY_FRAME_SECONDS + 1 / toNumber(frameRate) + ROUNDING_SECONDS;
  if (gops.some((gop) => gop.duration > longest)) return refused('sparse_key_frames');
  if ((gops.length - 1) * MIN_AVERAGE_GOP_SECONDS > duration) return refused('dense_key_frames');
  return verdict.copy.startsShort ? verdict : refused('segments');
}
