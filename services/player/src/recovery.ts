/** The wait before the next attempt, in milliseconds: 1 s, doubled for each earlier failure, at most 30 s. */
export function waitBefore(failures: number): number {
  return Math.min(1000 * 2 ** failures, 30_000);
}

/** Resolves after some milliseconds, or at once when the browser reports that the connection is back, or `signal` aborts. */
export function waitForConnection(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}
