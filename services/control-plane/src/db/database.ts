import type { Logger } from '@framelane/service-kit/logger';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Schema } from './schema.ts';

/** A connection or a transaction: every store function takes either. */
export type Database = Kysely<Schema>;

/** Reads bigint as number (sizes and counts stay far below 2^53); everything else as pg does. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
};

/** The pool behind the database; shared with the job runner. */
export function openPool(connectionString: string, logger: Logger): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    types,
    max: 20,
    connectionTimeoutMillis: 10_000,
    application_name: 'framelane-control-plane',
  });
  // A connection that breaks is replaced by the pool, and a query under way on it rejects; but an error event that
  // nobody hears, of an idle connection or of one in use, ends the process.
  const onLost = (error: Error) => {
    if (!pool.ending) logger.warn('database.connection_lost', { error });
  };
  pool.on('error', onLost);
  pool.on('connect', (client) => client.on('error', onLost));
  return pool;
}

/** Kysely over a pool. Destroying it ends the pool. */
export function openDatabase(pool: pg.Pool): Database {
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}
