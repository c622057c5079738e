/** Seconds of each of the first two segments: short, so that playback can soon begin. */
export const FIRST_SEGMENT_SECONDS = 2;

/**
 * The second at which a segment is due to begin. Audio begins there, and video at the first key frame from there on: at 0, 2 and 4, and
 * then every `segmentSeconds` from `2 + segmentSeconds` on.
 */
export function segmentDue(number: number, segmentSeconds: number): number {
  const ofFirst = Math.min(number, 2) * FIRST_SEGMENT_SECONDS;
  return number <= 2 ? ofFirst : FIRST_SEGMENT_SECONDS + (number - 2) * segmentSeconds;
}
