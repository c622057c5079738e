import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@framelane/service-kit/logger';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type Database, openDatabase, openMigrationPool } from '../src/db/database.ts';
import { beginningOf, longSnapshot, longTransaction } from '../src/db/long-transactions.ts';
import { createEmptyDatabase } from './support/database.ts';

/** The limits of the server, which a long transaction exceeds. */
const LIMIT_MS = 200;
const LIMITS = ['statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout'];

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createEmptyDatabase();
  const open = () =>
    openDatabase(openMigrationPool(database.url, createLogger({ service: 'test', level: 'silent' })));
  const admin = open();
  const name = new URL(database.url).pathname.slice(1);
  for (const limit of LIMITS)
    await sql`alter database ${sql.id(name)} set ${sql.raw(limit)} = ${sql.lit(LIMIT_MS)}`.execute(admin);
  await admin.destroy();
  db = open();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

/** Is busy, then idle, each for longer than the limits. */
async function takeLong(trx: Database): Promise<Date> {
  await sql`select pg_sleep(${(2 * LIMIT_MS) / 1000})`.execute(trx);
  await delay(2 * LIMIT_MS);
  return beginningOf(trx);
}

test.each([
  ['a transaction', longTransaction],
  ['a snapshot', longSnapshot],
])('the server does not end %s that is long', async (_, begin) => {
  const begun = Date.now();
  expect((await begin(db, takeLong)).getTime()).toBeLessThan(begun + LIMIT_MS);
});

test('the server ends any other transaction that is long', async () => {
  await expect(db.transaction().execute(takeLong)).rejects.toThrow(/timeout|terminated/);
});

test('a snapshot sees the rows of its beginning, and writes none', async () => {
  await sql`create table numbers (number int)`.execute(db);
  const count = async (connection: Database) =>
    (await sql`select from numbers`.execute(connection)).rows.length;
  const counts = await longSnapshot(db, async (trx) => {
    await sql`insert into numbers values (1)`.execute(db);
    return [await count(trx), await count(db)];
  });
  expect(counts).toEqual([0, 1]);
  const writing = longSnapshot(db, (trx) => sql`insert into numbers values (2)`.execute(trx));
  await expect(writing).rejects.toThrow(/read-only transaction/);
});
