import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OtlpReceiver } from '@framelane/test-kit/otlp-receiver';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLogger, type Logger } from './logger.ts';
import { OtlpTracing } from './otlp-tracing.ts';
import type { TraceSettings } from './trace-settings.ts';
import { activeTraceparent, inEntrySpan, inSpan, withSpan } from './tracing.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SAMPLED = `00-${TRACE}-00f067aa0ba902b7-01`;
const UNSAMPLED = `00-${TRACE}-00f067aa0ba902b7-00`;

/** Spans that fill two batches. */
const MANY = 1100;

let receiver: OtlpReceiver;
beforeEach(async () => {
  receiver = await OtlpReceiver.start();
});
afterEach(() => receiver.stop());

function start(
  settings: Partial<TraceSettings> = {},
  logger: Logger = createLogger({ service: 'test', level: 'silent' }),
): OtlpTracing {
  const url = `${receiver.url}/v1/traces`;
  return new OtlpTracing('test', { url, sampler: 'parentbased_always_on', ratio: 1, ...settings }, logger);
}

/** A logger, and the names of the events at its levels `warn` and `info`. */
function recording(): { logger: Logger; logged: string[] } {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const logged: string[] = [];
  const log = (level: string, message: string) => {
    if (level !== 'debug') logged.push(activeTraceparent() === undefined ? message : 'in a trace');
  };
  Object.assign(logger, { log, info: (message: string) => log('info', message) });
  return { logger, logged };
}

test('exports spans with parents, links, attributes and the service', async () => {
  const tracing = start();
  const link = '00-11111111111111111111111111111111-2222222222222222-01';
  await inEntrySpan(tracing, 'entry', { kind: 'server', parent: SAMPLED, link }, (span) => {
    span?.set({ later: 2 });
    const attributes = { text: 'a', number: 1, isTrue: true, missing: undefined };
    return withSpan('child', { attributes }, async () => {});
  });
  await tracing.stop();
  const [child, entry] = receiver.spans;
  expect(entry).toMatchObject({
    traceId: TRACE,
    parentSpanId: '00f067aa0ba902b7',
    hasRemoteParent: true,
    attributes: { later: 2 },
    name: 'entry',
    kind: 'server',
    isError: false,
    links: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16) }],
    resource: {
      'service.name': 'framelane-test',
      'service.namespace': 'framelane',
      'telemetry.sdk.language': 'nodejs',
    },
  });
  expect(child).toMatchObject({
    traceId: TRACE,
    parentSpanId: entry?.spanId,
    hasRemoteParent: false,
    kind: 'internal',
    attributes: { text: 'a', number: 1, isTrue: true },
  });
  expect(receiver.requests[0]).toMatchObject({
    path: '/v1/traces',
    headers: { 'content-type': 'application/x-protobuf' },
  });
});

test('a failed span has the first code, and no message or stack', async () => {
  const tracing = start();
  const failing = inEntrySpan(tracing, 'entry', {}, async (span) => {
    span?.fail('disk_full');
    throw new Error('ENOSPC: /secret/path');
  });
  await expect(failing).rejects.toThrow();
  await tracing.stop();
  const expected = { isError: true, statusMessage: '', events: 0, attributes: { 'error.type': 'disk_full' } };
  expect(receiver.spans).toMatchObject([expected]);
});

test.each<[TraceSettings['sampler'], number, boolean, boolean, boolean]>([
  ['parentbased_always_on', 1, true, false, true],
  ['parentbased_always_off', 1, true, false, false],
  ['parentbased_traceidratio', 0, true, false, false],
  ['traceidratio', 0, false, false, false],
  ['always_on', 0, true, true, true],
  ['always_off', 1, false, false, false],
])('%s with %d: which spans are exported', async (sampler, ratio, ofSampled, ofUnsampled, ofNone) => {
  const tracing = start({ sampler, ratio });
  for (const [name, parent] of Object.entries({ ofSampled: SAMPLED, ofUnsampled: UNSAMPLED, ofNone: null }))
    await inEntrySpan(tracing, name, { parent }, () => withSpan('child', {}, async () => {}));
  await tracing.stop();
  const expected = Object.entries({ ofSampled, ofUnsampled, ofNone }).flatMap(([name, isExported]) =>
    isExported ? ['child', name] : [],
  );
  expect(receiver.spans.map(({ name }) => name)).toEqual(expected);
});

test('an outage of the collector is logged once, drops spans, and ends', async () => {
  const { logger, logged } = recording();
  const tracing = start({}, logger);
  const makeSpans = (count: number) => {
    for (let made = 0; made < count; made += 1) {
      const span = tracing.start('span', {});
      inSpan(tracing, span, () => span.end());
    }
  };
  receiver.status = 400;
  makeSpans(MANY);
  await until(() => receiver.requests.length >= 2);
  receiver.status = 200;
  makeSpans(MANY);
  await until(() => receiver.spans.length > 0);
  await tracing.stop();
  expect(logged).toEqual(['traces.not_exported', 'traces.exported_again']);
  expect(receiver.spans.length).toBeLessThan(2 * MANY);
});

test('a stop does not wait for a collector that never responds, and logs that spans are lost', async () => {
  const responses: ServerResponse[] = [];
  const silent = createServer((_req, res) => void responses.push(res)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address() as AddressInfo;
  const { logger, logged } = recording();
  const tracing = start({ url: `http://127.0.0.1:${address.port}/v1/traces` }, logger);
  tracing.start('span', {}).end();
  await tracing.stop();
  expect(responses).toHaveLength(1);
  expect(logged).toEqual(['traces.not_exported']);
  // Ends the export, which would go on for ten seconds.
  responses[0]?.writeHead(400).end();
  silent.close();
  await once(silent, 'close');
});
