import { setTimeout as delay } from 'node:timers/promises';
import { type Message, parseMessage } from '@framelane/contracts/messages';
import { deadLetterQueue, type QueueName } from '@framelane/contracts/topology';
import type { Logger } from '@framelane/service-kit/logger';
import type { Channel, ChannelModel } from 'amqplib';
import {
  type Consumer,
  type MessageBus,
  type MessageHandler,
  UnconfirmedMessageError,
} from './message-bus.ts';
import { RabbitMqConnection } from './rabbitmq-connection.ts';
import { RabbitMqPublisher } from './rabbitmq-publisher.ts';
import { RabbitMqSubscription } from './rabbitmq-subscription.ts';
import { checkTopology, declareTopology } from './rabbitmq-topology.ts';

const DEFAULT_PUBLISH_LIMIT_MS = 20_000;
const DEFAULT_REDELIVERY_DELAY_MS = 500;

/** How long the broker may take for a message that goes nowhere. Who asks for readiness waits for three seconds. */
const CHECK_LIMIT_MS = 2_000;

/** Wait before a message that was not confirmed is sent again. */
const REPUBLISH_DELAY_MS = 200;

type Options = {
  /** `amqp://` or `amqps://`, with user, password and virtual host. */
  url: string;
  logger: Logger;
  /** How long a message may wait for its confirm, through lost connections and a broker that takes nothing. */
  publishLimitMs?: number;
  /** Wait before a rejected message comes again; doubles with each delivery. */
  redeliveryDelayMs?: number;
  /** Whether it declares the exchange and the queues, or waits until another service has. True unless set. */
  declares?: boolean;
};

/**
 * The message bus over RabbitMQ. A broker that is lost is connected to again and everything declared anew: consumers
 * go on, and messages that were not confirmed are sent again until their time is over.
 *
 * It holds two connections. A broker short of memory or disk reads no more from one that publishes, and has to hear the
 * acknowledgements on the other all the same, because they are what makes room.
 */
export class RabbitMqBus implements MessageBus {
  readonly #options: Required<Options>;
  readonly #publishing: RabbitMqConnection;
  readonly #consuming: RabbitMqConnection;
  readonly #subscriptions = new Set<RabbitMqSubscription>();
  readonly #closing = new AbortController();
  #publisher = Promise.withResolvers<RabbitMqPublisher>();

  /** Begins to connect; `check` tells when the broker is there. Throws when `url` is no address. */
  constructor(options: Options) {
    this.#options = {
      publishLimitMs: DEFAULT_PUBLISH_LIMIT_MS,
      redeliveryDelayMs: DEFAULT_REDELIVERY_DELAY_MS,
      declares: true,
      ...options,
    };
    const { url, logger, declares } = this.#options;
    const setUp = (connection: ChannelModel) =>
      setUpTopology(connection, declares ? declareTopology : checkTopology);
    this.#publishing = new RabbitMqConnection({
      url,
      logger,
      purpose: 'publishing',
      setUp,
      onConnected: (connection) => void this.#openPublisher(connection),
      onLost: () => {
        const lost = this.#publisher;
        this.#publisher = Promise.withResolvers();
        // Lost before there was one: those who wait for it get the next.
        lost.resolve(this.#publisher.promise);
      },
    });
    this.#consuming = new RabbitMqConnection({
      url,
      logger,
      purpose: 'consuming',
      setUp,
      onConnected: (connection) => {
        for (const subscription of this.#subscriptions) void this.#openSubscription(subscription, connection);
      },
      // Each consumer's channel ends with it.
      onLost: () => {},
    });
  }

  async publish(message: Message): Promise<void> {
    this.#assertOpen();
    const body = JSON.stringify(message);
    const { id, type } = parseMessage(JSON.parse(body));
    const limit = AbortSignal.timeout(this.#options.publishLimitMs);
    const signal = AbortSignal.any([limit, this.#closing.signal]);
    let sent = false;
    let cause: unknown = new Error('There is no connection to the message broker');
    while (!signal.aborted) {
      try {
        const publisher = await unlessAborted(this.#publisher.promise, signal);
        sent = true;
        await unlessAborted(publisher.publish({ id, type, body }), signal);
        return;
      } catch (error) {
        if (!signal.aborted) cause = error;
        await delay(REPUBLISH_DELAY_MS, undefined, { signal }).catch(() => {});
      }
    }
    if (sent) throw new UnconfirmedMessageError(`Message ${id} was not confirmed in time`, { cause });
    throw new Error(`Message ${id} was not sent`, { cause });
  }

  async consume(queue: QueueName, options: { prefetch: number }, handler: MessageHandler): Promise<Consumer> {
    this.#assertOpen();
    const subscription = new RabbitMqSubscription({
      queue,
      prefetch: options.prefetch,
      handler,
      logger: this.#options.logger,
      redeliveryDelayMs: this.#options.redeliveryDelayMs,
      onBroken: () => this.#consuming.renew(),
    });
    this.#subscriptions.add(subscription);
    const connection = this.#consuming.current;
    if (connection !== undefined) await this.#openSubscription(subscription, connection);
    return {
      stop: async () => {
        this.#subscriptions.delete(subscription);
        await subscription.stop();
      },
    };
  }

  countWaiting(queue: QueueName): Promise<number> {
    return this.#count(queue);
  }

  countDeadLetters(queue: QueueName): Promise<number> {
    return this.#count(deadLetterQueue(queue));
  }

  async check(): Promise<void> {
    this.#assertOpen();
    this.#publishing.assertUsable();
    this.#consuming.assertUsable();
    // That it is short of memory or disk the broker tells only those who publish, and takes no more from them.
    const signal = AbortSignal.timeout(CHECK_LIMIT_MS);
    try {
      const publisher = await unlessAborted(this.#publisher.promise, signal);
      await unlessAborted(publisher.probe(), signal);
    } catch (cause) {
      throw new Error('The message broker takes no messages', { cause });
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('The message bus is closed'));
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
    await Promise.all([this.#publishing.close(), this.#consuming.close()]);
  }

  async #count(queue: string): Promise<number> {
    this.#assertOpen();
    // A broker short of memory answers here alone.
    const connection = this.#consuming.current;
    if (connection === undefined) throw new Error('There is no connection to the message broker');
    const channel = await openChannel(connection);
    const { messageCount } = await channel.checkQueue(queue);
    await channel.close();
    return messageCount;
  }

  #assertOpen(): void {
    this.#closing.signal.throwIfAborted();
  }

  async #openPublisher(connection: ChannelModel): Promise<void> {
    try {
      const publisher = await RabbitMqPublisher.open(connection, () => this.#publishing.renew());
      if (connection === this.#publishing.current) this.#publisher.resolve(publisher);
    } catch {
      this.#publishing.renew();
    }
  }

  /** One that cannot be opened now is opened with the next connection. */
  async #openSubscription(subscription: RabbitMqSubscription, connection: ChannelModel): Promise<void> {
    await subscription.open(connection).catch(() => this.#consuming.renew());
  }
}

async function setUpTopology(
  connection: ChannelModel,
  work: (channel: Channel) => Promise<void>,
): Promise<void> {
  const channel = await openChannel(connection);
  await work(channel);
  await channel.close();
}

/** A channel for a question or two. One that is refused ends, which is heard where it was asked. */
async function openChannel(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel();
  channel.on('error', () => {});
  return channel;
}

/** As `work`, but rejects with the signal's reason when that comes first. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
