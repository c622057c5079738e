import { createLogger } from '@framelane/service-kit/logger';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type Database, openDatabase, openPool } from '../src/db/database.ts';
import { compileOnce } from '../src/db/prepared-statements.ts';
import { createTestDatabase } from './support/database.ts';

const parcels = compileOnce((db, id: number) =>
  db.selectFrom(sql<{ id: number; label: string }>`parcels`.as('parcel')).selectAll().where('id', '=', id),
);

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(openPool(database.url, createLogger({ service: 'test', level: 'silent' })));
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

beforeEach(async () => {
  await sql`drop table if exists parcels`.execute(db);
  await sql`create table parcels as select 1 as id, 'first' as label union select 2, 'second'`.execute(db);
});

test('a statement that is compiled once is prepared once, and uses the parameters of each call', async () => {
  await db.connection().execute(async (connection) => {
    expect(await parcels(connection, 1)).toEqual([{ id: 1, label: 'first' }]);
    expect(await parcels(connection, 2)).toEqual([{ id: 2, label: 'second' }]);
    const { rows } =
      await sql`select custom_plans + generic_plans as runs from pg_prepared_statements`.execute(connection);
    expect(rows).toEqual([{ runs: 2 }]);
  });
});

test('a statement is not prepared in a transaction, where it could not be retried', async () => {
  await db.connection().execute(async (connection) => {
    await parcels(connection, 1);
    await sql`alter table parcels add column weight integer default 7`.execute(db);
    const rows = await connection.transaction().execute((transaction) => parcels(transaction, 1));
    expect(rows).toEqual([{ id: 1, label: 'first', weight: 7 }]);
  });
});

test('a prepared statement works after a column was added', async () => {
  await db.connection().execute(async (connection) => {
    await parcels(connection, 1);
    await sql`alter table parcels add column weight integer default 7`.execute(db);
    for (let time = 0; time < 3; time += 1) {
      expect(await parcels(connection, 1)).toEqual([{ id: 1, label: 'first', weight: 7 }]);
    }
  });
});
