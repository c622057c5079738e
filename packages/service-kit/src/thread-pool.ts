import { stat } from 'node:fs/promises';

/**
 * Watches whether the threads that do this process's file work still do any. A few calls that never come back, such as
 * opening a FIFO that nobody writes to, take all of them; then nothing that touches a file is ever done, and the process
 * cannot exit either, because Node waits for its threads.
 */
export class ThreadPoolProbe {
  readonly #work: () => Promise<unknown>;
  #pending: Promise<void> | undefined;

  /** `work` is something small that needs a thread. */
  constructor(work: () => Promise<unknown> = () => stat('/')) {
    this.#work = work;
  }

  /** Resolves with whether the threads do something within the time. There is one probe at a time, whoever asks. */
  async responds(limitMs: number): Promise<boolean> {
    this.#pending ??= this.#work()
      // Also a failure has come back.
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        this.#pending = undefined;
      });
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(resolve, limitMs, false);
    try {
      return await Promise.race([this.#pending.then(() => true), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The one of this process. */
export const threadPool = new ThreadPoolProbe();

const EXIT_LIMIT_MS = 1_000;

/** Exits with a code; when the threads are blocked, which would keep the process for ever, it kills itself. */
export async function exitProcess(code: number): Promise<never> {
  if (!(await threadPool.responds(EXIT_LIMIT_MS))) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}
