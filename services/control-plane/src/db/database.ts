import type { Logger } from '@framelane/service-kit/logger';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Actor } from './actor.ts';
import { AuditedDialect, sessionOf } from './audited-dialect.ts';
import { preparing } from './prepared-statements.ts';
import type { Schema } from './schema.ts';

/** A connection or a transaction: every store function takes either. */
export type Database = Kysely<Schema>;

/** A prepared effect, to run in a transaction. `T` is its outcome. */
export type Commit<T> = (trx: Database) => Promise<T>;

/** Reads bigint as a number (sizes and counts stay far below 2^53), everything else as pg does. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
};

/**
 * The server cancels a statement after this time, which includes waits for locks. All of our statements take milliseconds; long
 * work is split into batches.
 */
const STATEMENT_MS = 5_000;

/**
 * A query without a response fails after this time. It is longer than STATEMENT_MS, because a reachable server responds when it
 * cancels the statement. Behind PgBouncer, set STATEMENT_MS as the `statement_timeout` of the role.
 */
const RESPONSE_MS = 6_000;

const CONNECT_MS = 5_000;

/** For schema changes and the admin command, which do not retry. Longer than a resolver's retry after a lost DNS packet (5 s). */
const PATIENT_CONNECT_MS = 15_000;

/** TCP keep-alive probes begin after this much silence. */
const KEEP_ALIVE_MS = 10_000;

/** The server ends an idle transaction after this time. It holds locks, and its client may have disconnected. */
const IDLE_IN_TRANSACTION_MS = 15_000;

/** The pool of the service. A query without a response fails after `responseMs`. `Client` is the class of its connections. */
export function openPool(
  connectionString: string,
  logger: Logger,
  { responseMs = RESPONSE_MS, Client }: { responseMs?: number; Client?: typeof pg.Client | undefined } = {},
): pg.Pool {
  return withLoggedErrors(
    new pg.Pool({
      ...common(connectionString),
      ...(Client && { Client }),
      max: 20,
      query_timeout: responseMs,
      statement_timeout: STATEMENT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    }),
    logger,
  );
}

/**
 * A pool for schema changes and long commands: its sessions have no statement timeout and may be idle, even if the role says otherwise.
 * `actor` changes everything that they change.
 */
export function openMigrationPool(connectionString: string, logger: Logger, actor?: Actor): pg.Pool {
  return withLoggedErrors(
    new pg.Pool({
      ...common(connectionString),
      connectionTimeoutMillis: PATIENT_CONNECT_MS,
      max: 3,
      onConnect: async (client) => {
        await client.query('set statement_timeout = 0; set idle_session_timeout = 0');
        if (actor !== undefined) await client.query(sessionOf(actor));
      },
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

/** Logs lost connections. The pool replaces them, but an error event without a listener would end the process. */
function withLoggedErrors(pool: pg.Pool, logger: Logger): pg.Pool {
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      if (!pool.ending) logger.warn('database.connection_lost', { error });
    });
  });
  // The pool repeats the error of an idle connection, which is in the log already.
  pool.on('error', () => {});
  return pool;
}

/** Kysely on a pool; `destroy` ends the pool, too. */
export function openDatabase(pool: pg.Pool): Database {
  return new Kysely<Schema>({ dialect: new AuditedDialect({ pool: preparing(pool) }) });
}

/** The time by the clock of the database. Rejects when the database is unavailable. */
export async function databaseTime(db: Database): Promise<Date> {
  const { rows } = await sql<{ time: Date }>`select clock_timestamp() as time`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no time');
  return row.time;
}
