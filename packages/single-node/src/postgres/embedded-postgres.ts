import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { createClusterOnce, SUPERUSER } from './create-cluster.ts';
import { stopOrphan } from './postmaster.ts';
import { accountOfCluster, postgresPrograms, setprivCommand } from './programs.ts';

const HOST = '127.0.0.1';

/** Time limit of a fast shutdown (rollbacks and a checkpoint). Then follows an immediate shutdown. */
const FAST_STOP_MS = 20_000;

/** SQLSTATE `cannot_connect_now`: the server is still starting or recovering. */
const STARTING_UP = '57P03';

/** Settings for tests: data may be lost in a crash, and many connection pools share the server. */
const FOR_TESTS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=400'];

/** A PostgreSQL server on a free loopback port. */
export type EmbeddedPostgres = {
  /** The URL of one of its databases, with the password. */
  url(database: string): string;
  /** Resolves when the server has ended for any reason. */
  ended: Promise<void>;
  /** Stops the server in order, and resolves when it has ended. */
  stop(): Promise<void>;
};

/**
 * Starts PostgreSQL on the cluster in `directory`, which it creates on the first call. The server runs in a session of
 * its own, so that a Ctrl-C in the terminal does not reach it. Each start writes a new log to `<directory>.log`.
 *
 * @param options.password of the superuser `framelane`; the same on every start.
 * @param options.durable false only if the data may be lost, as in tests.
 */
export async function startEmbeddedPostgres(options: {
  directory: string;
  password: string;
  durable: boolean;
}): Promise<EmbeddedPostgres> {
  const { directory, password, durable } = options;
  await createClusterOnce(directory, { password, durable });
  await stopOrphan(directory);
  const port = await freePort();
  const url = (database: string) => embeddedPostgresUrl({ port, password, database });
  const { server, ended } = await spawnServer(directory, port, durable ? [] : FOR_TESTS);
  const stop = () => stopServer(server, ended);
  try {
    await untilReady(server, url('postgres'), `${directory}.log`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, ended, stop };
}

/** The URL of a database of an embedded PostgreSQL. */
export function embeddedPostgresUrl(to: { port: number; password: string; database: string }): string {
  return `postgresql://${SUPERUSER}:${encodeURIComponent(to.password)}@${HOST}:${to.port}/${to.database}`;
}

async function spawnServer(
  directory: string,
  port: number,
  settings: readonly string[],
): Promise<{ server: ChildProcess; ended: Promise<void> }> {
  const { postgres } = await postgresPrograms();
  const account = await accountOfCluster(directory);
  const [command = '', ...prefix] = await setprivCommand(account, [postgres, join(directory, '..')]);
  const log = await open(`${directory}.log`, 'w', 0o600);
  try {
    const server = spawn(
      command,
      [
        ...prefix,
        ...[postgres, '-D', directory],
        ...[`listen_addresses=${HOST}`, `port=${port}`, 'unix_socket_directories=', 'log_checkpoints=off']
          .concat(settings)
          .flatMap((setting) => ['-c', setting]),
      ],
      {
        detached: true,
        cwd: '/',
        env: { PATH: process.env.PATH, TZ: 'UTC' },
        stdio: ['ignore', log.fd, log.fd],
      },
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
