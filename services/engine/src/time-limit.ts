/** Work was not done in time; it may be done yet. */
export class TimeLimitError extends Error {
  override name = 'TimeLimitError';
}

/** Rejects with a TimeLimitError when `work` has not settled in time; what comes of it later is ignored. */
export async function withTimeLimit<T>(work: Promise<T>, limitMs: number, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new TimeLimitError(`${what} was not done after ${limitMs} ms`)),
    limitMs,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
