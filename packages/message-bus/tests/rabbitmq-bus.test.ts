import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { type Message, parseMessage } from '@framelane/contracts/messages';
import { deadLetterQueue, EXCHANGE, QUEUES, type QueueName } from '@framelane/contracts/topology';
import { createLogger } from '@framelane/service-kit/logger';
import { type RabbitMqNode, startRabbitMq } from '@framelane/test-kit/rabbitmq-node';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { UnconfirmedMessageError, UnprocessableMessageError } from '../src/message-bus.ts';
import { RabbitMqBus } from '../src/rabbitmq-bus.ts';
import { RabbitMqSubscription } from '../src/rabbitmq-subscription.ts';
import { command, event, messageBusContract } from './message-bus.contract.ts';

const COMMANDS = 'engine.commands';
const EVENTS = 'control-plane.events';

/** Class and method ids of AMQP 0-9-1. */
const CONFIRM_SELECT = Buffer.from([0, 85, 0, 10]);
const CHANNEL_CLOSE = Buffer.from([0, 20, 0, 40]);
const CONNECTION_CLOSE = Buffer.from([0, 10, 0, 50]);

const logger = createLogger({ service: 'test' });
logger.silent = true;

let node: RabbitMqNode | undefined;
let url = process.env.AMQP_URL ?? '';
let admin: ChannelModel;

beforeAll(async () => {
  if (!process.env.AMQP_URL) {
    node = await startRabbitMq();
    url = node.url;
  }
  admin = await openAdmin();
  await refuseBrokerInUse();
});

afterAll(async () => {
  // Already closed if a test that kills the broker has failed.
  await admin?.close().catch(() => {});
  await node?.remove();
});

/** A connection that may be lost together with its broker. */
async function openAdmin(): Promise<ChannelModel> {
  const connection = await connect(url);
  return connection.on('error', () => {});
}

/** Refuses a broker in use: these tests delete the queues of the services. */
async function refuseBrokerInUse(): Promise<void> {
  for (const queue of queues) {
    const channel = (await admin.createChannel()).on('error', () => {});
    // A missing queue closes the channel.
    const found = await channel.checkQueue(queue).catch(() => undefined);
    if (found === undefined) continue;
    await channel.close();
    if (found.consumerCount + found.messageCount > 0) {
      throw new Error(
        `The broker of AMQP_URL is in use (queue ${queue}). Use another broker or another virtual host.`,
      );
    }
  }
}

const queues = Object.keys(QUEUES) as QueueName[];

async function deleteQueues(): Promise<void> {
  const channel = await admin.createChannel();
  for (const queue of queues) {
    await channel.deleteQueue(queue);
    await channel.deleteQueue(deadLetterQueue(queue));
  }
  await channel.close();
}

async function connected(options: Partial<ConstructorParameters<typeof RabbitMqBus>[0]> = {}) {
  const bus = new RabbitMqBus({ url, logger, redeliveryDelayMs: 1, ...options });
  await until(() => isUsable(bus));
  return bus;
}

function isUsable(bus: RabbitMqBus): Promise<boolean> {
  return bus.check().then(
    () => true,
    () => false,
  );
}

/** Removes the dead letters of a queue and returns them. */
async function takeDeadLetters(queue: QueueName): Promise<Message[]> {
  const channel = await admin.createChannel();
  const messages: Message[] = [];
  for (;;) {
    const letter = await channel.get(deadLetterQueue(queue), { noAck: true });
    if (!letter) break;
    messages.push(parseMessage(JSON.parse(letter.content.toString())));
  }
  await channel.close();
  return messages;
}

messageBusContract('RabbitMqBus', async () => {
  const bus = await connected();
  const seen: Message[] = [];
  return {
    bus,
    deadLetters: async (queue) => {
      seen.push(...(await takeDeadLetters(queue)));
      return seen;
    },
    dispose: async () => {
      await bus.close();
      await deleteQueues();
    },
  };
});

/** Runs a test with a bus of its own and deletes the queues. */
async function withBus(work: (bus: RabbitMqBus) => Promise<void>, options = {}): Promise<void> {
  const bus = await connected(options);
  try {
    await work(bus);
  } finally {
    await bus.close();
    await deleteQueues();
  }
}

