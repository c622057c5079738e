import { type AddressInfo, createServer, type Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { AddressGuard } from '@framelane/address-guard/address-guard';
import { readRanges } from '@framelane/address-guard/address-ranges';
import { HostNotFoundError, type ResolveHost, resolveHost } from '@framelane/address-guard/resolve-host';
import { withEnvironmentProxy } from '@framelane/test-kit/environment-proxy';
import { CERTIFICATE, startTlsServer } from '@framelane/test-kit/tls-server';
import { afterEach, expect, test } from '@jest/globals';
import { DeliverySender } from '../src/webhooks/delivery-sender.ts';
import { closedPort, type Respond, TestEndpoint } from './support/test-endpoint.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function startEndpoint(respond?: Respond): Promise<TestEndpoint> {
  const started = await TestEndpoint.start(respond);
  cleanups.push(() => started.stop());
  return started;
}

function createSender(settings: { resolve?: ResolveHost; allow?: string; timeoutSeconds?: number } = {}) {
  const { resolve = resolveHost, allow = '127.0.0.0/8', timeoutSeconds = 10 } = settings;
  const guard = new AddressGuard({
    allowedRanges: readRanges(allow) ?? [],
    publicProtocols: ['https:'],
    resolveHost: resolve,
  });
  return new DeliverySender({ guard, timeoutSeconds, clock: { now: () => new Date() } });
}

const message = (url: string) => ({ url, id: 'evt_1', body: '{}', secrets: [Buffer.alloc(32)] });

test.each<[string, Respond, { failure: string | null; responseStatus: number | null }]>([
  ['201', (res) => res.writeHead(201).end('ok'), { failure: null, responseStatus: 201 }],
  ['299', (res) => res.writeHead(299).end(), { failure: null, responseStatus: 299 }],
  ['400', (res) => res.writeHead(400).end(), { failure: 'unexpected_status', responseStatus: 400 }],
  ['500', (res) => res.writeHead(500).end(), { failure: 'unexpected_status', responseStatus: 500 }],
  ['410', (res) => res.writeHead(410).end(), { failure: 'gone', responseStatus: 410 }],
  [
    'a redirect',
    (res, _nth, req) => res.writeHead(307, { Location: `http://${req.headers.host}/next` }).end(),
    { failure: 'redirected', responseStatus: 307 },
  ],
  [
    'another protocol',
    (res) => res.socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    { failure: 'connection_failed', responseStatus: null },
  ],
  [
    'an undefined status code',
    (res) => res.socket?.end('HTTP/1.1 042 Odd\r\nContent-Length: 0\r\n\r\n'),
    { failure: 'unexpected_status', responseStatus: 42 },
  ],
  ['a closed connection', (res) => res.destroy(), { failure: 'connection_failed', responseStatus: null }],
  [
    'something other than HTTP',
    (res) => res.socket?.end('hello\r\n'),
    { failure: 'connection_failed', responseStatus: null },
  ],
  [
    'too many headers',
    (res) => res.socket?.end(`HTTP/1.1 200 OK\r\n${'X-Padding: x\r\n'.repeat(20_000)}`),
    { failure: 'connection_failed', responseStatus: null },
  ],
  [
    'a truncated response',
    (res) => {
      res.writeHead(200, { 'Content-Length': 1000 });
      res.write('half', () => res.destroy());
    },
    { failure: null, responseStatus: 200 },
  ],
])('an endpoint that responds with %s', async (_, respond, outcome) => {
  const { url, received } = await startEndpoint(respond);
  expect(await createSender().send(message(url))).toMatchObject(outcome);
  expect(received).toHaveLength(1);
});

test('an endpoint that does not respond before the timeout', async () => {
  const { url } = await startEndpoint(() => {});
  const attempt = await createSender({ timeoutSeconds: 0.2 }).send(message(url));
  expect(attempt).toMatchObject({ failure: 'timeout', responseStatus: null });
  expect(attempt?.durationMs).toBeGreaterThanOrEqual(190);
});

test('the status decides the outcome of a response that does not end', async () => {
  const { url } = await startEndpoint((res) => void res.writeHead(202).write('…'));
  expect(await createSender({ timeoutSeconds: 0.2 }).send(message(url))).toMatchObject({
    failure: null,
    responseStatus: 202,
  });
});

