import { setTimeout as delay } from 'node:timers/promises';
import { type Message, parseMessage } from '@framelane/contracts/messages';
import { deadLetterQueue, type QueueName } from '@framelane/contracts/topology';
import type { Logger } from '@framelane/service-kit/logger';
import type { Channel, ChannelModel } from 'amqplib';
import pTimeout from 'p-timeout';
import {
  type Consumer,
  DEFAULT_REDELIVERY_DELAY_MS,
  type MessageBus,
  type MessageHandler,
  type PublishOptions,
  UnconfirmedMessageError,
} from './message-bus.ts';
import { closeChannel, openChannel } from './rabbitmq-channel.ts';
import { RabbitMqConnection } from './rabbitmq-connection.ts';
import { RabbitMqPublisher } from './rabbitmq-publisher.ts';
import { RabbitMqSubscription } from './rabbitmq-subscription.ts';
import { checkTopology, declareTopology } from './rabbitmq-topology.ts';

const DEFAULT_PUBLISH_TIMEOUT_MS = 20_000;

/** Time limit of the probe message in `check`. It is shorter than the time limit of readiness checks. */
const CHECK_TIMEOUT_MS = 2_000;

/** Delay before an unconfirmed message is sent again. */
const REPUBLISH_DELAY_MS = 200;

type Options = {
  /** `amqp://` or `amqps://` URL with user, password and virtual host. */
  url: string;
  logger: Logger;
  /** How long `publish` waits for the confirm by default, including reconnects and times when the broker accepts no messages. */
  publishLimitMs?: number;
  /** Delay before a rejected message is redelivered; it doubles with each delivery. */
  redeliveryDelayMs?: number;
  /**
   * Whether to declare the exchange and the queues, or to wait until another service has declared them. Default: true.
   */
  declares?: boolean;
};

/**
 * The message bus on RabbitMQ. When the connection is lost, it reconnects and declares everything again. Consumers
 * continue, and unconfirmed messages are sent again until their time limit.
 *
 * It holds two connections. A broker short of memory or disk space stops reading from connections that publish. It must
 * still receive acknowledgements, because they free memory, so consumers have a connection of their own.
 */
export class RabbitMqBus implements MessageBus {
  readonly kind = 'rabbitmq';
  readonly #options: Required<Options>;
  readonly #publishing: RabbitMqConnection;
  readonly #consuming: RabbitMqConnection;
  readonly #subscriptions = new Set<RabbitMqSubscription>();
  readonly #closing = new AbortController();
  #publisher = Promise.withResolvers<RabbitMqPublisher>();

  /** Starts to connect; `check` resolves once it is connected. Throws when `url` is not a URL. */
  constructor(options: Options) {
    this.#options = {
      publishLimitMs: DEFAULT_PUBLISH_TIMEOUT_MS,
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
        // Callers that still wait for the lost publisher get the next one.
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
      // The channels of the consumers close with it.
      onLost: () => {},
    });
  }

  async publish(
    message: Message,
    { limitMs = this.#options.publishLimitMs, traceparent }: PublishOptions = {},
  ): Promise<void> {
    this.#assertOpen();
    const body = JSON.stringify(message);
    const { id, type } = parseMessage(JSON.parse(body));
    const limit = AbortSignal.timeout(limitMs);
    const signal = AbortSignal.any([limit, this.#closing.signal]);
    const untilAborted = { milliseconds: Number.POSITIVE_INFINITY, signal };
    let sent = false;
    let cause: unknown = new Error('There is no connection to the message broker');
    while (!signal.aborted) {
      try {
        const publisher = await pTimeout(this.#publisher.promise, untilAborted);
        sent = true;
        cause = new Error('The message broker sent no confirm');
        await pTimeout(publisher.publish({ id, type, body, traceparent }), untilAborted);
        return;
      } catch (error) {
        if (!signal.aborted) cause = error;
        await delay(REPUBLISH_DELAY_MS, undefined, { signal }).catch(() => {});
      }
    }
    if (sent)
      throw new UnconfirmedMessageError(`Message ${id} was not confirmed within the time limit`, { cause });
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
    // A broker short of memory or disk space reports that only to connections that publish.
    try {
      const probing = this.#publisher.promise.then((publisher) => publisher.probe());
      await pTimeout(probing, { milliseconds: CHECK_TIMEOUT_MS });
    } catch (cause) {
      throw new Error('The message broker accepts no messages', { cause });
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('The message bus is closed'));
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
    await Promise.all([this.#publishing.close(), this.#consuming.close()]);
  }

  async #count(queue: string): Promise<number> {
    this.#assertOpen();
    // A broker short of memory does not respond on the publishing connection.
    const connection = this.#consuming.current;
    if (connection === undefined) throw new Error('There is no connection to the message broker');
    const channel = await openChannel(connection);
    const { messageCount } = await channel.checkQueue(queue);
    await closeChannel(channel);
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

  /** If it fails, the subscription is opened on the next connection. */
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
  await closeChannel(channel);
}
