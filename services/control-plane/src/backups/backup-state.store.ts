import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { secondsSince } from '../db/due-rows.ts';

/** The id of our advisory lock. */
const BACKUP_LOCK = 5_208_114;

/** A complete backup. */
export type StoredBackup = {
  id: string;
  snapshotAt: string;
  completedAt: string;
  objects: number;
  bytes: number;
  missing: number;
};

/** The timeline of the database, which is `created` if it has none yet. */
export async function ensureTimeline(db: Database, created: string): Promise<string> {
  await db
    .insertInto('backup_state')
    .values({ timeline: created })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { timeline } = await db.selectFrom('backup_state').select('timeline').executeTakeFirstOrThrow();
  return timeline;
}

/** Records the last backup. */
export async function storeBackup(db: Database, backup: StoredBackup): Promise<void> {
  const { id, snapshotAt, completedAt, objects, bytes, missing } = backup;
  await db
    .updateTable('backup_state')
    .set({
      backup_id: id,
      snapshot_at: new Date(snapshotAt),
      completed_at: new Date(completedAt),
      objects,
      bytes,
      missing,
    })
    .execute();
}

/** The age of the rows in the last backup, and the objects that it lacks; undefined without a backup. */
export async function findLastBackup(
  db: Database,
): Promise<{ ageSeconds: number; missing: number } | undefined> {
  const row = await db
    .selectFrom('backup_state')
    .select([secondsSince(sql`snapshot_at`).as('ageSeconds'), 'missing'])
    .where('backup_id', 'is not', null)
    .executeTakeFirst();
  return row === undefined || row.missing === null ? undefined : { ...row, missing: row.missing };
}

/** Runs `work` while no other backup of this database runs; resolves with undefined if one does. A session that ends releases the lock. */
export async function withBackupLock<T>(db: Database, work: () => Promise<T>): Promise<T | undefined> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ isLocked: boolean }>`
      select pg_try_advisory_lock(${BACKUP_LOCK}) as "isLocked"`.execute(connection);
    if (!rows[0]?.isLocked) return undefined;
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${BACKUP_LOCK})`.execute(connection);
    }
  });
}
