/**
 * Resolves or rejects as `Promise.all` does, but only once all have settled: nothing that a caller cleans up after is
 * under way any more.
 */
export async function allOnceSettled<const T extends readonly Promise<unknown>[]>(
  promises: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
