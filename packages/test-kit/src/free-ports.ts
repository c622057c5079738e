import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ephemeral ports: another program could get one of those before a restarted service binds it again. */
const FIRST_PORT = 10_000;
const LAST_PORT = 20_000;

/** Free loopback ports, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, Server>();
  while (held.size < count) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    const server = createServer().listen(port, '127.0.0.1');
    // The port may be in use.
    await once(server, 'listening').then(
      () => held.set(port, server),
      () => {},
    );
  }
  await Promise.all([...held.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  return [...held.keys()];
}
