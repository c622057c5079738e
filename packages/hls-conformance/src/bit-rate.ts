/** A segment as it is paid for: bytes as delivered, seconds as its playlist says. */
export type Weight = { bytes: number; seconds: number };

/** Durations are written with some decimals; runs this near to a limit may count or not. */
const ROUNDING_SECONDS = 1e-5;

/** Bits a second over all segments. */
export function averageBitRate(segments: readonly Weight[]): number {
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0);
  return (8 * bytes) / seconds;
}

/**
 * The peak segment bit rate (RFC 8216 §4.1): the largest of any run of neighbouring segments that lasts between half a
 * target duration and one and a half. Never less than the average, which is all there is of a stream too short for a run,
 * and of a tail that fits in none. Two figures, as rounding decides whether a run on the limit counts.
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
