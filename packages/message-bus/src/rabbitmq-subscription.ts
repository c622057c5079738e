import { setTimeout as delay } from 'node:timers/promises';
import { type Message, parseMessage } from '@framelane/contracts/messages';
import { DELIVERY_LIMIT, deadLetterQueue, type QueueName } from '@framelane/contracts/topology';
import type { Logger } from '@framelane/service-kit/logger';
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { type MessageHandler, UnprocessableMessageError } from './message-bus.ts';
import { closeChannel, openChannel } from './rabbitmq-channel.ts';

type Options = {
  queue: QueueName;
  prefetch: number;
  handler: MessageHandler;
  logger: Logger;
  /** Delay before a rejected message is requeued; it doubles with each delivery. */
  redeliveryDelayMs: number;
  /** Called when the channel closes or the queue is deleted: a new connection is needed. */
  onBroken: () => void;
};

/** A consumer of one queue, on one connection after another. */
export class RabbitMqSubscription {
  readonly #options: Options;
  readonly #inProgress = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #open: { channel: Channel; consumerTag: string } | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Starts to consume from this connection, unless the subscription was stopped. */
  async open(connection: ChannelModel): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    const channel = await openChannel(connection);
    if (!signal.aborted) await this.#consume(channel);
    if (!signal.aborted) return;
    // Stopped meanwhile: closing the channel requeues what was delivered to it.
    await Promise.all(this.#inProgress);
    await closeChannel(channel).catch(() => {});
  }

  /** Takes no more messages, and resolves when the handlers in progress have settled. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const open = this.#open;
    this.#open = undefined;
    // If the connection breaks now, that ends the consumer, too.
    await open?.channel.cancel(open.consumerTag).catch(() => {});
    await Promise.all(this.#inProgress);
    if (open !== undefined) await closeChannel(open.channel).catch(() => {});
  }

  async #consume(channel: Channel): Promise<void> {
    const { queue, prefetch, onBroken } = this.#options;
    channel.on('close', () => {
      if (this.#open?.channel !== channel) return;
      this.#open = undefined;
      onBroken();
    });
    await channel.prefetch(prefetch);
    const { consumerTag } = await channel.consume(queue, (delivery) => {
      // The broker cancels the consumer with null when the queue is deleted.
      if (delivery === null) onBroken();
      else this.#take(channel, delivery);
    });
    if (!this.#stopping.signal.aborted) this.#open = { channel, consumerTag };
  }

  #take(channel: Channel, delivery: ConsumeMessage): void {
    // Delivered while the consumer was being cancelled: closing the channel requeues it.
    if (this.#stopping.signal.aborted) return;
    const work = this.#handle(channel, delivery).finally(() => this.#inProgress.delete(work));
    this.#inProgress.add(work);
  }

  /** One delivery. Never rejects. */
  async #handle(channel: Channel, delivery: ConsumeMessage): Promise<void> {
    const message = this.#read(delivery);
    if (message === undefined) {
      settle(() => channel.nack(delivery, false, false));
      return;
    }
    const deliveries = deliveriesOf(delivery);
    try {
      await this.#options.handler(message, {
        redelivered: delivery.fields.redelivered,
        traceparent: traceparentOf(delivery),
      });
      settle(() => channel.ack(delivery));
    } catch (error) {
      await this.#reject(channel, delivery, { message, deliveries, error });
    }
  }

  #read(delivery: ConsumeMessage): Message | undefined {
    try {
      return parseMessage(JSON.parse(delivery.content.toString('utf8')));
    } catch (error) {
      const { queue, logger } = this.#options;
      const messageId = delivery.properties.messageId;
      logger.error('message.unreadable', {
        queue,
        deadLetterQueue: deadLetterQueue(queue),
        messageId,
        error,
      });
      return undefined;
    }
  }

  /**
   * Delays before it requeues the message. Meanwhile the message counts for the prefetch, so a failing consumer slows
   * down.
   */
  async #reject(
    channel: Channel,
    delivery: ConsumeMessage,
    failure: { message: Message; deliveries: number; error: unknown },
  ): Promise<void> {
    const { queue, logger, redeliveryDelayMs } = this.#options;
    const { message, deliveries, error } = failure;
    const facts = { messageId: message.id, type: message.type, deliveries, error };
    const final = error instanceof UnprocessableMessageError || deliveries >= DELIVERY_LIMIT;
    if (final) {
      logger.error('message.dead_lettered', { queue, deadLetterQueue: deadLetterQueue(queue), ...facts });
    } else {
      logger.warn('message.rejected', { queue, ...facts });
      const delayMs = redeliveryDelayMs * 2 ** (deliveries - 1);
      await delay(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
    }
    settle(() => channel.nack(delivery, false, !final));
  }
}

function traceparentOf({ properties }: ConsumeMessage): string | undefined {
  const traceparent: unknown = properties.headers?.traceparent;
  return typeof traceparent === 'string' ? traceparent : undefined;
}

/** The number of deliveries of this message, including this one. The broker counts the earlier ones. */
function deliveriesOf({ properties, fields }: ConsumeMessage): number {
  const earlier = properties.headers?.['x-delivery-count'];
  return typeof earlier === 'number' ? earlier + 1 : fields.redelivered ? 2 : 1;
}

/** Acks or nacks. On a closed channel that has no effect, and its messages are redelivered. */
function settle(acknowledge: () => void): void {
  try {
    acknowledge();
  } catch {
    // amqplib's IllegalOperationError: the channel is closed.
  }
}
