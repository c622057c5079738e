import type { Message } from '@framelane/contracts/messages';
import type { QueueName } from '@framelane/contracts/topology';

/** Delay before a rejected message is redelivered. It doubles with each delivery. */
export const DEFAULT_REDELIVERY_DELAY_MS = 500;

/** Thrown by a handler when a message can never be handled. The message is dead-lettered without a redelivery. */
export class UnprocessableMessageError extends Error {
  override name = 'UnprocessableMessageError';
}

/** A message was sent but not confirmed. It may still be handled. */
export class UnconfirmedMessageError extends Error {
  override name = 'UnconfirmedMessageError';
}

/** What a delivery says beside its message. `traceparent` is that of the publisher (see service-kit/traceparent.ts). */
export type Delivery = { redelivered: boolean; traceparent?: string | undefined };

export type MessageHandler = (message: Message, delivery: Delivery) => Promise<void>;

/** What `publish` gets beside a message. */
export type PublishOptions = {
  /** How long to wait for the broker, by default 20 seconds. A bus without a broker ignores it. */
  limitMs?: number;
  /** Delivered with the message, each time. */
  traceparent?: string | undefined;
};

/** A subscription to a queue. */
export interface Consumer {
  /** Takes no more messages, and resolves when the handlers in progress have settled. */
  stop(): Promise<void>;
}

/**
 * The queues between the services. Delivery is at least once, so handlers are idempotent. Every adapter passes
 * tests/message-bus.contract.ts.
 */
export interface MessageBus {
  readonly kind: 'rabbitmq' | 'in_process';
  /**
   * Resolves once the message is safe: it will be handled even if this process is killed. Rejects with an
   * UnconfirmedMessageError when that is unknown, and with another error when it will not be handled.
   */
  publish(message: Message, options?: PublishOptions): Promise<void>;
  /**
   * Delivers messages of a queue to `handler`, at most `prefetch` at a time. A message is acknowledged when the handler
   * resolves. When the handler rejects, the message is redelivered; after DELIVERY_LIMIT deliveries it is dead-lettered.
   */
  consume(queue: QueueName, options: { prefetch: number }, handler: MessageHandler): Promise<Consumer>;
  /** The number of undelivered messages in a queue. Rejects while the broker is unreachable. */
  countWaiting(queue: QueueName): Promise<number>;
  /** The number of dead letters of a queue. Rejects while the broker is unreachable. */
  countDeadLetters(queue: QueueName): Promise<number>;
  /** Rejects while messages cannot be published. */
  check(): Promise<void>;
  /** Stops all consumers and disconnects. A broker redelivers unacknowledged messages to other consumers. */
  close(): Promise<void>;
}
