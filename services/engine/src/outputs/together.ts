/**
 * Runs works at the same time. If one fails, the others are aborted. Throws the first error after all have ended, so that nothing is stored
 * afterwards.
 */
export async function together<T extends readonly unknown[]>(
  signal: AbortSignal,
  works: readonly [...{ [At in keyof T]: (signal: AbortSignal) => Promise<T[At]> }],
): Promise<T> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  const running = works.map((work) => work(either));
  for (const each of running) each.catch((error) => failure.abort(error));
  await Promise.allSettled(running);
  if (failure.signal.aborted) throw failure.signal.reason;
  return (await Promise.all(running)) as unknown as T;
}
