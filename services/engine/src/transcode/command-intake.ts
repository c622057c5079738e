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
  /** How often an engine without room looks whether it has some again. */
  roomCheckMs?: number;
};

/**
 * Takes commands while there is room for jobs, and leaves them to other engines while there is none: an engine with a
 * full disk fails a job at once, so it would get, and fail, more of them than all the others together.
 */
export class CommandIntake {
  readonly #options: Required<Options>;
  readonly #stopping = new AbortController();
  #consumer: Promise<Consumer> | undefined;
  #pause: Promise<void> | undefined;

  constructor(options: Options) {
    this.#options = { roomCheckMs: DEFAULT_ROOM_CHECK_MS, ...options };
  }

  async start(): Promise<void> {
    this.#consumer = this.#consume();
    await this.#consumer;
  }

  /** Takes no more, and resolves when the handlers under way have settled. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#pause;
    await this.#stopConsuming();
  }

  #consume(): Promise<Consumer> {
    const { bus, slots, hasRoom, handle } = this.#options;
    return bus.consume('engine.commands', { prefetch: slots }, async (message, delivery) => {
      if (await hasRoom()) return handle(message, delivery);
      this.#pause ??= this.#waitForRoom();
      throw new Error('There is no room for another job; the command goes back');
    });
  }

  /** Takes no commands until there is room again. Never rejects, as nobody would hear of it. */
  async #waitForRoom(): Promise<void> {
    const { logger, roomCheckMs } = this.#options;
    const { signal } = this.#stopping;
    logger.warn('transcode.paused', { reason: 'too little disk space' });
    await this.#stopConsuming().catch((error: unknown) => logger.warn('transcode.pause_failed', { error }));
    do await delay(roomCheckMs, undefined, { signal }).catch(() => {});
    while (!signal.aborted && !(await this.#resume()));
    this.#pause = undefined;
  }

  /** Takes commands again if there is room. Resolves with whether it does. */
  async #resume(): Promise<boolean> {
    const { hasRoom, logger } = this.#options;
    try {
      if (!(await hasRoom()) || this.#stopping.signal.aborted) return false;
      await this.start();
    } catch (error) {
      this.#consumer = undefined;
      logger.warn('transcode.resume_failed', { error });
      return false;
    }
    logger.info('transcode.resumed');
    return true;
  }

  async #stopConsuming(): Promise<void> {
    await (await this.#consumer)?.stop();
  }
}
