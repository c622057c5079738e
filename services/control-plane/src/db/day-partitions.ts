import { sql } from 'kysely';
import type { Database } from './database.ts';

/** A table whose partitions have the rows of a day in UTC, by a column with a date or a time. */
export type DayPartitioned = 'request_log' | 'view_sessions';

/** Days from today whose partitions are created ahead, in case maintenance stops. */
const DAYS_AHEAD = 3;

/** Longest wait for the lock of the table. Its readers and writers would wait behind ours; the next run tries again. */
const LOCK_WAIT_MS = 1_000;

/**
 * Creates the partitions of yesterday, of today and of the next days. A partition is attached, because creating it as one would lock the table for all
 * others. The table has no foreign key: that would lock the other table.
 */
export async function createDayPartitions(db: Database, table: DayPartitioned): Promise<void> {
  await inTurn(db, table, async (trx) => {
    const { rows } = await sql<{ day: string; next: string; name: string }>`
      select day::text, (day + 1)::text as next, ${table} || to_char(day, '_YYYYMMDD') as name
      from generate_series(-1, ${DAYS_AHEAD}::int) as offset_days,
        lateral (select (now() at time zone 'UTC')::date + offset_days as day) as days
      where to_regclass(${table} || to_char(day, '_YYYYMMDD')) is null
      order by day`.execute(trx);
    for (const { name, day, next } of rows) {
      const [from, to] = [sql.lit(`${day} 00:00:00Z`), sql.lit(`${next} 00:00:00Z`)];
      await sql`create table ${sql.table(name)} (like ${sql.table(table)} including all)`.execute(trx);
      await sql`alter table ${sql.table(table)} attach partition ${sql.table(name)} for values from (${from}) to (${to})`.execute(
        trx,
      );
    }
  });
}

/** Drops the partitions of days that ended at least so many days ago. */
export async function dropDayPartitions(
  db: Database,
  table: DayPartitioned,
  olderThanDays: number,
): Promise<void> {
  await inTurn(db, table, async (trx) => {
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = ${table}::regclass
        and relname < ${table} || to_char(now() at time zone 'UTC' - make_interval(days => ${olderThanDays}), '_YYYYMMDD')
      order by relname`.execute(trx);
    for (const { name } of rows) await sql`drop table ${sql.table(name)}`.execute(trx);
  });
}

/** One process at a time changes the partitions of a table. */
async function inTurn(
  db: Database,
  table: DayPartitioned,
  work: (trx: Database) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`partitions of ${table}`}, 0))`.execute(trx);
    await sql`set local lock_timeout = ${sql.lit(LOCK_WAIT_MS)}`.execute(trx);
    await work(trx);
  });
}
