import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@framelane/single-node/postgres/embedded-postgres';
import type { Pool } from 'pg';
import { type FaultDatabase, openPool } from './fault-database.ts';

/** A durable PostgreSQL that tests can kill. */
export class PostgresServer implements FaultDatabase {
  readonly #directory: string;
  #server: EmbeddedPostgres;
  /** Connections of the tests. */
  #pool: Pool;

  static async start(): Promise<PostgresServer> {
    const directory = await mkdtemp(join(tmpdir(), 'framelane-faults-postgres-'));
    const server = await launch(directory);
    return new PostgresServer(directory, server);
  }

  private constructor(directory: string, server: EmbeddedPostgres) {
    this.#directory = directory;
    this.#server = server;
    this.#pool = openPool(this.url);
  }

  /** The port changes with each start. */
  get url(): string {
    return this.#server.url();
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

function launch(directory: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ directory: join(directory, 'cluster'), password: 'faults', access: 'node' });
}
