import { once } from 'node:events';
import { Agent, createServer, get, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { assertPortFree, closeServer, createHttpServer, listen } from './http-server.ts';
import { SettingsError } from './settings.ts';
import { activeTraceparent, inSpan, type Span, type Tracing } from './tracing.ts';

const servers: ReturnType<typeof createServer>[] = [];
afterEach(async () => {
  // A closing server that a failed test left behind would keep the process running.
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.splice(0).map((server) => closeServer(server, 0)));
});

function server(handler: RequestListener = () => {}) {
  const created = createServer(handler);
  servers.push(created);
  return created;
}

test('names the variable when the port is taken', async () => {
  const port = await listen(server(), { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const second = listen(server(), { host: '127.0.0.1', port, variable: 'ENGINE_PORT' });
  await expect(second).rejects.toThrow(SettingsError);
  await expect(second).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is taken by another program. Set ENGINE_PORT`,
  );
});

test('a port is taken while a server listens on it, and free after the server has closed', async () => {
  const subject = server();
  const port = await listen(subject, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const address = { host: '127.0.0.1', port, variable: 'ENGINE_PORT' };
  await expect(assertPortFree(address)).rejects.toThrow('is taken by another program. Set ENGINE_PORT');
  await closeServer(subject, 0);
  await assertPortFree(address);
  await listen(server(), address);
});

test('keeps idle connections longer than proxies do, and closes them when the server closes', async () => {
  const { promise: received, resolve: onReceived } = Promise.withResolvers<void>();
  const { promise: go, resolve: respond } = Promise.withResolvers<void>();
  const subject = server((req, res) => {
    if (req.url !== '/slow') return void res.end('done');
    onReceived();
    void go.then(() => res.end('done'));
  });
  const port = await listen(subject, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const agent = new Agent({ keepAlive: true });
  const idle = await exchange(port, agent, '/');
  expect(idle).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=75' });
  // Longer than the time limit of a test, so that neither an idle timeout nor the end of the grace period closes the connections.
  // The timeout of an idle connection is that of its latest response.
  const hourMs = 3_600_000;
  subject.keepAliveTimeout = hourMs;
  await exchange(port, agent, '/');
  const slow = exchange(port, new Agent({ keepAlive: true }), '/slow');
  await received;
  const closed = closeServer(subject, hourMs);
  respond();
  await slow;
  await closed;
});

/** The headers of the response to a request on a kept-alive connection. */
async function exchange(port: number, agent: Agent, path: string): Promise<IncomingHttpHeaders> {
  const [response] = await once(get({ host: '127.0.0.1', port, path, agent }), 'response');
  response.resume();
  await once(response, 'end');
  return response.headers;
}

test('closing waits for a request in progress, and aborts one that never finishes', async () => {
  const { promise: received, resolve: onReceived } = Promise.withResolvers<void>();
  const { promise: go, resolve: respond } = Promise.withResolvers<void>();
  let requests = 0;
  const subject = server((req, res) => {
    requests += 1;
    if (requests === 2) onReceived();
    if (req.url === '/slow') void go.then(() => res.end('done'));
  });
  const port = await listen(subject, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const slow = fetch(`http://127.0.0.1:${port}/slow`).then((response) => response.text());
  const stuck = fetch(`http://127.0.0.1:${port}/stuck`);
  stuck.catch(() => {});
  await received;
  const closed = closeServer(subject, 300);
  respond();
  expect(await slow).toBe('done');
  await expect(stuck).rejects.toThrow();
  await closed;
});

test('closing aborts no request while work is in progress', async () => {
  const { promise: received, resolve: onReceived } = Promise.withResolvers<void>();
  const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
  const subject = server(() => onReceived());
  const port = await listen(subject, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const stuck = expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  await received;
  const abort = jest.spyOn(subject, 'closeAllConnections');
  const closed = closeServer(subject, 0, work);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  // Timers fire in the order of their deadlines, so a grace period of 0 ms that has begun with the call is over.
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(abort).not.toHaveBeenCalled();
  endWork();
  await Promise.all([stuck, closed]);
});

describe('requests that a client sends without waiting for responses', () => {
  /** Connects to a server with this handler. */
  async function connectTo(handler: RequestListener, options?: Parameters<typeof createHttpServer>[1]) {
    const subject = createHttpServer(handler, options);
    servers.push(subject);
    const port = await listen(subject, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    const socket = connect(port, '127.0.0.1');
    // The server may reset the connection.
    socket.on('error', () => {});
    await once(socket, 'connect');
    return { socket, port };
  }

  const head = (line: string, ...headers: string[]) =>
    [`${line} HTTP/1.1`, 'Host: framelane', ...headers, '', ''].join('\r\n');
  const LAST = head('GET /last', 'Connection: close');

  test('are handled one after another, in order', async () => {
    let inProgress = 0;
    const { socket } = await connectTo((req, res) => {
      inProgress += 1;
      // Later than the other requests arrive.
      setImmediate(() => {
        inProgress -= 1;
        res.end(`${req.method} ${req.url} beside ${inProgress};`);
      });
    });
    const paths = Array.from({ length: 15 }, (_, index) => `/${index}`);
    socket.write(head('HEAD /head') + paths.map((path) => head(`GET ${path}`)).join('') + LAST);
    expect((await text(socket)).match(/\w+ \/\w+ beside \d+/g)).toEqual(
      [...paths, '/last'].map((path) => `GET ${path} beside 0`),
    );
  });

  test('are in no trace of an earlier request of the connection', async () => {
    const span: Span = { traceparent: '00-trace-span-01', set: () => {}, fail: () => {}, end: () => {} };
    const tracing: Tracing = { start: () => span, stop: async () => {} };
    const { socket } = await connectTo((req, res) => {
      const before = String(activeTraceparent());
      inSpan(tracing, span, () => setImmediate(() => res.end(`${req.url} in ${before};`)));
    });
    const received: string[] = [];
    const closed = once(socket, 'close');
    socket.setEncoding('utf8').on('data', (data: string) => {
      received.push(...(data.match(/\/\w+ in \w+/g) ?? []));
      if (received.at(-1)?.startsWith('/waiting')) socket.write(head('GET /later') + LAST);
    });
    socket.write(head('GET /first') + head('GET /waiting'));
    await closed;
    expect(received).toEqual(['/first', '/waiting', '/later', '/last'].map((path) => `${path} in undefined`));
  });

  test('close the connection when more than 16 wait', async () => {
    let handled = 0;
    const { socket } = await connectTo(() => {
      handled += 1;
    });
    socket.resume().write(head('GET /').repeat(100));
    await once(socket, 'close');
    expect(handled).toBe(1);
  });

  test('wait until the client reads the response', async () => {
    const body = Buffer.alloc(16 * 2 ** 20);
    let handled = 0;
    const { socket, port } = await connectTo((_req, res) => {
      handled += 1;
      res.end(body);
    });
    socket.pause().write(head('GET /') + LAST);
    await exchange(port, new Agent(), '/another');
    expect(handled).toBe(2);
    socket.resume();
    await once(socket, 'close');
    expect(handled).toBe(3);
  });

  test('are read after a body that the handler ignores', async () => {
    const { socket } = await connectTo((req, res) => res.end(`${req.url};`));
    socket.write(head('POST /early', 'Content-Length: 100000') + 'x'.repeat(100_000) + LAST);
    expect((await text(socket)).match(/\/\w+;/g)).toEqual(['/early;', '/last;']);
  });

  test('can have bodies', async () => {
    const { socket } = await connectTo(async (req, res) => res.end(`${(await text(req)).length};`));
    const upload = (length: number) => head('POST /', `Content-Length: ${length}`) + 'x'.repeat(length);
    socket.write(upload(100_000) + upload(200_000) + upload(3) + LAST);
    expect((await text(socket)).match(/\d+;/g)).toEqual(['100000;', '200000;', '3;', '0;']);
  });

  test.each([true, false])('can expect "100 Continue" (writesContinue: %s)', async (writesContinue) => {
    const { socket } = await connectTo(
      (req, res) => {
        if (writesContinue && req.headers.expect !== undefined) res.writeContinue();
        res.end();
      },
      { writesContinue },
    );
    socket.write(`${head('GET /') + head('POST /', 'Expect: 100-continue', 'Content-Length: 1')}x${LAST}`);
    expect((await text(socket)).match(/(?<=HTTP\/1.1 )\d+/g)).toEqual(['200', '100', '200', '200']);
  });

  test('get 417 for another expectation, and are limited as well', async () => {
    const { socket } = await connectTo((_req, res) => res.end('done'));
    const strange = head('GET /', 'Expect: a miracle');
    socket.write(strange + head('GET /', 'Upgrade: websocket', 'Connection: Upgrade'));
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
      if (received.endsWith('done')) socket.write(strange.repeat(100));
    });
    await once(socket, 'close');
    expect(received).toMatch(/^HTTP\/1.1 417 [\s\S]*HTTP\/1.1 200 [\s\S]*done/);
    expect(received.match(/417/g)?.length).toBeLessThan(50);
  });

  test('are not handled after a response that closes the connection', async () => {
    let handled = 0;
    const { socket } = await connectTo((_req, res) => {
      handled += 1;
      res.setHeader('Connection', 'close').end('last');
    });
    socket.write(head('GET /') + head('DELETE /'));
    expect(await text(socket)).toMatch(/last$/);
    expect(handled).toBe(1);
  });
});
