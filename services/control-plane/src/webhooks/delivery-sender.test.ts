import { AddressGuard } from '@framelane/address-guard/address-guard';
import { readRanges } from '@framelane/address-guard/address-ranges';
import { type ResolveHost, resolveHost } from '@framelane/address-guard/resolve-host';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Respond, TestEndpoint } from '../../tests/support/test-endpoint.ts';
import { DeliverySender } from './delivery-sender.ts';

const endpoints: TestEndpoint[] = [];
afterEach(async () => {
  await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.stop()));
});

async function startEndpoint(respond?: Respond): Promise<TestEndpoint> {
  const endpoint = await TestEndpoint.start(respond);
  endpoints.push(endpoint);
  return endpoint;
}

function createSender(resolve: ResolveHost = resolveHost, timeoutSeconds = 10) {
  const allowedRanges = readRanges('127.0.0.0/8') ?? [];
  const guard = new AddressGuard({ allowedRanges, publicProtocols: ['https:'], resolveHost: resolve });
  return new DeliverySender({ guard, timeoutSeconds, clock: { now: () => new Date() } });
}

const event = (url: string) => ({ url, id: 'evt_1', body: '{"a":1}', secrets: [Buffer.alloc(32)] });

/** The result of an attempt to an endpoint that responds like this. */
async function resultOf(respond: Respond) {
  const { url } = await startEndpoint(respond);
  return createSender().send(event(url));
}

describe('a request', () => {
  test('has the event and its headers; the result has these headers without the signature', async () => {
    const { url, received } = await startEndpoint();
    const result = await createSender().send(event(url));
    const shown = {
      'content-type': 'application/json',
      'user-agent': 'Framelane-Webhooks/1.0',
      'webhook-id': 'evt_1',
      'webhook-timestamp': expect.stringMatching(/^\d+$/),
    };
    expect(result?.requestHeaders).toEqual(shown);
    const [request] = received;
    expect(request).toMatchObject({ path: '/hooks', body: '{"a":1}' });
    expect(request?.headers).toMatchObject({
      ...shown,
      'webhook-signature': expect.stringMatching(/^v1,/),
      connection: 'close',
    });
  });

  test('does not begin after an interruption, and neither does the lookup of its host', async () => {
    let lookups = 0;
    const sender = createSender(async () => {
      lookups += 1;
      return ['127.0.0.1'];
    });
    sender.interrupt();
    expect(await sender.send(event('http://hooks.example/'))).toBeNull();
    expect(lookups).toBe(0);
  });

  test('does not begin if the lookup ends after the timeout', async () => {
    const late: ResolveHost = (_, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(['127.0.0.1'])));
    expect(await createSender(late, 0.05).send(event('http://hooks.example/'))).toMatchObject({
      failure: 'timeout',
      requestHeaders: null,
    });
  });

  test('has a duration that is not longer than the attempt', async () => {
    const { url } = await startEndpoint();
    const startMs = performance.now();
    const result = await createSender().send(event(url));
    expect(result?.durationMs).toBeLessThanOrEqual(Math.ceil(performance.now() - startMs));
  });
});

describe('the result', () => {
  test('has the pause that the endpoint requests', async () => {
    const result = await resultOf((res) => res.writeHead(503, { 'Retry-After': '120' }).end());
    expect(result).toMatchObject({ responseStatus: 503, retryAfterSeconds: 120 });
  });

  test('has all parts of a short body', async () => {
    const result = await resultOf((res) => {
      // Later, so that the sender gets two parts.
      res.write('first, ', () => setImmediate(() => setImmediate(() => res.end('second'))));
    });
    expect(result?.responseBody).toBe('first, second');
  });

  test('has the first 1024 bytes of a long body, without an incomplete character at their end', async () => {
    const text = 'x'.repeat(1023);
    expect((await resultOf((res) => res.end(`${text}yz`)))?.responseBody).toBe(`${text}y`);
    expect((await resultOf((res) => res.end(`${text}é`)))?.responseBody).toBe(text);
  });

  test('has no NUL, which PostgreSQL does not store', async () => {
    expect((await resultOf((res) => res.end('a\0b\0')))?.responseBody).toBe('a\uFFFDb\uFFFD');
  });
});
