/**
 * Upper bounds of the classes of start times, in milliseconds: each a quarter above the one before, from 50 ms to about a minute. So a percentile is
 * wrong by at most a quarter.
 */
export const STARTUP_BOUNDS: readonly number[] = Array.from({ length: 33 }, (_, index) =>
  Math.round(50 * 1.25 ** index),
);

/**
 * The start time in seconds that a share of the views did not exceed: the upper bound of its class. `counts` has the views by class, as
 * `width_bucket` numbers them; the last class has the bound of the one before. Null without views.
 */
export function startupPercentile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let left = total * share;
  for (const [index, count] of [...counts].toSorted(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return (STARTUP_BOUNDS[index] ?? STARTUP_BOUNDS.at(-1) ?? 0) / 1000;
  }
  return null;
}
