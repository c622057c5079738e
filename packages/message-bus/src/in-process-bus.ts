import { type Message, parseMessage } from '@framelane/contracts/messages';
import { DELIVERY_LIMIT, deadLetterQueue, type QueueName, queueFor } from '@framelane/contracts/topology';
import type { Logger } from '@framelane/service-kit/logger';
import {
  type Consumer,
  DEFAULT_REDELIVERY_DELAY_MS,
  type MessageBus,
  type MessageHandler,
  type PublishOptions,
  UnprocessableMessageError,
} from './message-bus.ts';

/** A message that could not be handled. */
export type DeadLetter = { message: Message; deliveries: number; error: unknown; at: Date };

/** The latest dead letters of a queue, oldest first, and the number of all that there were. */
export type DeadLetters = { total: number; latest: readonly DeadLetter[] };

/** Dead letters kept in memory. Older ones are only in the log. */
const DEAD_LETTERS_KEPT = 100;

/** A message that is not handled yet. It is stored as text, so that publisher and consumer share no objects. */
type Delivery = {
  id: string;
  body: string;
  traceparent: string | undefined;
  deliveries: number;
  /** The promise that the publisher waits for. */
  confirm: PromiseWithResolvers<void>;
};

/** A consumer. A `prefetch` of 0 stops it. */
type Subscription = { handler: MessageHandler; prefetch: number; inProgress: Set<Promise<void>> };

type Queue = {
  name: QueueName;
  waiting: Delivery[];
  /** Rejected messages that wait for their redelivery. */
  delayed: Map<Delivery, NodeJS.Timeout>;
  subscriptions: Set<Subscription>;
  dead: { total: number; latest: DeadLetter[] };
};

/**
 * The message bus of a single node: the contract of the message broker within one process.
 *
 * Its messages are lost with the process, so `publish` resolves at a different time for each queue. For an event it
 * resolves once the control plane has handled it, and rejects when it is dead-lettered or the bus closes first. For a
 * command it resolves once it is queued: the database records that the command is due, and the control plane publishes it
 * again after a restart.
 */
export class InProcessBus implements MessageBus {
  readonly kind = 'in_process';
  readonly #logger: Logger;
  readonly #redeliveryDelayMs: number;
  readonly #queues: Record<QueueName, Queue>;
  #closed = false;

