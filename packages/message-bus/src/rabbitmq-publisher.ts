import { EXCHANGE } from '@framelane/contracts/topology';
import type { ChannelModel, ConfirmChannel } from 'amqplib';

/** A routing key that no queue is bound with. */
const PROBE = 'probe';

/** Publishes on one channel, each message persistent, mandatory and confirmed. */
export class RabbitMqPublisher {
  readonly #channel: ConfirmChannel;
  /** Messages that came back because no queue takes them; their confirm follows. */
  readonly #returned = new Set<string>();

  /** `onBroken` is called when the channel ended, or the queues are not as they were declared. */
  static async open(connection: ChannelModel, onBroken: () => void): Promise<RabbitMqPublisher> {
    const publisher = new RabbitMqPublisher(await connection.createConfirmChannel());
    publisher.#channel.on('close', onBroken);
    publisher.#channel.on('return', onBroken);
    return publisher;
  }

  private constructor(channel: ConfirmChannel) {
    this.#channel = channel;
    channel.on('return', ({ properties }) => void this.#returned.add(properties.messageId));
    // "close" follows.
    channel.on('error', () => {});
  }

  /** Sends a message to nobody. Resolves once the broker confirms that it took it. */
  async probe(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onConfirm = (error: unknown) => (error ? reject(error) : resolve());
    this.#channel.publish(EXCHANGE, PROBE, Buffer.alloc(0), {}, onConfirm);
    await promise;
  }

  /** Resolves once the queue has it safe. Rejects when it was refused, or the channel ended before it was confirmed. */
  async publish({ id, type, body }: { id: string; type: string; body: string }): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onConfirm = (error: unknown) => {
      if (error) reject(error);
      else if (this.#returned.delete(id)) reject(new Error(`No queue takes messages of type ${type}`));
      else resolve();
    };
    this.#channel.publish(
      EXCHANGE,
      type,
      Buffer.from(body),
      { persistent: true, mandatory: true, contentType: 'application/json', messageId: id, type },
      onConfirm,
    );
    await promise;
  }
}
