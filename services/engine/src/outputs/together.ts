/**
 * Runs two works at the same time. If one fails, the other is aborted. Throws the first error after both have ended, so that nothing is stored
 * afterwards.
 */
export async function together<A, B>(
  signal: AbortSignal,
  a: (signal: AbortSignal) => Promise<A>,
  b: (signal: AbortSignal) => Promise<B>,
): Promise<[A, B]> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  const works = [a(either), b(either)] as const;
  for (const work of works) work.catch((error) => failure.abort(error));
  await Promise.allSettled(works);
  if (failure.signal.aborted) throw failure.signal.reason;
  return Promise.all(works);
}
