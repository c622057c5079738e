import type { Message } from '@framelane/contracts/messages';
import type { QueueName } from '@framelane/contracts/topology';

/** Throw it from a handler: this message can never be handled. It goes to the dead-letter queue at once. */
export class UnprocessableMessageError extends Error {
  override name = 'UnprocessableMessageError';
}

/** A message was sent, but nobody said that it is safe: it may be handled all the same. */
export class UnconfirmedMessageError extends Error {
  override name = 'UnconfirmedMessageError';
}

export type MessageHandler = (message: Message, delivery: { redelivered: boolean }) => Promise<void>;

/** A running subscription. */
export interface Consumer {
  /** Takes no new messages and resolves when the handlers under way have settled. */
  stop(): Promise<void>;
}

/**
 * The queue between the services. At-least-once: a handler may see a message again, and must not mind.
 * Every adapter passes tests/message-bus.contract.ts.
 */
export interface MessageBus {
  /**
   * Resolves once the message is safe: it will be handled even if this process dies now. Rejects with an
   * UnconfirmedMessageError when that cannot be told, and with any other error when it will not be handled.
   */
  publish(message: Message): Promise<void>;
  /**
   * Hands messages of a queue to `handler`, at most `prefetch` at a time. Its message is done when the handler
   * resolves; when it rejects the message comes again, at most DELIVERY_LIMIT times in all, then it is dead-lettered.
   */
  consume(queue: QueueName, options: { prefetch: number }, handler: MessageHandler): Promise<Consumer>;
  /** How many messages of a queue no consumer has been given. Rejects while there is no broker to ask. */
  countWaiting(queue: QueueName): Promise<number>;
  /**
   * How many messages of a queue were put away because nobody could handle them. Rejects while there is no broker to ask.
   */
  countDeadLetters(queue: QueueName): Promise<number>;
  /** Rejects while messages cannot be published. */
  check(): Promise<void>;
  /** Stops all consumers and lets go of the broker. Messages not done are delivered again to somebody else. */
  close(): Promise<void>;
}
