import { once } from 'node:events';
import { Agent, createServer, get, type IncomingHttpHeaders } from 'node:http';
import { afterEach, expect, jest, test } from '@jest/globals';
import { assertPortFree, closeServer, listen } from './http-server.ts';
import { SettingsError } from './settings.ts';

const servers: ReturnType<typeof createServer>[] = [];
afterEach(async () => {
  // A closing server that a failed test left behind would keep the process running.
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.splice(0).map((server) => closeServer(server, 0)));
});

function server(handler: Parameters<typeof createServer>[1] = () => {}) {
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
