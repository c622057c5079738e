import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, MessageBus, MessageHandler } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';

const DEFAULT_ROOM_CHECK_MS = 5000;

type Options = {
  bus: MessageBus;
  /** Commands handled at the same time. */
  slots: number;
  /** Whether another job can be taken on. */
  hasRoom: () => Promise<boolean>;
  handle: MessageHandler;
  logger: Logger;
  /** How often an engine without room checks whether it has some again. */
  roomCheckMs?: number;
};

/** A slot that takes commands, and what resolves when it is to stop that. */
type Taking = { consumer: Consumer; halted: Promise<void> };

/** One handler at a time, whatever the bus delivers. */
class Slot {
  #last: Promise<void> = Promise.resolve();

  /** Runs work once the work before has settled. */
  run(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/**
 * Takes commands while there is room for jobs, and leaves them to other engines while there is none: an engine with a
 * full disk fails a job at once, so it would get, and fail, more of them than all the others together.
 *
 * Each slot has a consumer of its own, so that one without a job never waits for one with a job. A broker that was away
 * delivers to a slot whose job still runs: that command waits, unacknowledged, until the slot is free.
 */
export class CommandIntake {
  readonly #options: Required<Options>;
  readonly #stopping = new AbortController();
  #slots: Promise<void>[] = [];
  /** Resolves when room is missing, or the intake stops. */
  #halted = Promise.withResolvers<void>();
  /** Whether room was missing when it was last looked for; the log has each change once, whatever the number of slots. */
  #isPaused = false;

  constructor(options: Options) {
    this.#options = { roomCheckMs: DEFAULT_ROOM_CHECK_MS, ...options };
  }

  /** Resolves once every slot takes commands; rejects when one cannot. */
  async start(): Promise<void> {
    const slots = Array.from({ length: this.#options.slots }, () => new Slot());
    const taking = await Promise.all(slots.map((slot) => this.#consume(slot)));
    this.#slots = slots.map((slot, at) => this.#keep(slot, taking[at]));
  }

  /** Takes no more, and resolves when the handlers under way have settled. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#halted.resolve();
    await Promise.all(this.#slots);
  }

  async #consume(slot: Slot): Promise<Taking> {
    const { bus, hasRoom, handle } = this.#options;
    const halted = this.#halted.promise;
    const consumer = await bus.consume('engine.commands', { prefetch: 1 }, (message, delivery) =>
      slot.run(async () => {
        this.#stopping.signal.throwIfAborted();
        if (await hasRoom()) return handle(message, delivery);
        this.#halt();
        throw new Error('There is no room for another job; the command goes back');
      }),
    );
    return { consumer, halted };
  }

  #halt(): void {
    if (!this.#isPaused) this.#options.logger.warn('transcode.paused', { reason: 'too little disk space' });
    this.#isPaused = true;
    this.#halted.resolve();
    this.#halted = Promise.withResolvers();
  }

  /** Has a slot take commands until the intake stops. Never rejects, as nobody would hear of it. */
  async #keep(slot: Slot, first: Taking | undefined): Promise<void> {
    const { logger } = this.#options;
    for (let taking = first; taking; taking = await this.#resume(slot)) {
      if (!this.#stopping.signal.aborted) await taking.halted;
      await taking.consumer
        .stop()
        .catch((error: unknown) => logger.warn('transcode.pause_failed', { error }));
    }
  }

  /** Takes commands again once there is room; undefined when the intake stops before. */
  async #resume(slot: Slot): Promise<Taking | undefined> {
    const { hasRoom, logger, roomCheckMs } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      await delay(roomCheckMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return undefined;
      try {
        if (!(await hasRoom())) continue;
        const taking = await this.#consume(slot);
        if (this.#isPaused) logger.info('transcode.resumed');
        this.#isPaused = false;
        return taking;
      } catch (error) {
        logger.warn('transcode.resume_failed', { error });
      }
    }
  }
}
