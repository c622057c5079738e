import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below those that the system hands out: one of those could be gone when a program that ended wants its port back. */
const FIRST_PORT = 10_000;
const LAST_PORT = 20_000;

/** Loopback ports nobody listens on, held together for a moment so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, Server>();
  while (held.size < count) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    const server = createServer().listen(port, '127.0.0.1');
    // One that is taken is left to whoever has it.
    await once(server, 'listening').then(
      () => held.set(port, server),
      () => {},
    );
  }
  await Promise.all([...held.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  return [...held.keys()];
}
