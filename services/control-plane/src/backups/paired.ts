import { compareKeys } from '@framelane/object-store/object-keys';

/** An entry of one or both of two streams. */
export type Pair<A, B> = { key: string; left?: A; right?: B };

/**
 * Pairs the entries of two streams by their keys, in linear time and constant memory. Both must be in the order of the bytes of their keys,
 * without repetitions: throws an error that names the first key that is not.
 */
export async function* paired<A extends { key: string }, B extends { key: string }>(
  left: AsyncIterable<A>,
  right: AsyncIterable<B>,
): AsyncGenerator<Pair<A, B>, void> {
  const lefts = inOrder(left)[Symbol.asyncIterator]();
  const rights = inOrder(right)[Symbol.asyncIterator]();
  try {
    let [a, b] = [await nextOf(lefts), await nextOf(rights)];
    while (a !== undefined || b !== undefined) {
      const key = first(a?.key, b?.key);
      const [isLeft, isRight] = [a?.key === key, b?.key === key];
      yield { key, ...(a && isLeft && { left: a }), ...(b && isRight && { right: b }) };
      if (isLeft) a = await nextOf(lefts);
      if (isRight) b = await nextOf(rights);
    }
  } finally {
    await lefts.return();
    await rights.return();
  }
}

/** The entries of several streams, each key once: that of the first stream which has it. */
export function merged<T extends { key: string }>(streams: readonly AsyncIterable<T>[]): AsyncIterable<T> {
  return streams.reduce(mergedTwo, none());
}

async function* mergedTwo<T extends { key: string }>(
  first: AsyncIterable<T>,
  second: AsyncIterable<T>,
): AsyncGenerator<T, void> {
  for await (const { left, right } of paired(first, second)) {
    const entry = left ?? right;
    if (entry !== undefined) yield entry;
  }
}

async function* none(): AsyncGenerator<never, void> {}

async function* inOrder<T extends { key: string }>(entries: AsyncIterable<T>): AsyncGenerator<T, void> {
  let last: string | undefined;
  for await (const entry of entries) {
    if (last !== undefined && compareKeys(last, entry.key) >= 0) {
      throw new Error(`${JSON.stringify(entry.key)} is listed after ${JSON.stringify(last)}, not before it`);
    }
    last = entry.key;
    yield entry;
  }
}

function first(a: string | undefined, b: string | undefined): string {
  if (a === undefined || b === undefined) return a ?? b ?? '';
  return compareKeys(b, a) < 0 ? b : a;
}

async function nextOf<T>(entries: AsyncGenerator<T, void>): Promise<T | undefined> {
  const { done, value } = await entries.next();
  return done ? undefined : value;
}
