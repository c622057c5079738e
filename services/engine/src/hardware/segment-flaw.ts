import type { SegmentInfo } from '../packagers/packager.ts';
import { PROBE } from './probe-arguments.ts';

const TOLERANCE_SECONDS = 0.002;

/** What is wrong with the segments of a clip; null if nothing is. */
export function segmentFlaw(first: SegmentInfo, second: SegmentInfo): string | null {
  const { frames, keyFrame, framesPerSecond } = PROBE;
  const made = first.units + second.units;
  if (made !== frames) return `${made} of ${frames} frames`;
  if (first.units !== keyFrame) return `a key frame at frame ${first.units}, not ${keyFrame}`;
  const moved = second.start - first.start - keyFrame / framesPerSecond;
  if (Math.abs(moved) > TOLERANCE_SECONDS) return `frames ${moved.toFixed(3)} s late`;
  const { codecs, configuration } = first;
  if (codecs !== second.codecs) return `the codec strings ${codecs} and ${second.codecs}`;
  return configuration === second.configuration ? null : 'parameter sets that change';
}
