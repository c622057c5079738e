import type { WatchedRange } from './watched-parts.ts';

/** A segment that a player has requested, and whether its buffer was empty before. */
export type RequestedSegment = { rendition: string; sequence: number; starved: boolean };

/** Where the segments of a rendition begin and end, in seconds: one more than there are segments. */
export function segmentTimes(durations: readonly number[]): number[] {
  let end = 0;
  const times = [0];
  for (const duration of durations) {
    end += duration;
    times.push(end);
  }
  return times;
}

/** The stretch of the timeline that a segment covers; undefined if the rendition has no such segment. */
export function rangeOf(
  { rendition, sequence }: RequestedSegment,
  times: readonly number[],
): WatchedRange | undefined {
  const [from, to] = [times[sequence], times[sequence + 1]];
  if (from === undefined || to === undefined) return undefined;
  const height = Number.parseInt(rendition, 10);
  return { from, to, ...(Number.isNaN(height) ? {} : { height }) };
}
