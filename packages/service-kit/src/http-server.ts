import { AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { SettingsError } from './settings.ts';

/** Where a server listens, and the environment variable that sets the port. */
export type ListenAddress = { host: string; port: number; variable: string };

/**
 * How long a connection may be idle. It is longer than the idle time of proxies (60 s or less for HAProxy, nginx and
 * AWS), so that the proxy closes the connection. If the server closed it, a request that the proxy sends at that moment
 * would fail.
 */
const KEEP_ALIVE_MS = 75_000;

/** How often a closing server closes connections that have become idle. */
const CLOSING_CHECK_MS = 50;

/** How many requests of a connection may wait while an earlier one is in progress. */
const MAX_WAITING = 16;

/**
 * Creates a server that handles the requests of a connection one after another. Clients may send requests without waiting for responses
 * (RFC 9112 §9.3.2). Node would handle all of them at once, and keep the responses in memory until the client reads them. Here a few
 * requests wait, and a connection with more is closed. `app` writes "100 Continue" itself if `writesContinue` is set.
 */
export function createHttpServer(
  app: RequestListener,
  { writesContinue = false, ...options }: ServerOptions & { writesContinue?: boolean } = {},
): Server {
  const server = createServer(options, oneAtATime(app));
  if (writesContinue) server.on('checkContinue', oneAtATime(app));
  // Node would respond with the same status at once.
  return server.on(
    'checkExpectation',
    oneAtATime((_req, res) => res.writeHead(417).end()),
  );
}

/** The waiting requests of the connections that have a request in progress. */
const waitingRequests = new WeakMap<Socket, (() => void)[]>();

function oneAtATime(handle: RequestListener): RequestListener {
  return (req, res) => {
    const { socket } = req;
    const start = () => {
      res.once('close', () => startNext(socket));
      handle(req, res);
    };
    const waiting = waitingRequests.get(socket);
    if (waiting === undefined) {
      waitingRequests.set(socket, []);
      start();
    } else if (waiting.length < MAX_WAITING)
      // It starts when the request before it ends, but belongs to another trace.
      waiting.push(AsyncResource.bind(start));
    else socket.destroy();
  };
}

function startNext(socket: Socket): void {
  const start = waitingRequests.get(socket)?.shift();
  if (start === undefined) waitingRequests.delete(socket);
  // The latest response can have closed the connection.
  else if (socket.writable) start();
}

/**
 * Listens, and resolves with the port (useful with 0). Throws a SettingsError that names the variable if the port is
 * taken.
 */
export async function listen(server: Server, { host, port, variable }: ListenAddress): Promise<number> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new SettingsError(
        `Port ${port} on ${host} is taken by another program. Set ${variable} to a free port.`,
      );
    }
    if (code === 'EACCES') {
      throw new SettingsError(
        `Port ${port} on ${host} needs root privileges. Set ${variable} to a port above 1023.`,
      );
    }
    throw error;
  }
  return (server.address() as AddressInfo).port;
}

/** Throws what `listen` would throw, for a process that does much before it listens. */
export async function assertPortFree(address: ListenAddress): Promise<void> {
  const server = createServer();
  await listen(server, address);
  await closeServer(server, 0);
}

/**
 * Accepts no new connections and closes idle ones, both at once. Aborts the requests that have not ended `graceMs` after
 * `work` has settled.
 */
export async function closeServer(
  server: Server,
  graceMs: number,
  work: Promise<unknown> = Promise.resolve(),
): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Node would keep a connection whose request has just finished open for KEEP_ALIVE_MS.
  const closing = setInterval(() => server.closeIdleConnections(), CLOSING_CHECK_MS);
  await Promise.race([closed, work]);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(closing);
  clearTimeout(timer);
}