  /** A rejected message is redelivered after `redeliveryDelayMs`; each further delay is twice as long. */
  constructor(options: { logger: Logger; redeliveryDelayMs?: number }) {
    this.#logger = options.logger;
    this.#redeliveryDelayMs = options.redeliveryDelayMs ?? DEFAULT_REDELIVERY_DELAY_MS;
    this.#queues = {
      'engine.commands': emptyQueue('engine.commands'),
      'engine.tasks': emptyQueue('engine.tasks'),
      'engine.background': emptyQueue('engine.background'),
      'engine.derivations': emptyQueue('engine.derivations'),
      'engine.clips': emptyQueue('engine.clips'),
      'engine.pictures': emptyQueue('engine.pictures'),
      'engine.transcriptions': emptyQueue('engine.transcriptions'),
      'control-plane.events': emptyQueue('control-plane.events'),
    };
  }

  async publish(message: Message, { traceparent }: PublishOptions = {}): Promise<void> {
    this.#assertOpen();
    const body = JSON.stringify(message);
    const { id, type } = parseMessage(JSON.parse(body));
    const queue = this.#queues[queueFor(type)];
    const delivery: Delivery = { id, body, traceparent, deliveries: 0, confirm: Promise.withResolvers() };
    if (queue.name !== 'control-plane.events') delivery.confirm.resolve();
    queue.waiting.push(delivery);
    this.#dispatch(queue);
    return delivery.confirm.promise;
  }

  async consume(
    queueName: QueueName,
    options: { prefetch: number },
    handler: MessageHandler,
  ): Promise<Consumer> {
    this.#assertOpen();
    const queue = this.#queues[queueName];
    const subscription: Subscription = { handler, prefetch: options.prefetch, inProgress: new Set() };
    queue.subscriptions.add(subscription);
    this.#dispatch(queue);
    return {
      stop: async () => {
        subscription.prefetch = 0;
        await Promise.all(subscription.inProgress);
        queue.subscriptions.delete(subscription);
      },
    };
  }

  async countWaiting(queue: QueueName): Promise<number> {
    const { waiting, delayed } = this.#queues[queue];
    return waiting.length + delayed.size;
  }

  async countDeadLetters(queue: QueueName): Promise<number> {
    return this.#queues[queue].dead.total;
  }

  async check(): Promise<void> {
    this.#assertOpen();
  }

  /**
   * Rejects waiting messages, then waits for the handlers in progress. In this order, because a handler may wait for an
   * event of its own to be handled.
   */
  async close(): Promise<void> {
    this.#closed = true;
    const queues = Object.values(this.#queues);
    for (const queue of queues) {
      for (const timer of queue.delayed.values()) clearTimeout(timer);
      for (const delivery of [...queue.waiting, ...queue.delayed.keys()]) rejectAtClose(delivery);
      queue.waiting = [];
      queue.delayed.clear();
    }
    await Promise.all(queues.flatMap((queue) => [...queue.subscriptions].flatMap((s) => [...s.inProgress])));
  }

  /** The dead letters of a queue. */
  deadLetters(queue: QueueName): DeadLetters {
    const { total, latest } = this.#queues[queue].dead;
    return { total, latest: [...latest] };
  }

  #assertOpen(): void {
    if (this.#closed) throw new Error('The message bus is closed');
  }

  /** Delivers waiting messages to subscriptions below their prefetch, the least busy one first. */
  #dispatch(queue: Queue): void {
    while (!this.#closed) {
      const [subscription] = [...queue.subscriptions]
        .filter(({ inProgress, prefetch }) => inProgress.size < prefetch)
        .sort((a, b) => a.inProgress.size - b.inProgress.size);
      if (!subscription) return;
      const delivery = queue.waiting.shift();
      if (!delivery) return;
      // In a microtask, so that the handler does not run inside the call of `publish`.
      const work = Promise.resolve()
        .then(() => this.#deliver(queue, delivery, subscription.handler))
        .finally(() => {
          subscription.inProgress.delete(work);
          this.#dispatch(queue);
        });
      subscription.inProgress.add(work);
    }
  }

  /** One delivery. Never rejects. */
  async #deliver(queue: Queue, delivery: Delivery, handler: MessageHandler): Promise<void> {
    delivery.deliveries += 1;
    const message = parseMessage(JSON.parse(delivery.body));
    try {
      await handler(message, {
        redelivered: delivery.deliveries > 1,
        traceparent: delivery.traceparent,
      });
      delivery.confirm.resolve();
    } catch (error) {
      const final = error instanceof UnprocessableMessageError || delivery.deliveries >= DELIVERY_LIMIT;
      if (final) this.#deadLetter(queue, delivery, message, error);
      else this.#deliverLater(queue, delivery, message, error);
    }
  }

  #deliverLater(queue: Queue, delivery: Delivery, message: Message, error: unknown): void {
    const { id, type } = message;
    const { deliveries } = delivery;
    this.#logger.warn('message.rejected', { queue: queue.name, messageId: id, type, deliveries, error });
    if (this.#closed) {
      rejectAtClose(delivery);
      return;
    }
    const redeliver = () => {
      queue.delayed.delete(delivery);
      queue.waiting.push(delivery);
      this.#dispatch(queue);
    };
    const delayMs = this.#redeliveryDelayMs * 2 ** (deliveries - 1);
    queue.delayed.set(delivery, setTimeout(redeliver, delayMs));
  }

  #deadLetter(queue: Queue, delivery: Delivery, message: Message, error: unknown): void {
    const { id, type } = message;
    const { deliveries } = delivery;
    queue.dead.total += 1;
    queue.dead.latest.push({ message, deliveries, error, at: new Date() });
    if (queue.dead.latest.length > DEAD_LETTERS_KEPT) queue.dead.latest.shift();
    this.#logger.error('message.dead_lettered', {
      queue: queue.name,
      deadLetterQueue: deadLetterQueue(queue.name),
      messageId: id,
      type,
      deliveries,
      error,
    });
    delivery.confirm.reject(new Error(`Message ${id} could not be handled`, { cause: error }));
  }
}

function emptyQueue(name: QueueName): Queue {
  return {
    name,
    waiting: [],
    delayed: new Map(),
    subscriptions: new Set(),
    dead: { total: 0, latest: [] },
  };
}

function rejectAtClose({ id, confirm }: Delivery): void {
  confirm.reject(new Error(`The message bus closed before message ${id} was handled`));
}
