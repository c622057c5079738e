/** How segments are cut. */
export type Cuts = {
  /** Whether the first segments last 2, 2 and `segmentSeconds - 2` seconds, so that playback can soon begin. */
  startsShort: boolean;
  /** Target duration of the others. */
  segmentSeconds: number;
};

/** Seconds of each of the first two segments if they are short. */
export const FIRST_SEGMENT_SECONDS = 2;

/** The second at which a segment is due to begin. Audio begins there, and video at the first key frame from there on. */
export function segmentDue(number: number, { startsShort, segmentSeconds }: Cuts): number {
  if (!startsShort) return number * segmentSeconds;
  return number <= 2 ? number * FIRST_SEGMENT_SECONDS : FIRST_SEGMENT_SECONDS + (number - 2) * segmentSeconds;
}

/** A last segment of audio that would be shorter than this may not exist: audio frames and priming samples move the ends of segments. */
const SHORTEST_SEGMENT_SECONDS = 0.2;

/** The seconds at which the segments of audio that ends at `end` begin. */
export function audioSegmentStarts(cuts: Cuts, end: number): number[] {
  const starts = [0];
  for (;;) {
    const due = segmentDue(starts.length, cuts);
    if (due >= end - SHORTEST_SEGMENT_SECONDS) return starts;
    starts.push(due);
  }
}
