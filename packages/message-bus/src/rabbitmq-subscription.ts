import { setTimeout as delay } from 'node:timers/promises';
import { type Message, parseMessage } from '@framelane/contracts/messages';
import { DELIVERY_LIMIT, deadLetterQueue, type QueueName } from '@framelane/contracts/topology';
import type { Logger } from '@framelane/service-kit/logger';
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { type MessageHandler, UnprocessableMessageError } from './message-bus.ts';

type Options = {
  queue: QueueName;
  prefetch: number;
  handler: MessageHandler;
  logger: Logger;
  /** Wait before a rejected message goes back; doubles with each delivery. */
  redeliveryDelayMs: number;
  /** The channel ended, or the queue went away: a new connection is needed. */
  onBroken: () => void;
};

/** A consumer of one queue, through as many connections as it takes. */
export class RabbitMqSubscription {
  readonly #options: Options;
  readonly #underWay = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #open: { channel: Channel; consumerTag: string } | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Begins to take messages from this connection, unless it was stopped before that. */
  async open(connection: ChannelModel): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    const channel = await connection.createChannel();
    channel.on('error', () => {});
    if (!signal.aborted) await this.#consume(channel);
    if (!signal.aborted) return;
    // What came meanwhile and was not taken goes back with the channel.
    await Promise.all(this.#underWay);
    await channel.close().catch(() => {});
  }

  /** Takes no more, and resolves when the handlers under way have settled. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const open = this.#open;
    this.#open = undefined;
    // A connection that breaks now ends the consumer, too.
    await open?.channel.cancel(open.consumerTag).catch(() => {});
    await Promise.all(this.#underWay);
    await open?.channel.close().catch(() => {});
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
      // Without a delivery it is the broker's word that the queue is no longer there.
      if (delivery === null) onBroken();
      else this.#take(channel, delivery);
    });
    if (!this.#stopping.signal.aborted) this.#open = { channel, consumerTag };
  }

  #take(channel: Channel, delivery: ConsumeMessage): void {
    // Came while the consumer was being cancelled: it goes back when the channel closes.
    if (this.#stopping.signal.aborted) return;
    const work = this.#handle(channel, delivery).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
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
      await this.#options.handler(message, { redelivered: delivery.fields.redelivered });
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
      logger.error('message.unreadable', { queue: deadLetterQueue(queue), messageId, error });
      return undefined;
    }
  }

  /** The wait is kept with the message in hand, so that a consumer in trouble slows down. */
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
      logger.error('message.dead_lettered', { queue: deadLetterQueue(queue), ...facts });
    } else {
      logger.warn('message.rejected', { queue, ...facts });
      const waitMs = redeliveryDelayMs * 2 ** (deliveries - 1);
      await delay(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
    }
    settle(() => channel.nack(delivery, false, !final));
  }
}

/** How often this message was delivered, this time included; the broker counts those that came back. */
function deliveriesOf({ properties, fields }: ConsumeMessage): number {
  const returns = properties.headers?.['x-delivery-count'];
  return typeof returns === 'number' ? returns + 1 : fields.redelivered ? 2 : 1;
}

/** On a channel that has ended nothing can be said; its messages are delivered again anyway. */
function settle(say: () => void): void {
  try {
    say();
  } catch {
    // amqplib's IllegalOperationError: the channel is closed.
  }
}
