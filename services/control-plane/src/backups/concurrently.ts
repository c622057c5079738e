/** Runs `work` for up to `limit` items at a time, those after the first one that is not done, and yields the results in the order of the items. Rejects with the first failure, after those that run have ended. */
export async function* concurrently<T, R>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void> {
  const running: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // Whoever awaits it gets the error; until then, it would be an unhandled rejection.
      result.catch(() => {});
      running.push(result);
      if (running.length >= limit) yield await (running.shift() as Promise<R>);
    }
    for (let next = running.shift(); next !== undefined; next = running.shift()) yield await next;
  } finally {
    await Promise.allSettled(running);
  }
}
