import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SettingsError } from './settings.ts';

/** Where a server listens, and the variable a person changes when that place is taken. */
export type ListenAddress = { host: string; port: number; variable: string };

/**
 * How long a connection may be idle. Longer than proxies keep theirs to a server (60 s or less at HAProxy, nginx and AWS),
 * so that it is the proxy which closes one: a request that crosses with our close would fail.
 */
const KEEP_ALIVE_MS = 75_000;

/** How often connections that have become idle are closed while a server closes. */
const CLOSING_CHECK_MS = 50;

/** Listens and resolves with the port (useful with 0). A taken port is a SettingsError naming the variable. */
export async function listen(server: Server, { host, port, variable }: ListenAddress): Promise<number> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new SettingsError(
        `Port ${port} on ${host} is taken by another program. Set ${variable} to a free one.`,
      );
    }
    if (code === 'EACCES') {
      throw new SettingsError(`Port ${port} on ${host} may not be used. Set ${variable} to one above 1023.`);
    }
    throw error;
  }
  return (server.address() as AddressInfo).port;
}

/** Takes no new connections, lets requests under way finish for `graceMs`, then closes what is left. Idle ones end at once. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Node keeps a connection whose request finishes now for as long as any other.
  const closing = setInterval(() => server.closeIdleConnections(), CLOSING_CHECK_MS);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(closing);
  clearTimeout(timer);
}
