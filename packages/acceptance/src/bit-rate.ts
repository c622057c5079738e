/** A segment as it is paid for: bytes on the wire, seconds of play. */
export type Weight = { bytes: number; seconds: number };

/** Bits a second over all segments. */
export function averageBitRate(segments: readonly Weight[]): number {
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0);
  return (8 * bytes) / seconds;
}

/**
 * The largest bit rate of any run of neighbouring segments that lasts between half a target duration and one and a
 * half (RFC 8216 §4.1); the average where there is no such run.
 */
export function peakBitRate(segments: readonly Weight[], targetDuration: number): number {
  const rates = segments.flatMap((_, from) =>
    segments
      .map((_, to) => segments.slice(from, to + 1))
      .filter((run) => run.length > 0 && countsFor(run, targetDuration))
      .map(averageBitRate),
  );
  return rates.length > 0 ? Math.max(...rates) : averageBitRate(segments);
}

function countsFor(run: readonly Weight[], targetDuration: number): boolean {
  const seconds = run.reduce((sum, segment) => sum + segment.seconds, 0);
  return seconds >= 0.5 * targetDuration && seconds <= 1.5 * targetDuration;
}
