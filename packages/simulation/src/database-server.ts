import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase, openPool } from '@framelane/control-plane/db/database';
import { migrateToLatest } from '@framelane/control-plane/db/migrations';
import type { Logger } from '@framelane/service-kit/logger';
import { startEmbeddedPostgres } from '@framelane/single-node/postgres/embedded-postgres';
import pg from 'pg';

/** A PostgreSQL for simulations, whose databases have the virtual time. */
export type DatabaseServer = {
  /** Creates a database with the schema. */
  create(name: string): Promise<{ url: string; clockFile: string }>;
  stop(): Promise<void>;
};

const TEMPLATE = 'simulation_template';

/**
 * The time that statements see. `now` is that of the transaction, `clock_timestamp` that of the statement. They come before those of PostgreSQL in
 * the search path, also for the default values of columns.
 */
const TIME_FUNCTIONS = `
  create schema simulated;
  create function simulated.clock_timestamp() returns timestamptz language sql stable as $$
    select to_timestamp(pg_read_file(current_setting('simulated.clock_file'))::float8)
  $$;
  create function simulated.now() returns timestamptz language sql stable as $$
    select coalesce(
      to_timestamp(nullif(current_setting('simulated.now', true), '')::float8),
      simulated.clock_timestamp()
    )
  $$;
`;

/** Starts the server in a folder in memory, and creates the schema once. */
export async function startDatabaseServer(folder: string, logger: Logger): Promise<DatabaseServer> {
  const directory = join(folder, 'postgres');
  const postgres = await startEmbeddedPostgres({
    directory,
    password: randomBytes(12).toString('hex'),
    access: 'tests',
  });
  const admin = new pg.Client({ connectionString: postgres.url('postgres') });
  await admin.connect();
  // Nothing runs by the real time.
  await admin.query('alter system set autovacuum = off');
  await admin.query(`alter system set deadlock_timeout = '20ms'`);
  await admin.query('select pg_reload_conf()');
  await createDatabase(admin, TEMPLATE, 'template1', clockFileOf(folder, TEMPLATE));
  await migrate(postgres.url(TEMPLATE), logger);
  return {
    create: async (name) => {
      const clockFile = clockFileOf(folder, name);
      await createDatabase(admin, name, TEMPLATE, clockFile);
      return { url: postgres.url(name), clockFile };
    },
    stop: async () => {
      await admin.end();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function clockFileOf(folder: string, name: string): string {
  return join(folder, `${name}.clock`);
}

async function createDatabase(
  admin: pg.Client,
  name: string,
  template: string,
  clockFile: string,
): Promise<void> {
  await admin.query(`create database ${name} template ${template}`);
  await admin.query(`alter database ${name} set search_path = public, simulated, pg_catalog`);
  await admin.query(`alter database ${name} set simulated.clock_file = '${clockFile}'`);
}

async function migrate(url: string, logger: Logger): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(TIME_FUNCTIONS);
  await client.end();
  const db = openDatabase(openPool(url, logger));
  await migrateToLatest(db);
  await db.destroy();
}
