import { deadLetterQueue, QUEUES, type QueueName } from '@framelane/contracts/topology';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';
import { Gauge, type Registry } from 'prom-client';
import { inTime } from './in-time.ts';

/** Messages nobody could handle, as the broker knows them. While it is away, so is this metric. */
export class DeadLetterMetrics {
  readonly #bus: MessageBus;
  readonly #logger: Logger;
  readonly #count: Gauge<'queue'>;

  constructor(registry: Registry, { bus, logger }: { bus: MessageBus; logger: Logger }) {
    this.#bus = bus;
    this.#logger = logger;
    this.#count = new Gauge({
      name: 'framelane_dead_letters',
      help: 'Messages that were put away because nobody could handle them, by the queue they are in now',
      labelNames: ['queue'],
      registers: [registry],
    });
  }

  /** Asks the broker. Never rejects, and never takes long. */
  async refresh(): Promise<void> {
    const queues = Object.keys(QUEUES) as QueueName[];
    try {
      const counts = await Promise.all(
        queues.map(async (queue) => ({
          queue: deadLetterQueue(queue),
          count: await inTime(this.#bus.countDeadLetters(queue)),
        })),
      );
      for (const { queue, count } of counts) this.#count.set({ queue }, count);
    } catch (error) {
      this.#count.reset();
      this.#logger.warn('metrics.dead_letters_not_read', { error });
    }
  }
}
