import { createHash } from 'node:crypto';
import type {
  Compilable,
  CompiledQuery,
  Kysely,
  PostgresCursor,
  PostgresPool,
  PostgresPoolClient,
  PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import { isResponseTimeout } from './database-unavailable.ts';
import type { Schema } from './schema.ts';

/** The names of the statements to prepare, by their text. */
const names = new Map<string, string>();

/**
 * A query for hot paths: it is built and compiled on its first call, each connection prepares it once, and every call runs
 * it with its own parameters. `build` gets placeholders and may use them only as values.
 */
export function compileOnce<Parameters extends readonly unknown[], Row>(
  build: (db: Kysely<Schema>, ...parameters: Parameters) => Compilable<Row>,
): (db: Kysely<Schema>, ...parameters: Parameters) => Promise<Row[]> {
  let compiled: { query: CompiledQuery<Row>; places: readonly number[] } | undefined;

  const compile = (db: Kysely<Schema>, count: number) => {
    const placeholders = Array.from({ length: count }, () => ({}));
    const query = build(db, ...(placeholders as unknown as Parameters)).compile();
    // The name is a hash of the text, because a connection behind a pooler has the statements of several clients.
    names.set(query.sql, createHash('sha256').update(query.sql).digest('hex').slice(0, 32));
    const places = query.parameters.map((parameter) => placeholders.indexOf(parameter as object));
    return { query, places };
  };

  return async (db, ...parameters) => {
    compiled ??= compile(db, parameters.length);
    const { query, places } = compiled;
    // Constants of the query keep their values.
    const values = places.map((place, index) => (place === -1 ? query.parameters[index] : parameters[place]));
    const { rows } = await db.executeQuery<Row>({ ...query, parameters: values });
    return rows;
  };
}

/** A pool for kysely whose connections prepare the statements of `compileOnce`. */
export function preparing(pool: pg.Pool): PostgresPool {
  const connections = new WeakMap<pg.PoolClient, Connection>();
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => {
      const client = await pool.connect();
      const connection = connections.get(client) ?? new Connection(client);
      connections.set(client, connection);
      return connection;
    },
  };
}

/**
 * A connection that closes when the database does not respond to a query within the time limit, for instance because packets are lost. pg
 * rejects only the query. The next user of the connection would wait for the response to that query or, if it was a `begin`, would
 * be in a transaction that nobody ends.
 */
class Connection implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  /** Statements that were prepared before a schema change altered their columns. A newer version may run beside this one. */
  readonly #outdated = new Set<string>();

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query(text: string | PostgresCursor<unknown>, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('Cursors are not supported');
    return this.#run(text, [...values]);
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy);
  }

  async #run(text: string, values: unknown[]): Promise<pg.QueryResult> {
    try {
      return await this.#runPrepared(text, values);
    } catch (error) {
      if (isResponseTimeout(error)) void this.#client.end();
      throw error;
    }
  }

  /** Within a transaction it prepares no statement, because a transaction with a failed statement cannot continue. */
  async #runPrepared(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const name = names.get(text);
    if (name === undefined || this.#outdated.has(name) || this.#client.getTransactionStatus() !== 'I') {
      return this.#client.query(text, values);
    }
    try {
      return await this.#client.query({ name, text, values });
    } catch (error) {
      if (!isPlanOutdated(error)) throw error;
      this.#outdated.add(name);
      return this.#client.query(text, values);
    }
  }
}

/** "cached plan must not change result type" */
function isPlanOutdated(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '0A000';
}
