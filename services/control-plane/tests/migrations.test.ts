import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type Database, openDatabase, openMigrationPool, openPool } from '../src/db/database.ts';
import { migrateToLatest, migrator } from '../src/db/migrations.ts';
import { createEmptyDatabase } from './support/database.ts';
import { dumpSchema } from './support/dump-schema.ts';
import { migrateUpWithRows, migrationsWithRows, readRows } from './support/migration-rows.ts';

const SCHEMA_FILE = join(import.meta.dirname, '../src/db/schema.sql');

let db: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await createEmptyDatabase();
  drop = database.drop;
  db = openDatabase(openPool(database.url, createLogger({ service: 'test', level: 'silent' })));
});
afterAll(async () => {
  await db.destroy();
  await drop();
});

test('every migration goes up, down to the same schema and rows, and up again to the same schema', async () => {
  const state = async () => ({ schema: await dumpSchema(db), rows: await readRows(db) });
  const migrations: string[] = [];
  const before = [await state()];
  for (;;) {
    const migration = await migrateUpWithRows(db);
    if (migration === undefined) break;
    migrations.push(migration);
    before.push(await state());
  }
  expect(migrations).toEqual(expect.arrayContaining(await migrationsWithRows()));
  for (const [at, migration] of [...migrations.entries()].toReversed()) {
    const { error } = await migrator(db).migrateDown();
    expect([migration, error]).toEqual([migration, undefined]);
    expect([migration, await state()]).toEqual([migration, before[at]]);
  }
  await migrateToLatest(db);
  expect(await dumpSchema(db)).toBe(before.at(-1)?.schema);
});

test('a migration locks one table against services that run', async () => {
  const database = await createEmptyDatabase();
  const empty = openDatabase(openPool(database.url, createLogger({ service: 'test', level: 'silent' })));
  const locksOfNext = () =>
    empty.transaction().execute(async (trx) => {
      const tables = await sql<{ oid: number }>`select oid::int from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not like 'kysely_%'`.execute(
        trx,
      );
      const { results = [], error } = await migrator(trx).migrateUp();
      expect(error).toBeUndefined();
      // Reads and writes of services conflict with these modes.
      const { rows } = await sql<{
        table: string;
      }>`select distinct relation::regclass::text as "table" from pg_locks
        where pid = pg_backend_pid() and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
          and relation = any(${tables.rows.map(({ oid }) => oid)}::oid[])`.execute(trx);
      return results[0] && { name: results[0].migrationName, locked: rows.map(({ table }) => table) };
    });
  const withSeveral: string[] = [];
  for (let next = await locksOfNext(); next !== undefined; next = await locksOfNext()) {
    if (next.locked.length > 1) withSeveral.push(next.name);
  }
  expect(withSeveral).toEqual([]);
  await empty.destroy();
  await database.drop();
});

test('schema.sql shows the newest schema (pnpm schema:dump writes it)', async () => {
  await migrateToLatest(db);
  const dump = await dumpSchema(db);
  if (process.env.WRITE_SCHEMA === 'yes') await writeFile(SCHEMA_FILE, dump);
  expect(dump).toBe(await readFile(SCHEMA_FILE, 'utf8'));
});

test.each([
  '20261121-foundation',
  '20261122-initial',
  '20261130-videos-turns',
  '20261201-initial',
  '20261205-initial',
  '20261206-initial',
  '20261207-initial',
  '20261208-initial',
])(
  'the database of an unreleased version is refused with a sentence that says what to do: %s',
  async (migration) => {
    const database = await createEmptyDatabase();
    const old = openDatabase(openPool(database.url, createLogger({ service: 'test', level: 'silent' })));
    await sql`create table kysely_migration (name text primary key, timestamp text not null)`.execute(old);
    await sql`insert into kysely_migration values (${migration}, '')`.execute(old);
    await expect(migrateToLatest(old)).rejects.toThrow(
      'belongs to an unreleased version of Framelane and cannot be migrated. Use an empty database',
    );
    await old.destroy();
    await database.drop();
  },
);

test('the database of a newer version is refused with a sentence that says what to do', async () => {
  const database = await createEmptyDatabase();
  const newer = openDatabase(openPool(database.url, createLogger({ service: 'test', level: 'silent' })));
  await migrateToLatest(newer);
  await sql`insert into kysely_migration values ('29990101-later', '')`.execute(newer);
  await expect(migrateToLatest(newer)).rejects.toThrow(
    'newer version of Framelane: it has the unknown migrations 29990101-later. Start that version or a later one.',
  );
  await newer.destroy();
  await database.drop();
});

test('concurrent starts with an empty database migrate it once, and none fails', async () => {
  const database = await createEmptyDatabase();
  const logger = createLogger({ service: 'test', level: 'silent' });
  const starters = [1, 2, 3].map(() => openDatabase(openMigrationPool(database.url, logger)));
  await Promise.all(starters.map((starter) => migrateToLatest(starter)));
  await Promise.all(starters.map((each) => each.destroy()));
  await database.drop();
});

test('concurrent starts migrate one at a time, and none fails', async () => {
  const database = await createEmptyDatabase();
  const logger = createLogger({ service: 'test', level: 'silent' });
  const starters = [1, 2, 3].map(() => openDatabase(openMigrationPool(database.url, logger)));
  const observer = openDatabase(openPool(database.url, logger));
  // An empty table of migrations.
  await migrator(observer).migrateUp();
  await migrator(observer).migrateDown();
  const { migrations } = await observer.transaction().execute(async (trx) => {
    // Whoever is first waits for this table, and the others wait for the first.
    await sql`lock table kysely_migration`.execute(trx);
    const migrations = Promise.all(starters.map((starter) => migrateToLatest(starter)));
    await until(async () => {
      const { rows } = await sql<{ locktype: string }>`select locktype from pg_locks
        where not granted and database = (select oid from pg_database where datname = current_database())
        order by locktype`.execute(observer);
      return rows.map(({ locktype }) => locktype).join() === 'advisory,advisory,relation';
    });
    return { migrations };
  });
  await migrations;
  await Promise.all([...starters, observer].map((each) => each.destroy()));
  await database.drop();
});
