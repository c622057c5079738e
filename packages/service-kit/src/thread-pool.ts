import { stat } from 'node:fs/promises';
import pTimeout from 'p-timeout';

/**
 * Checks whether libuv's thread pool still works. A few calls that never return, such as opening a FIFO without a writer,
 * block all of its threads. Then no file operation completes, and the process cannot exit, because Node waits for the
 * threads.
 */
export class ThreadPoolProbe {
  readonly #work: () => Promise<unknown>;
  #pending: Promise<void> | undefined;

  /** `work` is a cheap call that needs a thread. */
  constructor(work: () => Promise<unknown> = () => stat('/')) {
    this.#work = work;
  }

  /** Resolves with whether a thread has done the work within the time. Concurrent calls share one probe. */
  async responds(limitMs: number): Promise<boolean> {
    this.#pending ??= this.#work()
      // A failed call has returned, too.
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        this.#pending = undefined;
      });
    return pTimeout(
      this.#pending.then(() => true),
      { milliseconds: limitMs, fallback: () => false },
    );
  }
}

/** The probe of this process. */
export const threadPool = new ThreadPoolProbe();

const EXIT_TIMEOUT_MS = 1_000;

/** Exits with a code. If the thread pool is blocked, which prevents the exit, it kills the process. */
export async function exitProcess(code: number): Promise<never> {
  if (!(await threadPool.responds(EXIT_TIMEOUT_MS))) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}
