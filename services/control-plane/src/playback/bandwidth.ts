import type { Segment } from '@framelane/contracts/manifest';

/** Bit rates of one rendition in bits a second, rounded up. */
export type Bandwidth = {
  /** The largest rate over segments that last about one target duration; never below the average. */
  peak: number;
  /** All bits divided by the whole duration. */
  average: number;
};

/**
 * Measures the bandwidth of a rendition as RFC 8216 §4.1 defines it: the peak is the largest rate of all runs of adjacent
 * segments that last between 0.5 and 1.5 target durations. Segments outside of every such run count only in the average.
 */
export function measureBandwidth(segments: readonly Segment[], targetDuration: number): Bandwidth {
  const average = bitsPerSecond(sum(segments, 'bytes'), sum(segments, 'duration'));
  const peaks = segments.map((_, first) => peakFrom(segments, first, targetDuration));
  return { peak: peaks.reduce((largest, peak) => Math.max(largest, peak), average), average };
}

/** The largest rate of the runs that start with segment `first`; 0 without such a run. */
function peakFrom(segments: readonly Segment[], first: number, targetDuration: number): number {
  let [peak, bytes, duration] = [0, 0, 0];
  for (let next = first; ; next += 1) {
    const segment = segments[next];
    if (segment === undefined) break;
    bytes += segment.bytes;
    duration += segment.duration;
    if (duration > 1.5 * targetDuration) break;
    if (duration >= 0.5 * targetDuration) peak = Math.max(peak, bitsPerSecond(bytes, duration));
  }
  return peak;
}

function bitsPerSecond(bytes: number, seconds: number): number {
  return Math.ceil((bytes * 8) / seconds);
}

function sum(segments: readonly Segment[], field: 'bytes' | 'duration'): number {
  return segments.reduce((total, segment) => total + segment[field], 0);
}
