import { together } from './together.ts';

/** Items that are worked on at the same time. A segment of each is in memory as a whole. */
const AT_ONCE = 4;

/** Runs `work` for some items at a time (see `together`). Resolves with its results in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const lane = async (either: AbortSignal) => {
    for (const [at, item] of waiting) {
      either.throwIfAborted();
      results[at] = await work(item, either);
    }
  };
  await together(signal, Array(AT_ONCE).fill(lane));
  return results;
}
