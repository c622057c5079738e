import { type Message, parseMessage } from '@framelane/contracts/messages';
import { DELIVERY_LIMIT, deadLetterQueue, type QueueName, queueFor } from '@framelane/contracts/topology';
import type { Logger } from '@framelane/service-kit/logger';
import {
  type Consumer,
  type MessageBus,
  type MessageHandler,
  UnprocessableMessageError,
} from './message-bus.ts';

/** A message no consumer could handle. */
export type DeadLetter = { message: Message; deliveries: number; error: unknown; at: Date };

/** The newest dead letters of a queue, oldest first, and how many there ever were. */
export type DeadLetters = { total: number; latest: readonly DeadLetter[] };

/** Dead letters kept for a look at them; older ones stay in the log only. */
const DEAD_LETTERS_KEPT = 100;

const DEFAULT_REDELIVERY_DELAY_MS = 500;

/** A message under way. It travels as text, so that sender and receivers share nothing. */
type Delivery = {
  id: string;
  body: string;
  deliveries: number;
  /** What the publisher waits for. */
  confirm: PromiseWithResolvers<void>;
};

/** With a `prefetch` of 0 it takes nothing any more. */
type Subscription = { handler: MessageHandler; prefetch: number; underWay: Set<Promise<void>> };

type Queue = {
  name: QueueName;
  waiting: Delivery[];
  /** Rejected once or more, waiting to be delivered again. */
  delayed: Map<Delivery, NodeJS.Timeout>;
  subscriptions: Set<Subscription>;
  dead: { total: number; latest: DeadLetter[] };
};

/**
 * The message bus of a single node: the same contract as a broker, inside one process.
 *
 * Memory is lost with the process, so a publisher's confirm means something else for each queue. An event is confirmed
 * once it has been *handled*: the control plane has committed what it says. It is refused when it was dead-lettered or
 * the bus closed first, and the sender has to act on that. A command is confirmed as soon as it is queued: the database
 * knows that it is due, and the control plane issues it again after a restart.
 */
export class InProcessBus implements MessageBus {
  readonly #logger: Logger;
  readonly #redeliveryDelayMs: number;
  readonly #queues: Record<QueueName, Queue>;
  #closed = false;

  /** A rejected message comes again after `redeliveryDelayMs`, and after twice as long each further time. */
  constructor(options: { logger: Logger; redeliveryDelayMs?: number }) {
    this.#logger = options.logger;
    this.#redeliveryDelayMs = options.redeliveryDelayMs ?? DEFAULT_REDELIVERY_DELAY_MS;
    this.#queues = {
      'engine.commands': emptyQueue('engine.commands'),
      'control-plane.events': emptyQueue('control-plane.events'),
    };
  }

  async publish(message: Message): Promise<void> {
    this.#assertOpen();
    const body = JSON.stringify(message);
    const { id, type } = parseMessage(JSON.parse(body));
    const queue = this.#queues[queueFor(type)];
    const delivery: Delivery = { id, body, deliveries: 0, confirm: Promise.withResolvers() };
    if (queue.name === 'engine.commands') delivery.confirm.resolve();
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
    const subscription: Subscription = { handler, prefetch: options.prefetch, underWay: new Set() };
    queue.subscriptions.add(subscription);
    this.#dispatch(queue);
    return {
      stop: async () => {
        subscription.prefetch = 0;
        await Promise.all(subscription.underWay);
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
   * Refuses what waits, then lets the handlers under way settle. In this order, because a handler may itself wait for
   * the confirm of an event that nobody would take any more.
   */
  async close(): Promise<void> {
    this.#closed = true;
    const queues = Object.values(this.#queues);
    for (const queue of queues) {
      for (const timer of queue.delayed.values()) clearTimeout(timer);
      for (const delivery of [...queue.waiting, ...queue.delayed.keys()]) refuseAtClose(delivery);
      queue.waiting = [];
      queue.delayed.clear();
    }
    await Promise.all(queues.flatMap((queue) => [...queue.subscriptions].flatMap((s) => [...s.underWay])));
  }

  /** The messages of a queue that could not be handled. */
  deadLetters(queue: QueueName): DeadLetters {
    const { total, latest } = this.#queues[queue].dead;
    return { total, latest: [...latest] };
  }

  #assertOpen(): void {
    if (this.#closed) throw new Error('The message bus is closed');
  }

  /** Hands out waiting messages while a subscription has room, the least busy one first. */
  #dispatch(queue: Queue): void {
    while (!this.#closed) {
      const [subscription] = [...queue.subscriptions]
        .filter(({ underWay, prefetch }) => underWay.size < prefetch)
        .sort((a, b) => a.underWay.size - b.underWay.size);
      if (!subscription) return;
      const delivery = queue.waiting.shift();
      if (!delivery) return;
      // In a later turn: a handler must not run inside the publisher's call.
      const work = Promise.resolve()
        .then(() => this.#deliver(queue, delivery, subscription.handler))
        .finally(() => {
          subscription.underWay.delete(work);
          this.#dispatch(queue);
        });
      subscription.underWay.add(work);
    }
  }

  /** One delivery. Never rejects. */
  async #deliver(queue: Queue, delivery: Delivery, handler: MessageHandler): Promise<void> {
    delivery.deliveries += 1;
    const message = parseMessage(JSON.parse(delivery.body));
    try {
      await handler(message, { redelivered: delivery.deliveries > 1 });
      delivery.confirm.resolve();
    } catch (error) {
      const final = error instanceof UnprocessableMessageError || delivery.deliveries >= DELIVERY_LIMIT;
      if (final) this.#bury(queue, delivery, message, error);
      else this.#deliverLater(queue, delivery, message, error);
    }
  }

  #deliverLater(queue: Queue, delivery: Delivery, message: Message, error: unknown): void {
    const { id, type } = message;
    const { deliveries } = delivery;
    this.#logger.warn('message.rejected', { queue: queue.name, messageId: id, type, deliveries, error });
    if (this.#closed) {
      refuseAtClose(delivery);
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

  #bury(queue: Queue, delivery: Delivery, message: Message, error: unknown): void {
    const { id, type } = message;
    const { deliveries } = delivery;
    queue.dead.total += 1;
    queue.dead.latest.push({ message, deliveries, error, at: new Date() });
    if (queue.dead.latest.length > DEAD_LETTERS_KEPT) queue.dead.latest.shift();
    this.#logger.error('message.dead_lettered', {
      queue: deadLetterQueue(queue.name),
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

function refuseAtClose({ id, confirm }: Delivery): void {
  confirm.reject(new Error(`The message bus closed before message ${id} was handled`));
}
