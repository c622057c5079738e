import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { createClusterOnce, SUPERUSER } from './create-cluster.ts';
import { stopOrphan } from './orphan.ts';
import { postgresPrograms } from './programs.ts';
import { accountOfCluster, runAsAccount } from './server-account.ts';

const HOST = '127.0.0.1';

/** How long open transactions and the last checkpoint may take when we stop, in milliseconds. */
const FAST_STOP_MS = 20_000;

/** SQLSTATE `cannot_connect_now`: the server is there and still recovering. */
const STARTING_UP = '57P03';

/** Settings for tests: nobody misses the data after a crash, and many services share the server, each with a pool. */
const FOR_TESTS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=400'];

/** A PostgreSQL of our own on a free loopback port. */
export type EmbeddedPostgres = {
  /** The address of one of its databases, password included. */
  url(database: string): string;
  /** Resolves when the server has ended, whoever ended it. */
  ended: Promise<void>;
  /** An orderly stop; resolves when the server has ended. */
  stop(): Promise<void>;
};

/**
 * Starts PostgreSQL on the cluster in `directory`, making it on the first call. The server has a session of its own,
 * so a Ctrl-C in the terminal does not reach it before we stop it in order. It writes its log beside the directory,
 * to `<directory>.log`, anew with each start.
 *
 * @param options.password of the superuser `framelane`; the same on every start.
 * @param options.durable false only where the data may be lost, as in tests.
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
  const server = await spawnServer(directory, port, durable ? [] : FOR_TESTS);
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const stop = () => stopServer(server, ended);
  try {
    await untilReady(server, url('postgres'), `${directory}.log`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, ended, stop };
}

/** The address of a database of an embedded PostgreSQL. */
export function embeddedPostgresUrl(to: { port: number; password: string; database: string }): string {
  return `postgresql://${SUPERUSER}:${encodeURIComponent(to.password)}@${HOST}:${to.port}/${to.database}`;
}

async function spawnServer(
  directory: string,
  port: number,
  settings: readonly string[],
): Promise<ChildProcess> {
  const { postgres } = await postgresPrograms();
  const account = await accountOfCluster(directory);
  const [command = '', ...prefix] = await runAsAccount(account, [postgres, join(directory, '..')]);
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
    await once(server, 'spawn');
    return server;
  } finally {
    await log.close();
  }
}

/** Resolves once the server takes connections, however long its recovery takes; rejects when it ends instead. */
async function untilReady(server: ChildProcess, url: string, logFile: string): Promise<void> {
  while (!(await takesConnections(url))) {
    if (server.exitCode !== null || server.signalCode !== null) {
      throw new Error(`PostgreSQL ended while it was starting; ${logFile} says why.`);
    }
    await sleep(50);
  }
}

async function takesConnections(connectionString: string): Promise<boolean> {
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
