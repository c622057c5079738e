import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { secondsSince } from '../db/due-rows.ts';
import { BackupError } from './backup-errors.ts';

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

/** The timeline of the database; undefined before its first backup. */
export async function findTimeline(db: Database): Promise<string | undefined> {
  const row = await db.selectFrom('backup_state').select('timeline').executeTakeFirst();
  return row?.timeline;
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

/** The last complete backup, and the age of its rows; undefined without one. */
export async function findLastBackup(
  db: Database,
): Promise<(StoredBackup & { ageSeconds: number }) | undefined> {
  const { rows } = await sql<
    Omit<StoredBackup, 'snapshotAt' | 'completedAt'> & {
      snapshotAt: Date;
      completedAt: Date;
      ageSeconds: number;
    }
  >`
    select backup_id as id, snapshot_at as "snapshotAt", ${secondsSince(sql`snapshot_at`)} as "ageSeconds",
      completed_at as "completedAt", objects, bytes, missing
    from backup_state where backup_id is not null`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { snapshotAt, completedAt } = row;
  return { ...row, snapshotAt: snapshotAt.toISOString(), completedAt: completedAt.toISOString() };
}

/** Throws a BackupError if the lock is lost: another backup may have begun. */
export type RequireLock = () => Promise<void>;

/** Runs `work` while no other command writes backups of this database; resolves with undefined if one does. A session that ends releases the lock. */
export async function withBackupLock<T>(
  db: Database,
  work: (requireLock: RequireLock) => Promise<T>,
): Promise<T | undefined> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ isLocked: boolean }>`
      select pg_try_advisory_lock(${BACKUP_LOCK}) as "isLocked"`.execute(connection);
    if (!rows[0]?.isLocked) return undefined;
    try {
      return await work(() => requireSession(connection));
    } finally {
      // A lost session has released it. This error must not hide that of the work.
      await sql`select pg_advisory_unlock(${BACKUP_LOCK})`.execute(connection).catch(() => {});
    }
  });
}

async function requireSession(connection: Database): Promise<void> {
  try {
    await sql`select`.execute(connection);
  } catch (cause) {
    const message = 'The connection to the database was lost meanwhile. Run the command again: it goes on.';
    throw new BackupError(message, { cause });
  }
}
