import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { type Access, DATABASE, grantAccess, ROLES } from './access.ts';
import { createClusterOnce } from './create-cluster.ts';
import { clusterOptions, stopOrphan } from './postmaster.ts';
import { programCommand, runsIn } from './programs.ts';

const HOST = '127.0.0.1';

/** Time limit of a fast shutdown (rollbacks and a checkpoint). Then follows an immediate shutdown. */
const FAST_STOP_MS = 20_000;

/** SQLSTATE `cannot_connect_now`: the server is still starting or recovering. */
const STARTING_UP = '57P03';

/** Settings for tests: data may be lost in a crash, and many connection pools share the server. */
const FOR_TESTS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=400'];

/** A PostgreSQL server on a free loopback port. */
export type EmbeddedPostgres = {
  /** The URL of one of its databases, with the password. Default: the database of a node. */
  url(database?: string): string;
  /** Resolves when the server has ended for any reason. */
  ended: Promise<void>;
  /** Stops the server in order, and resolves when it has ended. */
  stop(): Promise<void>;
};

/**
 * Starts PostgreSQL on the cluster in `directory`, which it creates on the first call. The server runs in a session of
 * its own, so that a Ctrl-C in the terminal does not reach it. Each start writes a new log to `<directory>.log`.
 *
 * @param options.password of the role that connects; the same on every start.
 * @param options.access who connects. The data of tests may be lost in a crash.
 */
export async function startEmbeddedPostgres(options: {
  directory: string;
  password: string;
  access: Access;
}): Promise<EmbeddedPostgres> {
  const { directory, password, access } = options;
  await createClusterOnce(directory, { durable: access === 'node' });
  await stopOrphan(directory);
  await grantAccess(directory, access, password);
  const port = await freePort();
  const url = (database = DATABASE) => embeddedPostgresUrl({ port, password, access, database });
  const { server, ended } = await spawnServer(directory, port, access === 'node' ? [] : FOR_TESTS);
  const stop = () => stopServer(server, ended);
  try {
    await untilReady(server, url(access === 'node' ? DATABASE : 'postgres'), `${directory}.log`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, ended, stop };
}

/** The URL of a database of an embedded PostgreSQL. */
export function embeddedPostgresUrl(to: {
  port: number;
  password: string;
  access: Access;
  database: string;
}): string {
  return `postgresql://${ROLES[to.access]}:${encodeURIComponent(to.password)}@${HOST}:${to.port}/${to.database}`;
}

async function spawnServer(
  directory: string,
  port: number,
  settings: readonly string[],
): Promise<{ server: ChildProcess; ended: Promise<void> }> {
  const { uid, gid } = await stat(directory);
  const [command, ...args] = await programCommand('postgres', { uid, gid });
  const log = await open(`${directory}.log`, 'w', 0o600);
  try {
    const server = spawn(
      command,
      [
        ...args,
        ...clusterOptions(directory),
        ...[`listen_addresses=${HOST}`, `port=${port}`, 'unix_socket_directories=', 'log_checkpoints=off']
          .concat(settings)
          .flatMap((setting) => ['-c', setting]),
      ],
      { ...runsIn(directory), detached: true, stdio: ['ignore', log.fd, log.fd] },
    );
    // Before the first `await`: the server may end while this function waits.
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    await once(server, 'spawn');
    return { server, ended };
  } finally {
    await log.close();
  }
}

/** Resolves once the server accepts connections, however long the recovery takes. Rejects if the server ends instead. */
async function untilReady(server: ChildProcess, url: string, logFile: string): Promise<void> {
  while (!(await acceptsConnections(url))) {
    if (server.exitCode !== null || server.signalCode !== null) {
      throw new Error(`PostgreSQL failed to start. See ${logFile}.`);
    }
    await sleep(50);
  }
}

async function acceptsConnections(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString });
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code !== STARTING_UP) throw error;
    return false;
  } finally {
    await client.end();
  }
}

async function stopServer(server: ChildProcess, ended: Promise<void>): Promise<void> {
  server.kill('SIGINT');
  const timer = setTimeout(() => server.kill('SIGQUIT'), FAST_STOP_MS);
  await ended;
  clearTimeout(timer);
}

/** A loopback port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
