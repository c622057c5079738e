import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue, secondsSince } from '../db/due-rows.ts';

/** A due purge. `dueAt` identifies the pass: a purge requested meanwhile is due at another time. */
export type DuePurge = { videoId: string; pass: number; dueAt: Date };

/** Makes the first pass of a purge due now. It replaces the remaining passes of an earlier request. */
export async function requestPurge(trx: Database, videoId: string): Promise<void> {
  await trx
    .insertInto('object_purges')
    .values({ video_id: videoId })
    .onConflict((conflict) =>
      conflict.column('video_id').doUpdateSet({ pass: 1, due_at: sql<Date>`now()`, claimed_until: null }),
    )
    .execute();
}

/** Claims up to `limit` purges that are due, those due for longest first. */
export async function claimDuePurges(db: Database, limit: number, leaseSeconds: number): Promise<DuePurge[]> {
  const { rows } = await sql<DuePurge>`
    with due as (
      select video_id from object_purges where ${isDue('due_at', 'claimed_until')}
      order by due_at limit ${limit}
      for update skip locked
    )
    update object_purges purge set claimed_until = ${inSeconds(leaseSeconds)}
    from due where purge.video_id = due.video_id
    returning purge.video_id as "videoId", pass, due_at as "dueAt"`.execute(db);
  return rows;
}

/** Schedules the next pass, unless the purge was requested anew. Resolves with whether it was not. */
export async function scheduleNextPass(db: Database, purge: DuePurge, seconds: number): Promise<boolean> {
  const result = await db
    .updateTable('object_purges')
    .set({ pass: purge.pass + 1, due_at: inSeconds(seconds), claimed_until: null })
    .where('video_id', '=', purge.videoId)
    .where('due_at', '=', purge.dueAt)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Ends a purge after its last pass, unless it was requested anew. Resolves with whether it was not. */
export async function endPurge(db: Database, purge: DuePurge): Promise<boolean> {
  const result = await db
    .deleteFrom('object_purges')
    .where('video_id', '=', purge.videoId)
    .where('due_at', '=', purge.dueAt)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Extends the claim on a purge to `seconds` from now. */
export async function renewPurgeClaim(db: Database, purge: DuePurge, seconds: number): Promise<void> {
  await db
    .updateTable('object_purges')
    .set({ claimed_until: inSeconds(seconds) })
    .where('video_id', '=', purge.videoId)
    .where('due_at', '=', purge.dueAt)
    .execute();
}

/** The tasks of a video. */
export async function findTasks(db: Database, videoId: string): Promise<{ attempt: number; task: number }[]> {
  return db
    .selectFrom('tasks')
    .select(['attempt', 'number as task'])
    .where('video_id', '=', videoId)
    .execute();
}

/** Ends every claim. */
export async function releasePurges(db: Database): Promise<void> {
  await db
    .updateTable('object_purges')
    .set({ claimed_until: null })
    .where('claimed_until', 'is not', null)
    .execute();
}

/** The due purges, including those in progress. */
export async function findPurgeBacklog(db: Database): Promise<Backlog> {
  return db
    .selectFrom('object_purges')
    .select([sql<number>`count(*)`.as('count'), secondsSince(sql`min(due_at)`).as('oldestSeconds')])
    .where('due_at', '<=', sql<Date>`now()`)
    .executeTakeFirstOrThrow();
}
