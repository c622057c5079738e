import { createLogger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { expect, jest, test } from '@jest/globals';
import { openPool } from '../src/db/database.ts';
import { createTestDatabase } from './support/database.ts';

test('the loss of an idle connection is logged once', async () => {
  const database = await createTestDatabase();
  const logger = createLogger({ service: 'test', level: 'silent' });
  const warn = jest.spyOn(logger, 'warn');
  const pool = openPool(database.url, logger);
  const { rows } = await pool.query('select pg_backend_pid() as pid');
  expect(pool.idleCount).toBe(1);

  const other = openPool(database.url, logger);
  await other.query('select pg_terminate_backend($1)', [rows[0].pid]);
  await until(() => pool.totalCount === 0);
  expect(warn.mock.calls.map(([event]) => event)).toEqual(['database.connection_lost']);

  await other.end();
  await pool.end();
  await database.drop();
});
