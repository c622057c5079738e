/** How many items are fetched ahead of the one that is used, and the most bytes of all these, unless one alone has more. */
const MAX_ITEMS = 4;
const MAX_BYTES = 32 * 1024 ** 2;

/**
 * Fetches items, and yields what was fetched in their order. While one is used, the next ones are fetched, because each request to an object store
 * takes some time, whatever its size. When a fetch fails or the reader leaves, the others are aborted.
 */
export async function* readAhead<T extends { bytes: number }, R>(
  items: readonly T[],
  fetch: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): AsyncGenerator<R, void, undefined> {
  const left = new AbortController();
  const either = AbortSignal.any([signal, left.signal]);
  const begun: { bytes: number; fetched: Promise<R> }[] = [];
  let [next, bytes] = [0, 0];
  const mayBegin = (item: T | undefined): item is T =>
    item !== undefined &&
    (begun.length === 0 || (begun.length <= MAX_ITEMS && bytes + item.bytes <= MAX_BYTES));
  try {
    for (;;) {
      for (let item = items[next]; mayBegin(item); item = items[next]) {
        const fetched = fetch(item, either);
        // Its failure is reported in its turn.
        fetched.catch(() => {});
        begun.push({ bytes: item.bytes, fetched });
        bytes += item.bytes;
        next += 1;
      }
      const [first] = begun;
      if (first === undefined) return;
      yield await first.fetched;
      begun.shift();
      bytes -= first.bytes;
    }
  } finally {
    left.abort();
    await Promise.allSettled(begun.map(({ fetched }) => fetched));
  }
}
