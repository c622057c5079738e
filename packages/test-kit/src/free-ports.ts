import { once } from 'node:events';
import { mkdir, stat, utimes, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Above the last port that `fetch` and browsers refuse, 10080 (Fetch Standard, "bad port"). */
const FIRST_PORT = 10_100;

/** Below the ephemeral ports: another program could get one of those before a restarted service binds it again. */
const LAST_PORT = 20_000;

/** A file for each port that a test has got, in runs with the same TMPDIR. Tests run at the same time, and bind their ports later. */
const RESERVED = join(tmpdir(), 'framelane-test-ports');
const RESERVED_MS = 20 * 60_000;

/** Free loopback ports, all different, and different from those that other tests got in the last twenty minutes. */
export async function freePorts(count: number): Promise<number[]> {
  await mkdir(RESERVED, { recursive: true });
  const held = new Map<number, Server>();
  while (held.size < count) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if (!(await reserve(join(RESERVED, String(port))))) continue;
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

/** Resolves with whether nobody else has reserved the port. */
async function reserve(file: string): Promise<boolean> {
  try {
    await writeFile(file, '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const reservedAt = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - reservedAt < RESERVED_MS) return false;
    const now = new Date();
    return utimes(file, now, now).then(
      () => true,
      () => false,
    );
  }
}

/** Whether a program listens on a loopback port. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const listens = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return listens;
}
