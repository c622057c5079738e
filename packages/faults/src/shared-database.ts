import { randomUUID } from 'node:crypto';
import { Client, type Pool } from 'pg';
import { type FaultDatabase, openPool } from './fault-database.ts';

/** A database on a server that other clusters use, too. */
export class SharedDatabase implements FaultDatabase {
  readonly url: string;
  readonly #server: string;
  readonly #name: string;
  readonly #pool: Pool;

  /** Creates it. `server` is the URL of another database of the server. */
  static async create(server: string): Promise<SharedDatabase> {
    const name = `faults_${randomUUID().replaceAll('-', '')}`;
    await onServer(server, (client) => `create database ${client.escapeIdentifier(name)}`);
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
    await onServer(
      this.#server,
      (client) => `drop database ${client.escapeIdentifier(this.#name)} with (force)`,
    );
  }
}

async function onServer(server: string, command: (client: Client) => string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(command(client));
  } finally {
    await client.end();
  }
}
