/** Timestamps of transport streams start over after 33 bits, which is every 26.5 hours. */
const WRAP = 2 ** 33;

/** The time nearest to `reference` that a timestamp can mean. */
export function nearest(time: number, reference: number): number {
  return time + WRAP * Math.round((reference - time) / WRAP);
}
