import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue, secondsSince } from '../db/due-rows.ts';
import type { ImportRow } from '../db/schema.ts';

/** An import and its transfer. */
export type ImportTransfer = { videoId: string; transferId: string };

/** A claimed import. `transferId` is that of the previous claim. */
export type DueImport = {
  videoId: string;
  /** Sealed. */
  request: string;
  transferId: string | null;
  secondsLeft: number;
  tries: number;
  startedOver: boolean;
};

/** `request` is sealed. */
export type NewImport = { videoId: string; shownUrl: string; request: string };

export async function insertImport(
  trx: Database,
  { videoId, shownUrl, request }: NewImport,
  deadlineSeconds: number,
): Promise<void> {
  await trx
    .insertInto('imports')
    .values({
      video_id: videoId,
      shown_url: shownUrl,
      request,
      deadline: inSeconds(deadlineSeconds),
      due_at: sql`now()`,
    })
    .execute();
}

/**
 * Claims the import that is due for the longest time, before its deadline. During the lease grace, an expired claim counts as
 * live: its engine may have been unable to renew it.
 */
export async function claimDueImport(
  db: Database,
  leaseSeconds: number,
  expiredClaims: 'ended' | 'may_live',
): Promise<DueImport | undefined> {
  const isFree =
    expiredClaims === 'ended'
      ? isDue('due_at', 'claimed_until')
      : sql<boolean>`(due_at <= now() and claimed_until is null)`;
  const { rows } = await sql<DueImport>`
    with due as (
      select video_id from imports where ${isFree} and deadline > now()
      order by due_at limit 1
      for update skip locked
    )
    update imports import set claimed_until = ${inSeconds(leaseSeconds)}
    from due where import.video_id = due.video_id
    returning import.video_id as "videoId", request, transfer_id as "transferId", tries, started_over as "startedOver",
      extract(epoch from deadline - now())::float8 as "secondsLeft"`.execute(db);
  return rows[0];
}

/** Stores the transfer of a claimed import, which begins at the first byte. */
export async function beginTransfer(db: Database, { videoId, transferId }: ImportTransfer): Promise<void> {
  await db
    .updateTable('imports')
    .set({ transfer_id: transferId, bytes: 0, total_bytes: null, next_try_at: null })
    .where('video_id', '=', videoId)
    .execute();
}

/** Makes a claimed import due again after `seconds`. */
export async function postpone(db: Database, videoId: string, seconds: number): Promise<void> {
  await db
    .updateTable('imports')
    .set({ due_at: inSeconds(seconds), claimed_until: null })
    .where('video_id', '=', videoId)
    .where('due_at', 'is not', null)
    .execute();
}

/** What an engine reports of its transfer. */
export type ImportProgress = ImportTransfer &
  Pick<ImportRow, 'bytes' | 'tries' | 'failure'> & {
    totalBytes: number | null;
    nextTryInSeconds: number | null;
  };

/**
 * Stores the progress of a transfer and renews its claim. An earlier failure stays stored until the next one. Resolves with
 * whether the transfer is current.
 */
export async function storeProgress(
  db: Database,
  { videoId, transferId, bytes, totalBytes, tries, nextTryInSeconds, failure }: ImportProgress,
  leaseSeconds: number,
): Promise<boolean> {
  const result = await db
    .updateTable('imports')
    .set({
      bytes,
      total_bytes: totalBytes,
      tries,
      ...(failure !== null && { failure }),
      next_try_at: nextTryInSeconds === null ? null : inSeconds(nextTryInSeconds),
      claimed_until: inSeconds(leaseSeconds),
    })
    .where('video_id', '=', videoId)
    .where('transfer_id', '=', transferId)
    .where('due_at', 'is not', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** How a try ended without a file. Without `retryInSeconds` the import ends with its video. */
export type EndedTry = ImportTransfer &
  Pick<ImportRow, 'tries' | 'failure'> & { startedOver: boolean; retryInSeconds: number | null };

/** Stores the end of a try. Its transfer is no longer current afterwards. Resolves with whether it was current. */
export async function storeEndOfTry(
  trx: Database,
  { videoId, transferId, tries, startedOver, retryInSeconds, failure }: EndedTry,
): Promise<boolean> {
  const due = inSeconds(retryInSeconds ?? 0);
  const result = await trx
    .updateTable('imports')
    .set({
      tries,
      started_over: startedOver,
      ...(failure !== null && { failure }),
      transfer_id: null,
      claimed_until: null,
      due_at: due,
      next_try_at: failure === null || retryInSeconds === null ? null : due,
    })
    .where('video_id', '=', videoId)
    .where('transfer_id', '=', transferId)
    .where('due_at', 'is not', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Imports whose deadline has passed. */
export async function findExpiredImports(db: Database, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('imports')
    .select('video_id')
    .where('due_at', 'is not', null)
    .where('deadline', '<=', sql<Date>`now()`)
    .limit(limit)
    .execute();
  return rows.map((row) => row.video_id);
}

/** Ends the claims of all imports. Call it only while no engine runs. */
export async function releaseAllClaims(db: Database): Promise<void> {
  await db
    .updateTable('imports')
    .set({ claimed_until: null })
    .where('claimed_until', 'is not', null)
    .execute();
}

/** The imports that are due and wait for an engine, and those that an engine fetches. */
export async function findImportBacklog(db: Database): Promise<{ waiting: Backlog; running: Backlog }> {
  const row = await db
    .selectFrom('imports')
    .select([
      sql<number>`count(*) filter (where claimed_until is null)`.as('waiting'),
      sql<number>`count(claimed_until)`.as('running'),
      secondsSince(sql`min(due_at) filter (where claimed_until is null)`).as('waitingSeconds'),
      secondsSince(sql`min(due_at) filter (where claimed_until is not null)`).as('runningSeconds'),
    ])
    .where('due_at', '<=', sql<Date>`now()`)
    .executeTakeFirstOrThrow();
  return {
    waiting: { count: row.waiting, oldestSeconds: row.waitingSeconds },
    running: { count: row.running, oldestSeconds: row.runningSeconds },
  };
}
