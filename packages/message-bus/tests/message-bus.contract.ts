import { createMessage, type Message } from '@framelane/contracts/messages';
import { DELIVERY_LIMIT, type QueueName } from '@framelane/contracts/topology';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type MessageBus, UnprocessableMessageError } from '../src/message-bus.ts';

/** A bus with empty queues and short redelivery delays, and access to its dead letters. */
export type BusUnderTest = {
  bus: MessageBus;
  deadLetters(queue: QueueName): Promise<Message[]>;
  dispose(): Promise<void>;
};

const COMMANDS = 'engine.commands';
const EVENTS = 'control-plane.events';

export function command(videoId: string): Message {
  return createMessage('plan', {
    videoId,
    workspaceId: 'ws',
    inputBytes: 1,
    waitingSince: new Date().toISOString(),
  });
}

export function event(videoId: string): Message {
  return createMessage('upload.progress', { videoId, transferId: 'xfr' });
}

/** The tests that every message bus passes. */
export function messageBusContract(name: string, create: () => Promise<BusUnderTest>): void {
  describe(`${name} as a message bus`, () => {
    let subject: BusUnderTest;
    let bus: MessageBus;

    beforeEach(async () => {
      subject = await create();
      bus = subject.bus;
    });

    afterEach(() => subject.dispose());

    test('delivers a message to the consumer of its queue and to no other', async () => {
      const commands: Message[] = [];
      const events: Message[] = [];
      await bus.consume(COMMANDS, { prefetch: 1 }, async (message) => void commands.push(message));
      await bus.consume(EVENTS, { prefetch: 1 }, async (message) => void events.push(message));
      const sent = { command: command('a'), event: event('a') };

      await Promise.all([bus.publish(sent.command), bus.publish(sent.event)]);

      await until(() => commands.length + events.length === 2);
      expect(commands).toEqual([sent.command]);
      expect(events).toEqual([sent.event]);
      expect(commands[0]).not.toBe(sent.command);
    });

    test('keeps messages until a consumer starts', async () => {
      const sent = [command('a'), command('b'), command('c')];
      for (const message of sent) await bus.publish(message);
      expect([await bus.countWaiting(COMMANDS), await bus.countWaiting(EVENTS)]).toEqual([3, 0]);

      const received: Message[] = [];
      await bus.consume(COMMANDS, { prefetch: 1 }, async (message) => void received.push(message));

      await until(() => received.length === 3);
      expect(received).toEqual(sent);
      expect(await bus.countWaiting(COMMANDS)).toBe(0);
    });

    test('delivers the trace of the publisher with each delivery, and none without one', async () => {
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      const received: [string, string | undefined, boolean][] = [];
      await bus.consume(COMMANDS, { prefetch: 1 }, async (message, delivery) => {
        received.push([message.data.videoId, delivery.traceparent, delivery.redelivered]);
        if (received.length === 1) throw new Error('the first delivery fails');
      });
      await bus.publish(command('traced'), { traceparent });
      await until(() => received.length === 2);
      await bus.publish(command('untraced'));
      await until(() => received.length === 3);
      expect(received).toEqual([
        ['traced', traceparent, false],
        ['traced', traceparent, true],
        ['untraced', undefined, false],
      ]);
    });

    test('rejects messages that do not match the schema', async () => {
      const broken = { ...command('a'), data: { videoId: 'a' } } as Message;
      await expect(bus.publish(broken)).rejects.toThrow('workspaceId');
    });

    test('delivers at most `prefetch` messages at a time to a consumer', async () => {
      const running: (() => void)[] = [];
      let most = 0;
      let done = 0;
      await bus.consume(COMMANDS, { prefetch: 2 }, async () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        running.push(resolve);
        most = Math.max(most, running.length);
        await promise;
        done += 1;
      });
      for (const id of ['a', 'b', 'c', 'd', 'e']) await bus.publish(command(id));

      for (let finished = 0; finished < 5; finished += 1) {
        await until(() => running.length === Math.min(2, 5 - finished));
        running.shift()?.();
        await until(() => done === finished + 1);
      }
      expect(most).toBe(2);
    });

    test('shares a queue between its consumers, each message to one', async () => {
      const taken: { consumer: number; videoId: string }[] = [];
      const { promise: bothBusy, resolve: release } = Promise.withResolvers<void>();
      for (const consumer of [1, 2]) {
        await bus.consume(COMMANDS, { prefetch: 1 }, async ({ data }) => {
          taken.push({ consumer, videoId: data.videoId });
          await bothBusy;
        });
      }

      await bus.publish(command('a'));
      await bus.publish(command('b'));

      await until(() => taken.length === 2);
      release();
      expect(taken.map(({ consumer }) => consumer).sort()).toEqual([1, 2]);
      expect(taken.map(({ videoId }) => videoId).sort()).toEqual(['a', 'b']);
    });

    test('redelivers a rejected message and marks it as redelivered', async () => {
      const deliveries: { id: string; redelivered: boolean }[] = [];
      await bus.consume(COMMANDS, { prefetch: 1 }, async ({ id }, { redelivered }) => {
        deliveries.push({ id, redelivered });
        if (deliveries.length < 3) throw new Error('not now');
      });
      const sent = command('a');

      await bus.publish(sent);

      await until(() => deliveries.length === 3);
      expect(deliveries).toEqual([
        { id: sent.id, redelivered: false },
        { id: sent.id, redelivered: true },
        { id: sent.id, redelivered: true },
      ]);
    });

    test('dead-letters a message after its last delivery and continues with the next', async () => {
      const deliveries = new Map<string, number>();
      await bus.consume(COMMANDS, { prefetch: 1 }, async ({ data }) => {
        deliveries.set(data.videoId, (deliveries.get(data.videoId) ?? 0) + 1);
        if (data.videoId === 'poison') throw new Error('never');
      });
      const poison = command('poison');

      await bus.publish(poison);
      await bus.publish(command('fine'));

      await until(async () => (await subject.deadLetters(COMMANDS)).length > 0);
      expect(await subject.deadLetters(COMMANDS)).toEqual([poison]);
      expect(deliveries.get('poison')).toBe(DELIVERY_LIMIT);
      await until(() => deliveries.get('fine') === 1);
    });

    test('dead-letters an unprocessable message after its first delivery', async () => {
      let deliveries = 0;
      await bus.consume(COMMANDS, { prefetch: 1 }, async () => {
        deliveries += 1;
        throw new UnprocessableMessageError('makes no sense');
      });
      const sent = command('a');

      await bus.publish(sent);

      await until(async () => (await bus.countDeadLetters(COMMANDS)) > 0);
      expect([await bus.countDeadLetters(COMMANDS), await bus.countDeadLetters(EVENTS)]).toEqual([1, 0]);
      expect(await subject.deadLetters(COMMANDS)).toEqual([sent]);
      expect(deliveries).toBe(1);
    });

    test('a stopping consumer finishes its messages and takes no more', async () => {
      const handled: string[] = [];
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      let started = false;
      const consumer = await bus.consume(COMMANDS, { prefetch: 1 }, async ({ data }) => {
        started = true;
        await gate;
        handled.push(data.videoId);
      });
      await bus.publish(command('in progress'));
      await bus.publish(command('waiting'));
      await until(() => started);
      expect(await bus.countWaiting(COMMANDS)).toBe(1);

      let stopped = false;
      const stopping = consumer.stop().then(() => {
        stopped = true;
      });
      await bus.publish(command('late'));
      expect(stopped).toBe(false);
      open();
      await stopping;
      expect(handled).toEqual(['in progress']);

      await bus.consume(COMMANDS, { prefetch: 1 }, async ({ data }) => void handled.push(data.videoId));
      await until(() => handled.length === 3);
      expect(handled.sort()).toEqual(['in progress', 'late', 'waiting']);
    });

    test('closes once the handlers in progress have settled; later calls reject', async () => {
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      let state: 'idle' | 'busy' | 'done' = 'idle';
      await bus.consume(COMMANDS, { prefetch: 1 }, async () => {
        state = 'busy';
        await gate;
        state = 'done';
      });
      await expect(bus.check()).resolves.toBeUndefined();
      await bus.publish(command('a'));
      await until(() => state === 'busy');

      let closed = false;
      const closing = bus.close().then(() => {
        closed = true;
      });
      await expect(bus.check()).rejects.toThrow();
      expect(closed).toBe(false);
      open();
      await closing;

      expect(state).toBe('done');
      await expect(bus.publish(command('b'))).rejects.toThrow();
      await expect(bus.consume(COMMANDS, { prefetch: 1 }, async () => {})).rejects.toThrow();
    });
  });
}
