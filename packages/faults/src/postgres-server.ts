import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { ensureDatabase } from '../../single-node/src/postgres/database.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../single-node/src/postgres/embedded-postgres.ts';

const DATABASE = 'faults';

/** The database of a cluster. */
export type FaultDatabase = {
  readonly url: string;
  /** Queries the database directly. */
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  remove(): Promise<void>;
};

/** A database on a server that other clusters use, too. */
export class SharedDatabase implements FaultDatabase {
  readonly url: string;
  readonly #server: string;
  readonly #name: string;
  readonly #pool: Pool;

  /** Creates it. `server` is the URL of another database of the server. */
  static async create(server: string): Promise<SharedDatabase> {
    const name = `${DATABASE}_${randomUUID().replaceAll('-', '')}`;
    await ensureDatabase(server, name);
    return new SharedDatabase(server, name);
  }

  private constructor(server: string, name: string) {
    const url = new URL(server);
    url.pathname = name;
    this.url = url.href;
    this.#server = server;
    this.#name = name;
    this.#pool = openPool(this.url);
  }

  async query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query(text, values)).rows as Row[];
  }

  async remove(): Promise<void> {
    await this.#pool.end();
    await dropDatabase(this.#server, this.#name);
  }
}

/** A durable PostgreSQL that tests can kill. */
export class PostgresServer implements FaultDatabase {
  readonly #directory: string;
  #server: EmbeddedPostgres;
  /** Connections of the tests. */
  #pool: Pool;

  static async start(): Promise<PostgresServer> {
    const directory = await mkdtemp(join(tmpdir(), 'framelane-faults-postgres-'));
    const server = await launch(directory);
    await ensureDatabase(server.url('postgres'), DATABASE);
    return new PostgresServer(directory, server);
  }

  private constructor(directory: string, server: EmbeddedPostgres) {
    this.#directory = directory;
    this.#server = server;
    this.#pool = openPool(this.url);
  }

  /** The port changes with each start. */
  get url(): string {
    return this.#server.url(DATABASE);
  }

  async query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query(text, values)).rows as Row[];
  }

  /** Kills the postmaster; its child processes then exit. */
  async kill(): Promise<void> {
    const [pid] = (await readFile(join(this.#directory, 'cluster', 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await this.#server.ended;
  }

  async restart(): Promise<void> {
    this.#server = await launch(this.#directory);
    const killed = this.#pool;
    this.#pool = openPool(this.url);
    await killed.end();
  }

  async remove(): Promise<void> {
    await this.#server.stop();
    await this.#pool.end();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function openPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString, max: 4 });
  // An idle connection breaks when the server is killed. The next query opens another one.
  pool.on('error', () => {});
  return pool;
}

async function dropDatabase(server: string, name: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`drop database ${client.escapeIdentifier(name)} with (force)`);
  } finally {
    await client.end();
  }
}

function launch(directory: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ directory: join(directory, 'cluster'), password: 'faults', durable: true });
}
