/** Bytes of a segment as sent, and its seconds from the playlist. */
export type Weight = { bytes: number; seconds: number };

/** Durations in playlists are rounded. Runs of segments this near to a limit may or may not count. */
const ROUNDING_SECONDS = 1e-5;

/** Bits a second over all segments. */
export function averageBitRate(segments: readonly Weight[]): number {
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0);
  return (8 * bytes) / seconds;
}

/**
 * The peak segment bit rate (RFC 8216 §4.1): the largest of any run of adjacent segments that lasts between half a target
 * duration and one and a half. Never less than the average, because a short stream may have no such run. There are two
 * figures because rounding decides whether a run on the limit counts.
 */
export function peakBitRate(
  segments: readonly Weight[],
  targetDuration: number,
): { atLeast: number; atMost: number } {
  return {
    atLeast: peakWithin(
      segments,
      0.5 * targetDuration + ROUNDING_SECONDS,
      1.5 * targetDuration - ROUNDING_SECONDS,
    ),
    atMost: peakWithin(
      segments,
      0.5 * targetDuration - ROUNDING_SECONDS,
      1.5 * targetDuration + ROUNDING_SECONDS,
    ),
  };
}

function peakWithin(segments: readonly Weight[], shortest: number, longest: number): number {
  let peak = averageBitRate(segments);
  for (const first of segments.keys()) {
    let [bytes, seconds] = [0, 0];
    for (let at = first; at < segments.length && seconds <= longest; at += 1) {
      const segment = segments[at];
      bytes += segment?.bytes ?? 0;
      seconds += segment?.seconds ?? 0;
      if (seconds >= shortest && seconds <= longest) peak = Math.max(peak, (8 * bytes) / seconds);
    }
  }
  return peak;
}
