import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import { createLogger } from '@framelane/service-kit/logger';
import { TcpProxy } from '@framelane/test-kit/tcp-proxy';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type Database, openDatabase, openMigrationPool, openPool } from '../src/db/database.ts';
import { isDatabaseUnavailable, isTooSlow } from '../src/db/database-unavailable.ts';
import { createTestDatabase } from './support/database.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(openPool(database.url, logger));
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('the database is unavailable if its server is unreachable or closes the connection', async () => {
  const free = createHttpServer();
  const port = await listen(free, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  await closeServer(free, 0);
  const unreachable = openDatabase(openPool(`postgres://u:p@127.0.0.1:${port}/x`, logger));
  expect(isDatabaseUnavailable(await failureOf(sql`select 1`.execute(unreachable)))).toBe(true);
  await unreachable.destroy();

  const closing = createServer((socket) => socket.destroy());
  const closingPort = await listen(closing as never, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const cut = openDatabase(openPool(`postgres://u:p@127.0.0.1:${closingPort}/x`, logger));
  expect(isDatabaseUnavailable(await failureOf(sql`select 1`.execute(cut)))).toBe(true);
  await cut.destroy();
  closing.close();
});

test('the database is unavailable if the connection ends during a query; the pool recovers', async () => {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  const cut = failureOf(sql`select pg_terminate_backend(${rows[0]?.pid}), pg_sleep(5)`.execute(db));
  expect(isDatabaseUnavailable(await cut)).toBe(true);
  await until(() => sql`select 1`.execute(db).catch(() => undefined));
});

test('the database is unavailable if the connection ends during a transaction', async () => {
  const cut = failureOf(
    db.transaction().execute(async (trx) => {
      await failureOf(sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx));
      await sql`select 1`.execute(trx);
    }),
  );
  expect(isDatabaseUnavailable(await cut)).toBe(true);
  await until(() => sql`select 1`.execute(db).catch(() => undefined));
});

test('the database is unavailable if its server stops responding; a late begin does not affect later statements', async () => {
  const link = await TcpProxy.startFor(database.url);
  const pool = openPool(link.through(database.url), logger, { responseMs: 300 });
  const silenced = openDatabase(pool);
  await sql`create table cups (id int primary key)`.execute(silenced);
  expect(pool.idleCount).toBe(1);

  link.silence();
  const begin = silenced.transaction().execute((trx) => sql`select 1`.execute(trx));
  expect(isDatabaseUnavailable(await failureOf(begin))).toBe(true);
  expect(pool.totalCount).toBe(0);

  link.resume();
  await sql`insert into cups values (1)`.execute(silenced);
  // The row is committed: it is not part of the transaction that began late.
  expect((await sql`select from cups`.execute(db)).rows).toHaveLength(1);
  await silenced.destroy();
  await link.stop();
});

test('a statement that takes too long does not make the database unavailable', async () => {
  const pool = openPool(`${database.url}?statement_timeout=50`, logger);
  const slow = openDatabase(pool);
  const failure = await failureOf(sql`select pg_sleep(5)`.execute(slow));
  expect([isTooSlow(failure), isDatabaseUnavailable(failure)]).toEqual([true, false]);
  expect(pool.totalCount).toBe(1);
  await slow.destroy();
});

test('a migration can take longer than the statement timeout of the role', async () => {
  const patient = openDatabase(openMigrationPool(`${database.url}?statement_timeout=50`, logger));
  await sql`select pg_sleep(0.2)`.execute(patient);
  await patient.destroy();
});

test('an error of the query itself does not make the database unavailable', async () => {
  expect(isDatabaseUnavailable(await failureOf(sql`select nonsense`.execute(db)))).toBe(false);
  expect(isDatabaseUnavailable('text')).toBe(false);
});
