import { setTimeout as delay } from 'node:timers/promises';
import type { QueueName } from '@framelane/contracts/topology';
import type { Consumer, MessageBus, MessageHandler } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import { InsufficientDiskSpaceError } from './insufficient-disk-space.ts';

const DEFAULT_DISK_CHECK_MS = 5000;
const DEFAULT_WAIT_CHECK_MS = 500;

type Options = {
  bus: MessageBus;
  queue: QueueName;
  /** Number of commands handled at the same time. */
  slots: number;
  /** Whether there is disk space for another job. */
  hasDiskSpace: () => Promise<boolean>;
  /** Whether other work has priority. A halted intake consumes nothing while this is true. */
  hasPriorityWork: () => boolean;
  handle: MessageHandler;
  logger: Logger;
  /** Intervals of the checks while the intake is paused. */
  diskCheckMs?: number;
  waitCheckMs?: number;
};

/** A consumer of a slot; `halted` resolves when the slot must stop consuming. */
type Consuming = { consumer: Consumer; halted: Promise<void> };

/** Runs one handler at a time. */
class Slot {
  #last: Promise<void> = Promise.resolve();

  /** Runs work when the previous work has settled. */
  run(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/**
 * Consumes commands while there is disk space for jobs, and pauses otherwise, so that other engines get the commands. Without
 * the pause, an engine with a full disk would fail each job at once. Then it would consume more commands than any other engine.
 *
 * Each slot has its own consumer, so that a free slot never waits for a busy one. After a reconnection, the broker may
 * deliver to a slot whose job still runs. That command waits, unacknowledged, until the slot is free.
 */
export class CommandIntake {
  readonly #options: Required<Options>;
  readonly #stopping = new AbortController();
  #slots: Promise<void>[] = [];
  /** Resolves when the slots must stop consuming. */
  #halted = Promise.withResolvers<void>();
  /** Ends the pause before the next check of halted slots. */
  #recheck = new AbortController();
  /** Whether the last check found too little disk space. All slots share it, so that each change is logged once. */
  #isPaused = false;

  constructor(options: Options) {
    this.#options = { diskCheckMs: DEFAULT_DISK_CHECK_MS, waitCheckMs: DEFAULT_WAIT_CHECK_MS, ...options };
  }

  /** Resolves when every slot consumes commands; rejects if one cannot. */
  async start(): Promise<void> {
    const slots = Array.from({ length: this.#options.slots }, () => new Slot());
    const consuming = await Promise.all(slots.map((slot) => this.#consume(slot)));
    this.#slots = slots.map((slot, at) => this.#run(slot, consuming[at]));
  }

  /** Consumes no more commands, and resolves when the running handlers have settled. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.recheck();
    this.#halted.resolve();
    await Promise.all(this.#slots);
  }

  async #consume(slot: Slot): Promise<Consuming> {
    const { bus, queue, hasDiskSpace, handle } = this.#options;
    const halted = this.#halted.promise;
    const consumer = await bus.consume(queue, { prefetch: 1 }, (message, delivery) =>
      slot.run(async () => {
        this.#stopping.signal.throwIfAborted();
        if (!(await hasDiskSpace())) {
          this.#pause();
          throw new Error('Too little disk space for another job; the command is requeued');
        }
        try {
          await handle(message, delivery);
        } catch (error) {
          // Otherwise this engine would receive the requeued command again at once.
          if (error instanceof InsufficientDiskSpaceError) this.halt();
          throw error;
        }
      }),
    );
    return { consumer, halted };
  }

  /** Each slot stops consuming once its handler has settled. `#resume` decides when it continues. */
  halt(): void {
    this.#halted.resolve();
    this.#halted = Promise.withResolvers();
  }

  /** Lets halted slots check at once whether they may continue: work with priority has ended. */
  recheck(): void {
    this.#recheck.abort();
    this.#recheck = new AbortController();
  }

  #pause(): void {
    const { logger, queue } = this.#options;
    if (!this.#isPaused) logger.warn('commands.paused', { queue, reason: 'too little disk space' });
    this.#isPaused = true;
    this.halt();
  }

  /** Lets a slot consume commands until the intake stops. Never rejects. */
  async #run(slot: Slot, first: Consuming | undefined): Promise<void> {
    const { logger } = this.#options;
    for (let consuming = first; consuming; consuming = await this.#resume(slot)) {
      if (!this.#stopping.signal.aborted) await consuming.halted;
      await consuming.consumer
        .stop()
        .catch((error: unknown) => logger.warn('commands.pause_failed', { error }));
    }
  }

  /** Consumes again when there is disk space and no other work has priority; undefined if the intake stops first. */
  async #resume(slot: Slot): Promise<Consuming | undefined> {
    const { queue, hasDiskSpace, hasPriorityWork, logger, diskCheckMs, waitCheckMs } = this.#options;
    for (;;) {
      if (this.#stopping.signal.aborted) return undefined;
      const { signal } = this.#recheck;
      await delay(this.#isPaused ? diskCheckMs : waitCheckMs, undefined, { signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return undefined;
      try {
        // No `await` between the last check and `#consume`: a halt in between would go unnoticed.
        if (hasPriorityWork() || !(await hasDiskSpace()) || hasPriorityWork()) continue;
        const consuming = await this.#consume(slot);
        if (this.#isPaused) logger.info('commands.resumed', { queue });
        this.#isPaused = false;
        return consuming;
      } catch (error) {
        logger.warn('commands.resume_failed', { error });
      }
    }
  }
}
