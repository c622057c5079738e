import { isDeepStrictEqual } from 'node:util';
import { SettingsError } from '@framelane/service-kit/settings';
import { sql } from 'kysely';
import { type Migration, type MigrationProvider, type MigrationResultSet, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import * as initial from './migrations/20261210-initial.ts';

const INITIAL = '20261210-initial';

/** All migrations by name. They run in the order of their names. Never edit a released one; CONTRIBUTING.md says how to add one. */
const MIGRATIONS: Record<string, Migration> = {
  [INITIAL]: initial,
};

const provider: MigrationProvider = { getMigrations: async () => MIGRATIONS };

/** The id of our advisory lock. */
const SCHEMA_LOCK = 5_208_113;

/**
 * Runs `work` under an advisory lock, so that one process at a time changes the schema. Kysely locks migrations too, but it reads
 * the system catalogue before it takes the lock, and that fails if another process creates or drops tables meanwhile.
 */
async function withSchemaLock<T>(db: Database, work: () => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${SCHEMA_LOCK})`.execute(connection);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${SCHEMA_LOCK})`.execute(connection);
    }
  });
}

/** Kysely's migrator over our migrations. */
export function migrator(db: Database): Migrator {
  return new Migrator({ db, provider });
}

/**
 * Migrates the database to the latest schema. Each migration of a database in use has its own transaction, so that none locks a table
 * longer than it needs to. One that locks a single table cannot deadlock with services that run. Concurrent processes take turns. Throws a SettingsError when an unreleased version created the database, or a
 * newer one migrated it.
 */
export function migrateToLatest(db: Database): Promise<void> {
  return withSchemaLock(db, async () => {
    const applied = await appliedMigrations(db);
    // Versions before the first release had migrations of their own.
    if (applied.some((name) => name < INITIAL)) {
      throw new SettingsError(
        'The database belongs to an unreleased version of Framelane and cannot be migrated. Use an empty database; on a single node, move DATA_DIR away.',
      );
    }
    const unknown = applied.filter((name) => !Object.hasOwn(MIGRATIONS, name));
    if (unknown.length > 0) {
      throw new SettingsError(
        `The database belongs to a newer version of Framelane: it has the unknown migrations ${unknown.join(', ')}. Start that version or a later one.`,
      );
    }
    // Before each step Kysely reads the whole system catalogue, which takes longer than most migrations.
    if (isDeepStrictEqual(applied, Object.keys(MIGRATIONS).sort())) return;
    const migrations = migrator(db);
    if (applied.length === 0) await countApplied(migrations.migrateToLatest());
    else while ((await countApplied(migrations.migrateUp())) > 0);
  });
}

/**
 * Migrates a new database to the schema that has exactly these migrations. Throws a SettingsError if this version does not know them, or the
 * database has others.
 */
export function migrateTo(db: Database, names: readonly string[]): Promise<void> {
  return withSchemaLock(db, async () => {
    const unknown = names.filter((name) => !Object.hasOwn(MIGRATIONS, name));
    if (unknown.length > 0) {
      throw new SettingsError(
        `The schema is that of another version of Framelane: it has the unknown migrations ${unknown.join(', ')}. Use that version.`,
      );
    }
    const others = (await appliedMigrations(db)).filter((name) => !names.includes(name));
    if (others.length > 0) {
      throw new SettingsError(`The database has later migrations: ${others.join(', ')}. Use a new database.`);
    }
    const last = [...names].sort().at(-1);
    if (last !== undefined) await countApplied(migrator(db).migrateTo(last));
  });
}

/** The number of migrations that a step of Kysely has applied. Throws if one failed. */
async function countApplied(step: Promise<MigrationResultSet>): Promise<number> {
  const { results = [], error } = await step;
  if (error !== undefined) throw new Error('The database could not be migrated', { cause: error });
  return results.length;
}

/** The names of the migrations that the database has, sorted. */
export async function appliedMigrations(db: Database): Promise<string[]> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (!found[0]?.exists) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name).sort();
}