test('a huge response is not read completely', async () => {
  let written = 0;
  const { url } = await startEndpoint((res) => {
    res.writeHead(200);
    const writeMore = () => {
      while (!res.destroyed && res.write(Buffer.alloc(65_536))) written += 65_536;
    };
    res.on('drain', writeMore);
    writeMore();
  });
  const attempt = await createSender().send(message(url));
  expect(attempt).toMatchObject({ failure: null, responseStatus: 200 });
  // The kernel buffers some of it.
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test('a port without a listener', async () => {
  const url = `http://127.0.0.1:${await closedPort()}/`;
  expect(await createSender().send(message(url))).toMatchObject({ failure: 'connection_refused' });
});

test('an interrupted attempt has no result, and no further attempt starts', async () => {
  const { url, received } = await startEndpoint(() => interrupted.interrupt());
  const interrupted = createSender();
  expect(await interrupted.send(message(url))).toBeNull();
  expect(await interrupted.send(message(url))).toBeNull();
  expect(received).toHaveLength(1);
});

test('an event is sent without the proxy of the environment', async () => {
  const endpoint = await startEndpoint();
  const proxied = await withEnvironmentProxy(async () => {
    expect(await createSender().send(message(endpoint.url))).toMatchObject({ failure: null });
  });
  expect(proxied).toEqual([]);
});

test('the host name is resolved for every attempt, and the connection uses the checked addresses', async () => {
  const { port, received } = await startEndpoint();
  const resolved = [
    ['127.0.0.1'],
    ['127.0.0.1', '10.0.0.1'],
    ['169.254.169.254'],
    ['127.0.0.2', '127.0.0.1'],
  ];
  const lookups: string[] = [];
  const outcomes: unknown[] = [];
  const changing = createSender({
    resolve: async (hostname) => {
      lookups.push(hostname);
      return resolved[lookups.length - 1] ?? [];
    },
  });
  for (const _ of resolved) {
    outcomes.push((await changing.send(message(`http://hooks.example:${port}/`)))?.failure);
  }
  // Only 127.0.0.1 listens on this port. In the last lookup it is the second address.
  expect(outcomes).toEqual([null, 'address_not_allowed', 'address_not_allowed', null]);
  expect(lookups).toEqual(Array(4).fill('hooks.example'));
  expect(received.map(({ headers }) => headers.host)).toEqual(Array(2).fill(`hooks.example:${port}`));
});

test('a host name without an address, and a lookup without a response', async () => {
  const url = 'https://hooks.example/';
  const unknown = createSender({ resolve: () => Promise.reject(new HostNotFoundError('unknown')) });
  expect(await unknown.send(message(url))).toMatchObject({ failure: 'host_not_found' });
  const silent = createSender({
    timeoutSeconds: 0.2,
    resolve: (_hostname, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new HostNotFoundError('late'))),
      ),
  });
  expect(await silent.send(message(url))).toMatchObject({ failure: 'timeout' });
});

test('an address that is no longer allowed gets no request', async () => {
  const { url, received } = await startEndpoint();
  expect(await createSender({ allow: '10.0.0.0/8' }).send(message(url))).toMatchObject({
    failure: 'address_not_allowed',
  });
  expect(received).toEqual([]);
});

test('localhost resolves without a name server', async () => {
  const { port, received } = await startEndpoint();
  const both = createSender({ allow: '127.0.0.0/8,::1/128' });
  expect(await both.send(message(`http://localhost:${port}/`))).toMatchObject({ failure: null });
  expect(await both.send(message(`http://hooks.localhost.:${port}/`))).toMatchObject({ failure: null });
  expect(received).toHaveLength(2);
});

test('an untrusted certificate fails the attempt before the request', async () => {
  const server = await startTlsServer();
  cleanups.push(server.stop);
  expect(await createSender().send(message(`https://127.0.0.1:${server.port}/`))).toMatchObject({
    failure: 'tls_failed',
  });
  expect(server.requests).toBe(0);
});

test('a trusted certificate is valid only for its names', async () => {
  const server = await startTlsServer();
  cleanups.push(server.stop);
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, CERTIFICATE]);
  cleanups.push(async () => setDefaultCACertificates(trusted));
  const trusting = createSender({ resolve: async () => ['127.0.0.1'] });
  const to = (host: string) => trusting.send(message(`https://${host}:${server.port}/`));
  expect(await to('hooks.example')).toMatchObject({ failure: null, responseStatus: 204 });
  expect(await to('127.0.0.1')).toMatchObject({ failure: null });
  expect(await to('other.example')).toMatchObject({ failure: 'tls_failed' });
  expect(server.requests).toBe(2);
});

test('https at a port without TLS', async () => {
  const { port } = await startEndpoint();
  const url = `https://127.0.0.1:${port}/`;
  expect(await createSender().send(message(url))).toMatchObject({ failure: 'tls_failed' });
});

test('a server that closes the connection before it responds', async () => {
  const server = createServer((socket) => socket.destroy());
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  const url = `http://127.0.0.1:${await portOf(server)}/`;
  expect(await createSender().send(message(url))).toMatchObject({ failure: 'connection_failed' });
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
