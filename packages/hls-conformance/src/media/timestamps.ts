/** Timestamps of transport streams have 33 bits and wrap every 26.5 hours. */
const WRAP = 2 ** 33;

/** Unwraps a timestamp to the time nearest to `reference`. */
export function nearest(time: number, reference: number): number {
  return time + WRAP * Math.round((reference - time) / WRAP);
}
