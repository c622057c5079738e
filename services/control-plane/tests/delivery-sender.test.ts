import { type AddressInfo, createServer, type Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, expect, test } from '@jest/globals';
import { DeliverySender } from '../src/webhooks/delivery-sender.ts';
import { readRanges } from '../src/webhooks/endpoint-addresses.ts';
import { EndpointGuard } from '../src/webhooks/endpoint-guard.ts';
import { HostNotFoundError, type ResolveHost, resolveHost } from '../src/webhooks/resolve-host.ts';
import { closedPort, Receiver, type Respond } from './support/receiver.ts';
import { CERTIFICATE, startTlsServer } from './support/tls-server.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function receiver(respond?: Respond): Promise<Receiver> {
  const started = await Receiver.start(respond);
  cleanups.push(() => started.stop());
  return started;
}

function sender(settings: { resolve?: ResolveHost; allow?: string; timeoutSeconds?: number } = {}) {
  const { resolve = resolveHost, allow = '127.0.0.0/8', timeoutSeconds = 10 } = settings;
  const guard = new EndpointGuard({ allowedRanges: readRanges(allow) ?? [], resolveHost: resolve });
  return new DeliverySender({ guard, timeoutSeconds });
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
    'a status there is not',
    (res) => res.socket?.end('HTTP/1.1 042 Odd\r\nContent-Length: 0\r\n\r\n'),
    { failure: 'unexpected_status', responseStatus: 42 },
  ],
  ['a cut connection', (res) => res.destroy(), { failure: 'connection_failed', responseStatus: null }],
  ['no HTTP', (res) => res.socket?.end('hello\r\n'), { failure: 'connection_failed', responseStatus: null }],
  [
    'headers without end',
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
  const { url, received } = await receiver(respond);
  expect(await sender().send(message(url))).toMatchObject(outcome);
  expect(received).toHaveLength(1);
});

test('an endpoint that does not respond in time', async () => {
  const { url } = await receiver(() => {});
  const attempt = await sender({ timeoutSeconds: 0.2 }).send(message(url));
  expect(attempt).toMatchObject({ failure: 'timeout', responseStatus: null });
  expect(attempt?.durationMs).toBeGreaterThanOrEqual(190);
});

test('an endless response counts by its status', async () => {
  const { url } = await receiver((res) => void res.writeHead(202).write('…'));
  expect(await sender({ timeoutSeconds: 0.2 }).send(message(url))).toMatchObject({
    failure: null,
    responseStatus: 202,
  });
});

test('a huge response is not read to its end', async () => {
  let written = 0;
  const { url } = await receiver((res) => {
    res.writeHead(200);
    const pour = () => {
      while (!res.destroyed && res.write(Buffer.alloc(65_536))) written += 65_536;
    };
    res.on('drain', pour);
    pour();
  });
  const attempt = await sender().send(message(url));
  expect(attempt).toMatchObject({ failure: null, responseStatus: 200 });
  // The kernel's buffers of a connection.
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test('a closed port', async () => {
  const url = `http://127.0.0.1:${await closedPort()}/`;
  expect(await sender().send(message(url))).toMatchObject({ failure: 'connection_refused' });
});

test('an interrupted attempt has no result, and no other starts', async () => {
  const { url, received } = await receiver(() => interrupted.interrupt());
  const interrupted = sender();
  expect(await interrupted.send(message(url))).toBeNull();
  expect(await interrupted.send(message(url))).toBeNull();
  expect(received).toHaveLength(1);
});

test('the name is resolved for every connection, and those addresses are used', async () => {
  const { port, received } = await receiver();
  const lookups = [['127.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['169.254.169.254'], ['127.0.0.2', '127.0.0.1']];
  const asked: string[] = [];
  const outcomes: unknown[] = [];
  const changing = sender({
    resolve: async (hostname) => {
      asked.push(hostname);
      return lookups[asked.length - 1] ?? [];
    },
  });
  for (const _ of lookups) {
    outcomes.push((await changing.send(message(`http://hooks.example:${port}/`)))?.failure);
  }
  // Only the endpoint at 127.0.0.1 has this port; with two addresses it is tried second.
  expect(outcomes).toEqual([null, 'address_not_allowed', 'address_not_allowed', null]);
  expect(asked).toEqual(Array(4).fill('hooks.example'));
  expect(received.map(({ headers }) => headers.host)).toEqual(Array(2).fill(`hooks.example:${port}`));
});

test('a name without an address, or without one in time', async () => {
  const url = 'https://hooks.example/';
  const unknown = sender({ resolve: () => Promise.reject(new HostNotFoundError('unknown')) });
  expect(await unknown.send(message(url))).toMatchObject({ failure: 'host_not_found' });
  const silent = sender({
    timeoutSeconds: 0.2,
    resolve: (_hostname, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new HostNotFoundError('late'))),
      ),
  });
  expect(await silent.send(message(url))).toMatchObject({ failure: 'timeout' });
});

test('there is no connection to an address that is no longer allowed', async () => {
  const { url, received } = await receiver();
  expect(await sender({ allow: '10.0.0.0/8' }).send(message(url))).toMatchObject({
    failure: 'address_not_allowed',
  });
  expect(received).toEqual([]);
});

test('localhost resolves without a name server', async () => {
  const { port, received } = await receiver();
  const both = sender({ allow: '127.0.0.0/8,::1/128' });
  expect(await both.send(message(`http://localhost:${port}/`))).toMatchObject({ failure: null });
  expect(await both.send(message(`http://hooks.localhost.:${port}/`))).toMatchObject({ failure: null });
  expect(received).toHaveLength(2);
});

test('an untrusted certificate', async () => {
  const server = await startTlsServer();
  cleanups.push(server.stop);
  expect(await sender().send(message(`https://127.0.0.1:${server.port}/`))).toMatchObject({
    failure: 'tls_failed',
  });
  expect(server.requests).toBe(0);
});

test('a trusted certificate, which must be for this name', async () => {
  const server = await startTlsServer();
  cleanups.push(server.stop);
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, CERTIFICATE]);
  cleanups.push(async () => setDefaultCACertificates(trusted));
  const named = sender({ resolve: async () => ['127.0.0.1'] });
  const to = (host: string) => named.send(message(`https://${host}:${server.port}/`));
  expect(await to('hooks.example')).toMatchObject({ failure: null, responseStatus: 204 });
  expect(await to('127.0.0.1')).toMatchObject({ failure: null });
  expect(await to('other.example')).toMatchObject({ failure: 'tls_failed' });
  expect(server.requests).toBe(2);
});

test('https to a port without TLS', async () => {
  const { port } = await receiver();
  const url = `https://127.0.0.1:${port}/`;
  expect(await sender().send(message(url))).toMatchObject({ failure: 'tls_failed' });
});

test('a server that closes the connection before it responds', async () => {
  const server = createServer((socket) => socket.destroy());
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  const url = `http://127.0.0.1:${await portOf(server)}/`;
  expect(await sender().send(message(url))).toMatchObject({ failure: 'connection_failed' });
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
