import { Piscina } from 'piscina';
import { FairSlots } from './fair-slots.ts';

/** Work in a thread took too long. The thread has been ended. */
export class ThreadTimeoutError extends Error {
  override name = 'ThreadTimeoutError';
}

type ThreadLimits = {
  /** Threads at a time. */
  threads: number;
  /** Work that may wait for a thread, of all participants together. */
  maxWaiting: number;
  /** Time limit of a work, in milliseconds. The time that it waits does not count. */
  timeoutMs: number;
};

/** A thread without work ends after this time. */
const IDLE_TIMEOUT_MS = 60_000;

/**
 * Runs functions of a module in threads, so that they do not block the event loop. Arguments and results are copied (structured clone):
 * a string or a buffer is cheap, an array of objects is not. `Functions` is the type of the module.
 */
export class WorkerThreads<Functions extends Record<string, (argument: never) => unknown>> {
  readonly #pool: Piscina;
  readonly #slots: FairSlots;
  readonly #timeoutMs: number;

  /** `module` is the URL of the module, from `import.meta.resolve`. The first work starts a thread, which loads it. */
  constructor(module: string, { threads, maxWaiting, timeoutMs }: ThreadLimits) {
    this.#slots = new FairSlots(threads, maxWaiting);
    this.#timeoutMs = timeoutMs;
    this.#pool = new Piscina({
      filename: module,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: IDLE_TIMEOUT_MS,
    });
  }

  /**
   * Runs a function of the module. Participants take turns. Throws what the function throws, but the class of an error is lost; a
   * QueueFullError; and a ThreadTimeoutError.
   */
  run<Name extends keyof Functions & string>(
    participant: string,
    name: Name,
    argument: Parameters<Functions[Name]>[0],
  ): Promise<Awaited<ReturnType<Functions[Name]>>> {
    return this.#slots.run(participant, async () => {
      const signal = AbortSignal.timeout(this.#timeoutMs);
      try {
        return await this.#pool.run(argument, { name, signal });
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new ThreadTimeoutError(`${name} took more than ${this.#timeoutMs} ms`, { cause: error });
      }
    });
  }
}
