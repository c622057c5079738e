import { DELIVERY_LIMIT } from '@framelane/contracts/topology';
import { createLogger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { InProcessBus } from '../src/in-process-bus.ts';
import { UnprocessableMessageError } from '../src/message-bus.ts';
import { command, event, messageBusContract } from './message-bus.contract.ts';

const COMMANDS = 'engine.commands';
const EVENTS = 'control-plane.events';

function silentLogger() {
  const logger = createLogger({ service: 'test' });
  logger.silent = true;
  return logger;
}

messageBusContract('InProcessBus', async () => {
  const bus = new InProcessBus({ logger: silentLogger(), redeliveryDelayMs: 1 });
  return {
    bus,
    deadLetters: async (queue) => bus.deadLetters(queue).latest.map(({ message }) => message),
    dispose: () => bus.close(),
  };
});

const logger = silentLogger();
let bus: InProcessBus;

beforeEach(() => {
  bus = new InProcessBus({ logger, redeliveryDelayMs: 1 });
});

afterEach(async () => {
  await bus.close();
  jest.restoreAllMocks();
});

test('resolves publish only when an event was handled', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let deliveries = 0;
  await bus.consume(EVENTS, { prefetch: 1 }, async () => {
    deliveries += 1;
    if (deliveries === 1) throw new Error('not now');
    await gate;
  });

  let confirmed = false;
  const publishing = bus.publish(event('a')).then(() => {
    confirmed = true;
  });
  await until(() => deliveries === 2);
  expect(confirmed).toBe(false);
  open();
  await publishing;
});

test('rejects publish with the cause when an event is dead-lettered', async () => {
  const cause = new UnprocessableMessageError('invalid');
  await bus.consume(EVENTS, { prefetch: 1 }, async () => {
    throw cause;
  });
  const sent = event('a');

  const refusal = await bus.publish(sent).catch((error: unknown) => error);

  expect(refusal).toBeInstanceOf(Error);
  expect((refusal as Error).message).toContain(sent.id);
  expect((refusal as Error).cause).toBe(cause);
});

test('rejects waiting events when it closes', async () => {
  const slow = new InProcessBus({ logger, redeliveryDelayMs: 60_000 });
  let deliveries = 0;
  await slow.consume(EVENTS, { prefetch: 1 }, async () => {
    deliveries += 1;
    throw new Error('not now');
  });
  const delayed = slow.publish(event('rejected once'));
  await until(() => deliveries === 1);
  const unread = bus.publish(event('unread'));
  const refusals = Promise.all([
    expect(delayed).rejects.toThrow('closed before'),
    expect(unread).rejects.toThrow('closed before'),
  ]);

  await Promise.all([slow.close(), bus.close()]);
  await refusals;
});

test('closes while a handler waits for an event of its own', async () => {
  let outcome = 'none';
  let started = false;
  await bus.consume(COMMANDS, { prefetch: 1 }, async () => {
    started = true;
    await bus.publish(event('nobody consumes')).catch(() => {
      outcome = 'refused';
    });
  });
  await bus.publish(command('a'));
  await until(() => started);

  await bus.close();

  expect(outcome).toBe('refused');
});

test('doubles the delay before each redelivery', async () => {
  const patient = new InProcessBus({ logger, redeliveryDelayMs: 10 });
  const times: number[] = [];
  await patient.consume(COMMANDS, { prefetch: 1 }, async () => {
    times.push(performance.now());
    throw new Error('never');
  });

  await patient.publish(command('a'));
  await until(() => patient.deadLetters(COMMANDS).total === 1);
  await patient.close();

  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(gaps).toHaveLength(DELIVERY_LIMIT - 1);
  // Timers may fire up to a millisecond early.
  gaps.forEach((gap, index) => {
    expect(gap).toBeGreaterThanOrEqual(10 * 2 ** index - 1);
  });
});

test('delivers other messages while one waits for its redelivery', async () => {
  const slow = new InProcessBus({ logger, redeliveryDelayMs: 60_000 });
  const handled: string[] = [];
  await slow.consume(COMMANDS, { prefetch: 1 }, async ({ data }) => {
    if (data.videoId === 'later') throw new Error('not now');
    handled.push(data.videoId);
  });

  await slow.publish(command('later'));
  await slow.publish(command('next'));

  await until(() => handled.length === 1);
  expect(handled).toEqual(['next']);
  await slow.close();
});

test('logs dead letters and keeps the latest hundred', async () => {
  const errors = jest.spyOn(logger, 'error');
  await bus.consume(COMMANDS, { prefetch: 10 }, async () => {
    throw new UnprocessableMessageError('invalid');
  });
  const sent = Array.from({ length: 103 }, (_, index) => command(`v${index}`));

  for (const message of sent) await bus.publish(message);
  await until(() => bus.deadLetters(COMMANDS).total === 103);

  const { latest } = bus.deadLetters(COMMANDS);
  expect(latest.map(({ message }) => message.id)).toEqual(sent.slice(3).map(({ id }) => id));
  expect(latest[0]).toMatchObject({ deliveries: 1, error: expect.any(UnprocessableMessageError) });
  expect(errors).toHaveBeenCalledTimes(103);
  expect(errors.mock.calls[0]).toEqual([
    'message.dead_lettered',
    expect.objectContaining({
      queue: 'engine.commands',
      deadLetterQueue: 'engine.commands.dead',
      messageId: sent[0]?.id,
      type: 'plan',
    }),
  ]);
});