type LossyProxy = {
  /** The URL of the broker through the proxy. */
  url: string;
  /** Resets the next connection on which a client sends this method. */
  loseAt: (method: Buffer) => void;
  losses: number;
};

/** Runs a test with a proxy to the broker. */
async function withLossyProxy(work: (proxy: LossyProxy) => Promise<void>): Promise<void> {
  let awaited: Buffer | undefined;
  const server = createServer((client) => {
    const { hostname, port } = new URL(url);
    const broker = connectTcp(Number(port), hostname);
    for (const socket of [client, broker]) socket.on('error', () => {});
    client.on('data', (bytes) => {
      if (awaited === undefined || !bytes.includes(awaited)) return;
      awaited = undefined;
      proxy.losses += 1;
      client.destroy();
    });
    client.pipe(broker).pipe(client);
    client.on('close', () => broker.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: LossyProxy = {
    url: through.href,
    loseAt: (method) => {
      awaited = method;
    },
    losses: 0,
  };
  try {
    await work(proxy);
  } finally {
    server.close();
  }
}

describe('RabbitMqBus', () => {
  test('declares and consumes its queue again after it was deleted', () =>
    withBus(async (bus) => {
      const handled: string[] = [];
      await bus.consume(COMMANDS, { prefetch: 1 }, async ({ data }) => void handled.push(data.videoId));

      await deleteQueues();
      await bus.publish(command('after'));

      await until(() => handled.length === 1);
      expect(handled).toEqual(['after']);
    }));

  test('dead-letters and logs messages that are unreadable or cannot be processed', () =>
    withBus(async (bus) => {
      const errors = jest.spyOn(logger, 'error').mockClear();
      await bus.consume(EVENTS, { prefetch: 1 }, async () => {
        throw new UnprocessableMessageError('invalid');
      });
      const channel = await admin.createChannel();
      channel.sendToQueue(EVENTS, Buffer.from('{"id":'));
      channel.sendToQueue(EVENTS, Buffer.from(JSON.stringify({ ...event('a'), version: 99 })));
      await bus.publish(event('b'));
      const dead = async () => (await channel.checkQueue(deadLetterQueue(EVENTS))).messageCount;

      await until(async () => (await dead()) === 3);
      await channel.close();
      const queues = { queue: EVENTS, deadLetterQueue: deadLetterQueue(EVENTS) };
      // Two channels publish, so the order differs.
      expect(errors.mock.calls.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
        ['message.dead_lettered', expect.objectContaining(queues)],
        ['message.unreadable', expect.objectContaining(queues)],
        ['message.unreadable', expect.objectContaining(queues)],
      ]);
    }));

  test('sends waiting messages on the next connection when the first one is lost during set-up', () =>
    withLossyProxy(async (proxy) => {
      proxy.loseAt(CONFIRM_SELECT);
      await withBus((bus) => bus.publish(event('waiting')), { url: proxy.url });
      expect(proxy.losses).toBe(1);
    }));

  test('connects again when the connection is lost while the channel of its set-up closes', () =>
    withLossyProxy(async (proxy) => {
      proxy.loseAt(CHANNEL_CLOSE);
      await withBus((bus) => bus.publish(event('waiting')), { url: proxy.url });
      expect(proxy.losses).toBe(1);
    }));

  test('connects again when the connection is lost while it closes after a failed set-up', () =>
    withLossyProxy(async (proxy) => {
      proxy.loseAt(CONNECTION_CLOSE);
      const engine = new RabbitMqBus({ url: proxy.url, logger, declares: false });
      await until(() => proxy.losses === 1);
      await withBus(async () => void (await until(() => isUsable(engine))));
      await engine.close();
    }));

  test.each([
    ['its channel', CHANNEL_CLOSE],
    ['its connection', CONNECTION_CLOSE],
  ])('stops when the connection is lost while %s closes', (_, method) =>
    withLossyProxy(async (proxy) => {
      const bus = await connected({ url: proxy.url });
      await bus.consume(COMMANDS, { prefetch: 1 }, async () => {});
      proxy.loseAt(method);
      await bus.close();
      expect(proxy.losses).toBe(1);
      await deleteQueues();
    }),
  );

  test.each(['createChannel', 'consume'] as const)('a consumer stopped during %s takes no messages', (step) =>
    withBus(async (bus) => {
      await bus.publish(event('for others'));
      const taken: string[] = [];
      const subscription = new RabbitMqSubscription({
        queue: EVENTS,
        prefetch: 1,
        handler: async ({ data }) => void taken.push(data.videoId),
        logger,
        redeliveryDelayMs: 1,
        onBroken: () => {},
      });
      const channel = await admin.createChannel();
      const consume = channel.consume.bind(channel);
      jest.spyOn(channel, 'consume').mockImplementation(async (...args) => {
        await subscription.stop();
        return consume(...args);
      });
      const opening = subscription.open({ createChannel: async () => channel } as ChannelModel);
      if (step === 'createChannel') await subscription.stop();
      await opening;

      const handled: string[] = [];
      await bus.consume(EVENTS, { prefetch: 1 }, async ({ data }) => void handled.push(data.videoId));
      await until(() => handled.length === 1);
      expect(taken).toEqual([]);
    }),
  );

  test('reports a message as not sent when there was no connection within the time limit', async () => {
    const bus = new RabbitMqBus({ url: 'amqp://127.0.0.1:1', logger, publishLimitMs: 60_000 });

    const refusal = await bus.publish(event('a'), { limitMs: 50 }).catch((error: unknown) => error);

    expect(refusal).not.toBeInstanceOf(UnconfirmedMessageError);
    expect(refusal).toMatchObject({ message: expect.stringContaining('was not sent') });
    await expect(bus.check()).rejects.toThrow('no connection');
    await bus.close();
  });

  test('rejects an invalid URL', () => {
    expect(() => new RabbitMqBus({ url: 'nowhere', logger })).toThrow('Invalid URL');
  });
});

// These tests kill or block the broker.
const ownBroker = process.env.AMQP_URL ? describe.skip : describe;

ownBroker('RabbitMqBus with the users of the services', () => {
  const urls = () => (node as RabbitMqNode).serviceUrls;

  test('an engine waits for the queues, then takes commands and sends events', async () => {
    const engine = new RabbitMqBus({ url: urls().engine, logger, declares: false });
    await expect(engine.check()).rejects.toThrow('no connection');
    await withBus(
      async (controlPlane) => {
        await until(() => isUsable(engine));
        const handled: string[] = [];
        const take = async ({ data }: Message) => void handled.push(data.videoId);
        await engine.consume(COMMANDS, { prefetch: 1 }, take);
        await controlPlane.consume(EVENTS, { prefetch: 1 }, take);
        await controlPlane.publish(command('command'));
        await engine.publish(event('event'));
        await until(() => handled.length === 2);
        expect(handled.sort()).toEqual(['command', 'event']);
        expect(await controlPlane.countDeadLetters(COMMANDS)).toBe(0);
        await engine.close();
      },
      { url: urls().controlPlane },
    );
  });

  test.each<[string, (channel: Channel) => Promise<unknown>]>([
    ['read events', (channel) => channel.get(EVENTS)],
    ['read dead letters', (channel) => channel.get(deadLetterQueue(COMMANDS))],
    ['purge a queue of events', (channel) => channel.purgeQueue(EVENTS)],
    ['delete a queue', (channel) => channel.deleteQueue(COMMANDS)],
    ['declare a queue', (channel) => channel.assertQueue('spy')],
    ['bind a queue', (channel) => channel.bindQueue(COMMANDS, EXCHANGE, 'upload.completed')],
    ['declare an exchange', (channel) => channel.assertExchange('spy', 'topic')],
    ['send to a queue by its name', (channel) => refusedPublish(channel, '', EVENTS)],
    ['send commands', (channel) => refusedPublish(channel, EXCHANGE, 'plan')],
  ])('an engine cannot %s', (_, attempt) =>
    withBus(async () => {
      const connection = (await connect(urls().engine)).on('error', () => {});
      const channel = (await connection.createConfirmChannel()).on('error', () => {});
      await expect(attempt(channel)).rejects.toThrow(/ACCESS_REFUSED|access refused/i);
      await connection.close();
    }),
  );

  test('an engine may send every event, and a control plane is not an administrator', async () => {
    const rights = `[maps:from_list([{Key, Value} || {Key, Value} <- Right, is_binary(Value)]) ||
      Right <- rabbit_auth_backend_internal:list_topic_permissions()]`.replace('\n', ' ');
    const [engineRights] = (await (node as RabbitMqNode).evaluate(rights)) as { write: string }[];
    const write = engineRights?.write ?? 'no rights';
    expect(QUEUES[EVENTS].filter((type) => !new RegExp(write).test(type))).toEqual([]);
    expect(QUEUES[COMMANDS].filter((type) => new RegExp(write).test(type))).toEqual([]);
    const users = '[maps:from_list(User) || User <- rabbit_auth_backend_internal:list_users()]';
    const listed = (await (node as RabbitMqNode).evaluate(users)) as { user: string; tags: string[] }[];
    expect(Object.fromEntries(listed.map(({ user, tags }) => [user, tags]))).toEqual({
      framelane: ['administrator'],
      'control-plane': [],
      engine: [],
    });
  });
});

/** Publishing has no response: a refused message closes the channel. */
async function refusedPublish(channel: Channel, exchange: string, key: string): Promise<void> {
  const refused = once(channel, 'error');
  channel.publish(exchange, key, Buffer.from('{}'));
  throw (await refused)[0];
}

ownBroker('RabbitMqBus with a failing broker', () => {
  test('waits to publish while the broker is short of memory, and continues to consume', () =>
    withBus(async (bus) => {
      const handled: string[] = [];
      await bus.publish(event('before'));
      await node?.setAlarm('memory', true);
      let confirmed = false;
      const publishing = bus.publish(event('waiting')).then(() => {
        confirmed = true;
      });
      await until(async () => !(await isUsable(bus)));
      await expect(bus.check()).rejects.toThrow('accepts no messages');
      await bus.consume(EVENTS, { prefetch: 1 }, async ({ data }) => void handled.push(data.videoId));
      await until(() => handled.length === 1);
      expect(confirmed).toBe(false);

      await node?.setAlarm('memory', false);

      await publishing;
      await until(() => handled.length === 2);
      await until(() => isUsable(bus));
      expect(handled).toEqual(['before', 'waiting']);
    }));

  test('check fails while the broker is short of memory', () =>
    withBus(async (bus) => {
      await node?.setAlarm('memory', true);
      await until(async () => !(await isUsable(bus)));
      await node?.setAlarm('memory', false);
      await until(() => isUsable(bus));
    }));

  test('reports a message without a confirm as unconfirmed', () =>
    withBus(
      async (bus) => {
        await node?.setAlarm('memory', true);

        const refusal = await bus.publish(event('a')).catch((error: unknown) => error);

        expect(refusal).toBeInstanceOf(UnconfirmedMessageError);
        expect((refusal as Error).cause).toMatchObject({ message: expect.stringContaining('no confirm') });
        await node?.setAlarm('memory', false);
        await until(() => isUsable(bus));
      },
      { publishLimitMs: 100 },
    ));

  test('loses no message when the broker is killed: sends unconfirmed ones again', () =>
    withBus(
      async (bus) => {
        await node?.flush();
        const handled = new Set<string>();
        const ids = Array.from({ length: 300 }, (_, index) => `v${index}`);
        const publishing = Promise.all(ids.map((id) => bus.publish(event(id))));
        const consuming = bus.consume(
          EVENTS,
          { prefetch: 4 },
          async ({ data }) => void handled.add(data.videoId),
        );
        await until(() => handled.size > 10);

        await node?.kill();
        const refusal = () => bus.check().catch((error: Error) => error.message);
        await until(async () => (await refusal())?.includes('no connection') === true);
        await node?.start();
        admin = await openAdmin();
        await publishing;
        await consuming;

        await until(() => handled.size === ids.length);
        await until(() => isUsable(bus));
        expect(await takeDeadLetters(EVENTS)).toEqual([]);
      },
      { publishLimitMs: 60_000 },
    ));
});
