import { sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * Runs `work` in a transaction that may take hours, and that may be idle while it reads or writes files at a slow place. Limits of the server or the role do
 * not end it.
 */
export function longTransaction<T>(db: Database, work: (trx: Database) => Promise<T>): Promise<T> {
  return db.transaction().execute((trx) => withoutTimeouts(trx, work));
}

/** The same, for reading only. All queries see the rows of one moment. */
export function longSnapshot<T>(db: Database, work: (trx: Database) => Promise<T>): Promise<T> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute((trx) => withoutTimeouts(trx, work));
}

/** PostgreSQL before 17 has no `transaction_timeout`, so this sets those that exist. */
async function withoutTimeouts<T>(trx: Database, work: (trx: Database) => Promise<T>): Promise<T> {
  await sql`
    select set_config(name, '0', true) from pg_settings
    where name in ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout')`.execute(
    trx,
  );
  return work(trx);
}

/** The time at which a transaction began, by the clock of the database. Its snapshot is not older. */
export async function beginningOf(trx: Database): Promise<Date> {
  const { rows } = await sql<{ time: Date }>`select transaction_timestamp() as time`.execute(trx);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no time');
  return row.time;
}
