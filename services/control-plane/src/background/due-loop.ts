import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@framelane/service-kit/logger';
import { continueTrace, type Tracing } from '@framelane/service-kit/tracing';

/** Pause after a claim that failed, for example because the database is unavailable. */
const FAILED_CLAIM_MS = 1000;

/** Interval in which claims on work in progress are renewed. */
const RENEW_MS = 10_000;

/** How long a renewed claim lasts: the work of a process that was killed is due again after that time. */
export const RENEWED_CLAIM_SECONDS = 30;

/**
 * Commands of one workspace that wait in a queue at the same time. The others wait in the database, so that no workspace fills the queue
 * before those of others. Engines take the next one as soon as it is published, which takes milliseconds.
 */
export const COMMANDS_IN_QUEUE = 4;

/** How long a control plane holds a due command while it publishes it. Longer than the message bus waits for a confirm. */
export const COMMAND_LEASE_SECONDS = 30;

/** One kind of work on due rows. */
export type DueWork<T> = {
  /** Names the work in the log. */
  name: string;
  /** How many items one control plane works on at the same time. */
  concurrency: number;
  /** Claims up to `limit` due rows, each for long enough to be worked on. An expired claim makes its row due again. */
  claim(limit: number): Promise<T[]>;
  /** Does the work and records it. When it rejects, the row is due again once its claim has expired. */
  perform(item: T): Promise<void>;
  /** The trace that the work continues; null without one. */
  traceparent?(item: T): string | null;
  /** Renews the claim on a row. Needed for work that can take longer than its claim lasts. */
  renew?(item: T): Promise<void>;
  /** Interrupts the work in progress, so that a stop does not wait for it. */
  interrupt?(): void;
};

export type DueLoopOptions = {
  /** Pause between two claims, unless `wake` is called. */
  pollSeconds: number;
  logger: Logger;
  tracing?: Tracing | undefined;
};

/** Claims due rows and works on them, many at once, until it is stopped. Safe on several instances. */
export class DueLoop<T> {
  readonly #work: DueWork<T>;
  readonly #pollMs: number;
  readonly #logger: Logger;
  readonly #tracing: Tracing | undefined;
  readonly #inProgress = new Set<Promise<void>>();
  /** Ends the pause before the next claim. */
  #wake = new AbortController();
  #stopping = false;
  #running: Promise<void> | undefined;

  constructor(work: DueWork<T>, { pollSeconds, logger, tracing }: DueLoopOptions) {
    this.#work = work;
    this.#pollMs = pollSeconds * 1000;
    this.#logger = logger;
    this.#tracing = tracing;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Claims at once: a row has become due, or a slot is free. */
  wake(): void {
    this.#wake.abort();
  }

  /** Claims nothing more, interrupts the work in progress where possible, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.wake();
    this.#work.interrupt?.();
    await this.#running;
    await Promise.all(this.#inProgress);
  }

  async #run(): Promise<void> {
    let failing = false;
    while (!this.#stopping) {
      this.#wake = new AbortController();
      try {
        await this.#claim();
        failing = false;
      } catch (error) {
        // One warning is enough for an outage.
        this.#logger.log(failing ? 'debug' : 'warn', 'background.claim_failed', {
          work: this.#work.name,
          error,
        });
        failing = true;
      }
      const pauseMs = failing ? FAILED_CLAIM_MS : this.#pollMs;
      await delay(pauseMs, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  async #claim(): Promise<void> {
    const free = this.#work.concurrency - this.#inProgress.size;
    if (free <= 0) return;
    for (const item of await this.#work.claim(free)) this.#begin(item);
  }

  #begin(item: T): void {
    const traceparent = this.#work.traceparent?.(item);
    const work = continueTrace(this.#tracing, traceparent, () => this.#perform(item)).finally(() => {
      this.#inProgress.delete(work);
      this.wake();
    });
    this.#inProgress.add(work);
  }

  /** If a claim cannot be renewed, it expires and the work is done twice. */
  #renew(item: T): void {
    this.#work.renew?.(item).catch((error) => {
      this.#logger.debug('background.claim_not_renewed', { work: this.#work.name, error });
    });
  }

  async #perform(item: T): Promise<void> {
    const renewal = setInterval(() => this.#renew(item), RENEW_MS);
    try {
      await this.#work.perform(item);
    } catch (error) {
      this.#logger.warn('background.work_failed', { work: this.#work.name, error });
    } finally {
      clearInterval(renewal);
    }
  }
}
