import type { Logger } from '@framelane/service-kit/logger';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { isOverdue } from './database-away.ts';
import type { Schema } from './schema.ts';
import { nameOfStatement } from './statement-names.ts';

/** A connection or a transaction: every store function takes either. */
export type Database = Kysely<Schema>;

/** An effect that has been prepared: what remains to be done in a transaction. `T` is its outcome. */
export type Commit<T> = (trx: Database) => Promise<T>;

/** Reads bigint as number (sizes and counts stay far below 2^53); everything else as pg does. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
};

/**
 * What the server may take for a statement, its wait for locks included. All of ours take milliseconds, or are pieces of
 * something larger; one that always took longer could never be done.
 */
const STATEMENT_MS = 5_000;

/**
 * When an answer is overdue. A server that is there would have given the statement up by then, and said so; behind a
 * PgBouncer it does if its role has the same limit.
 */
const ANSWER_MS = 6_000;

const CONNECT_MS = 5_000;

/** Silence after which a connection nobody uses is probed, to find out whether there is still somebody at its other end. */
const KEEP_ALIVE_MS = 10_000;

/** An open transaction holds locks, also when whoever began it was cut off. */
const IDLE_IN_TRANSACTION_MS = 15_000;

/**
 * A connection that prepares the statements which have a name, and is given up when an answer is overdue, as when packets
 * get lost on the way. pg itself gives up the query alone: whoever had the connection next would wait behind it or, if it
 * was a `begin` that still got through, be in a transaction that nobody ends.
 */
class Connection extends pg.Client {
  /** Prepared before a change of the schema that changed their columns: a newer version may run beside this one. */
  readonly #outdated = new Set<string>();

  override query(...args: never[]): never {
    const answer: unknown = this.#queryPrepared(args) ?? Reflect.apply(super.query, this, args);
    if (answer instanceof Promise) {
      answer.catch((error) => {
        if (isOverdue(error)) void this.end();
      });
    }
    return answer as never;
  }

  /**
   * Undefined for what is not prepared: also a query with a callback, which is none of ours, and any in a transaction,
   * where what fails cannot be sent again.
   */
  #queryPrepared([text, values, callback]: readonly unknown[]): Promise<pg.QueryResult> | undefined {
    if (typeof text !== 'string' || !Array.isArray(values) || callback !== undefined) return undefined;
    const name = nameOfStatement(text);
    if (name === undefined || this.#outdated.has(name) || this.getTransactionStatus() !== 'I')
      return undefined;
    return super.query({ name, text, values }).catch((error) => {
      if (!isPlanOutdated(error)) throw error;
      this.#outdated.add(name);
      return super.query(text, values);
    });
  }
}

/** The pool behind the database; shared with the job runner. An answer may take `answerMs`. */
export function openPool(
  connectionString: string,
  logger: Logger,
  { answerMs = ANSWER_MS }: { answerMs?: number } = {},
): pg.Pool {
  return watched(
    new pg.Pool({
      ...common(connectionString),
      max: 20,
      Client: Connection,
      query_timeout: answerMs,
      statement_timeout: STATEMENT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    }),
    logger,
  );
}

/**
 * A pool for changes of the schema, which take as long as they take, also for the locks of somebody else's and where the
 * role has a limit.
 */
export function openPatientPool(connectionString: string, logger: Logger): pg.Pool {
  return watched(
    new pg.Pool({
      ...common(connectionString),
      max: 3,
      onConnect: (client) => client.query('set statement_timeout = 0'),
    }),
    logger,
  );
}

function common(connectionString: string): pg.PoolConfig {
  return {
    connectionString,
    types,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'framelane-control-plane',
  };
}

/**
 * A connection that breaks is replaced by the pool, and a query under way on it rejects; but an error event that nobody
 * hears, of an idle connection or of one in use, ends the process.
 */
function watched(pool: pg.Pool, logger: Logger): pg.Pool {
  const onLost = (error: Error) => {
    if (!pool.ending) logger.warn('database.connection_lost', { error });
  };
  pool.on('error', onLost);
  pool.on('connect', (client) => client.on('error', onLost));
  return pool;
}

/** "cached plan must not change result type" */
function isPlanOutdated(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '0A000';
}

/** Kysely over a pool. Destroying it ends the pool. */
export function openDatabase(pool: pg.Pool): Database {
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}
