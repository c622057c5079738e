import { EXCHANGE } from '@framelane/contracts/topology';
import type { ChannelModel, ConfirmChannel } from 'amqplib';

/** A routing key without a queue. */
const PROBE = 'probe';

type OutgoingMessage = { id: string; type: string; body: string; traceparent: string | undefined };

/** Publishes on one channel. Messages are persistent, mandatory and confirmed. */
export class RabbitMqPublisher {
  readonly #channel: ConfirmChannel;
  /** Ids of messages that the broker returned because no queue is bound for them. Their confirm follows. */
  readonly #returned = new Set<string>();

  /** `onBroken` is called when the channel closes or a queue is missing. */
  static async open(connection: ChannelModel, onBroken: () => void): Promise<RabbitMqPublisher> {
    const publisher = new RabbitMqPublisher(await connection.createConfirmChannel());
    publisher.#channel.on('close', onBroken);
    publisher.#channel.on('return', onBroken);
    return publisher;
  }

  private constructor(channel: ConfirmChannel) {
    this.#channel = channel;
    channel.on('return', ({ properties }) => void this.#returned.add(properties.messageId));
    // A "close" event follows.
    channel.on('error', () => {});
  }

  /** Publishes a message that no queue receives. Resolves once the broker confirms it. */
  async probe(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onConfirm = (error: unknown) => (error ? reject(error) : resolve());
    this.#channel.publish(EXCHANGE, PROBE, Buffer.alloc(0), {}, onConfirm);
    await promise;
  }

  /**
   * Resolves once the broker confirms the message. Rejects when it is refused, or the channel closes before the confirm.
   */
  async publish({ id, type, body, traceparent }: OutgoingMessage): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onConfirm = (error: unknown) => {
      if (error) reject(error);
      else if (this.#returned.delete(id)) reject(new Error(`No queue receives messages of type ${type}`));
      else resolve();
    };
    this.#channel.publish(
      EXCHANGE,
      type,
      Buffer.from(body),
      {
        persistent: true,
        mandatory: true,
        contentType: 'application/json',
        messageId: id,
        type,
        ...(traceparent !== undefined && { headers: { traceparent } }),
      },
      onConfirm,
    );
    await promise;
  }
}
