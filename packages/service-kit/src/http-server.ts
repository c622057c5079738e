import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SettingsError } from './settings.ts';

/** Where a server listens, and the variable a person changes when that place is taken. */
export type ListenAddress = { host: string; port: number; variable: string };

/** Listens and resolves with the port (useful with 0). A taken port is a SettingsError naming the variable. */
export async function listen(server: Server, { host, port, variable }: ListenAddress): Promise<number> {
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

/** Takes no new connections, lets requests under way finish for `graceMs`, then closes what is left. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
