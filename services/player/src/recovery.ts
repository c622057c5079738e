/** Milliseconds to wait before the attempt after so many failures: 1, 2, 4 … 30 seconds. */
export function waitBefore(failures: number): number {
  return Math.min(1000 * 2 ** failures, 30_000);
}

/** Resolves after some milliseconds, or at once when the browser reports that the connection is back, or `signal` aborts. */
export function waitForConnection(milliseconds: number, signal: AbortSignal): Promise<void> {
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
