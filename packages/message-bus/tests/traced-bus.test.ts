import { createMessage, type Message } from '@framelane/contracts/messages';
import { createLogger } from '@framelane/service-kit/logger';
import { OtlpTracing } from '@framelane/service-kit/otlp-tracing';
import { activeTraceparent, inEntrySpan } from '@framelane/service-kit/tracing';
import { OtlpReceiver, type ReceivedSpan } from '@framelane/test-kit/otlp-receiver';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { InProcessBus } from '../src/in-process-bus.ts';
import type { MessageBus } from '../src/message-bus.ts';
import { traced } from '../src/traced-bus.ts';
import { command, event } from './message-bus.contract.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

let receiver: OtlpReceiver;
let tracing: OtlpTracing;
let plain: MessageBus;
let bus: MessageBus;
beforeEach(async () => {
  receiver = await OtlpReceiver.start();
  const settings = { url: `${receiver.url}/v1/traces`, sampler: 'parentbased_always_on', ratio: 1 } as const;
  tracing = new OtlpTracing('test', settings, logger);
  plain = new InProcessBus({ logger, redeliveryDelayMs: 1 });
  bus = traced(plain, tracing);
});
afterEach(async () => {
  await plain.close();
  await receiver.stop();
});

const inTrace = (work: () => Promise<void>) => inEntrySpan(tracing, 'request', {}, work);

async function exported(): Promise<ReceivedSpan[]> {
  await tracing.stop();
  return receiver.spans;
}

test('without tracing, the bus is used as it is', () => {
  expect(traced(plain, undefined)).toBe(plain);
});

test('each delivery of a message has a span below that of its publisher', async () => {
  let deliveries = 0;
  await bus.consume('engine.commands', { prefetch: 1 }, async () => {
    deliveries += 1;
    if (deliveries === 1) throw new Error('the first delivery fails');
  });
  const sent = command('vid');
  await inTrace(() => bus.publish(sent));
  await until(() => deliveries === 2);
  await plain.close();
  const spans = await exported();
  const [request] = spans.filter(({ name }) => name === 'request');
  const [send] = spans.filter(({ name }) => name === 'send engine.commands');
  const handled = spans.filter(({ name }) => name === 'process engine.commands');
  expect(send).toMatchObject({ parentSpanId: request?.spanId, kind: 'producer' });
  expect(handled).toMatchObject(
    [false, true].map((redelivered) => ({
      traceId: request?.traceId,
      parentSpanId: send?.spanId,
      kind: 'consumer',
      isError: !redelivered,
      attributes: {
        'messaging.system': 'in_process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': 'engine.commands',
        'messaging.message.id': sent.id,
        'framelane.message.redelivered': redelivered,
        'framelane.video.id': 'vid',
      },
    })),
  );
});

test('a message without a trace begins one, and an invalid traceparent is ignored', async () => {
  const traces: (string | undefined)[] = [];
  await bus.consume('engine.commands', { prefetch: 1 }, async () => void traces.push(activeTraceparent()));
  await plain.publish(command('a'));
  await plain.publish(command('b'), { traceparent: 'invalid' });
  await until(() => traces.length === 2);
  const spans = await exported();
  expect(spans.map(({ parentSpanId }) => parentSpanId)).toEqual(['', '']);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
});

test('messages that renew leases have no span, and their handlers are outside of traces', async () => {
  const handled: Message[] = [];
  const traces: (string | undefined)[] = [];
  await bus.consume('control-plane.events', { prefetch: 1 }, async (message) => {
    handled.push(message);
    traces.push(activeTraceparent());
  });
  const taskTry = { videoId: 'vid', attempt: 1, task: 0, try: 1 };
  const progress = createMessage('task.progress', { ...taskTry, fraction: 0.5, startedRenditions: {} });
  await inTrace(async () => {
    await bus.publish(event('vid'));
    await bus.publish(progress);
  });
  expect(handled).toHaveLength(2);
  expect(traces).toEqual([undefined, undefined]);
  expect((await exported()).map(({ name }) => name)).toEqual(['request']);
});

test('destinations of RabbitMQ are named by exchange, routing key and queue', async () => {
  const rabbitmq = Object.assign(plain, { kind: 'rabbitmq' });
  let isHandled = false;
  const onRabbitMq = traced(rabbitmq, tracing);
  await onRabbitMq.consume('engine.commands', { prefetch: 1 }, async () => {
    isHandled = true;
  });
  await inTrace(() => onRabbitMq.publish(command('vid')));
  await until(() => isHandled);
  await plain.close();
  const spans = await exported();
  expect(
    spans.map(({ name, attributes }) => [name, attributes['messaging.rabbitmq.destination.routing_key']]),
  ).toEqual(
    expect.arrayContaining([
      ['send framelane:plan', 'plan'],
      ['process framelane:plan:engine.commands', 'plan'],
    ]),
  );
});
