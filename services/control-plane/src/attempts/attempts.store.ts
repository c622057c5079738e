import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, secondsSince } from '../db/due-rows.ts';

/** The open attempt at a video, even if its lease has expired, and whether it has tasks. */
export async function findOpenAttempt(
  db: Database,
  videoId: string,
): Promise<{ number: number; hasTasks: boolean } | undefined> {
  return db
    .selectFrom('attempts')
    .select(['number', sql<boolean>`plan is not null`.as('hasTasks')])
    .where('video_id', '=', videoId)
    .where('outcome', 'is', null)
    .executeTakeFirst();
}

export async function insertAttempt(
  db: Database,
  { videoId, number, claimId }: { videoId: string; number: number; claimId?: string | undefined },
  leaseSeconds: number,
): Promise<void> {
  await db
    .insertInto('attempts')
    .values({
      ...{ video_id: videoId, number, claim_id: claimId ?? null },
      lease_expires_at: inSeconds(leaseSeconds),
    })
    .execute();
}

/** The attempt that a claim has begun, even if it has ended; undefined if the claim has begun none. */
export async function findClaimedAttempt(
  trx: Database,
  videoId: string,
  claimId: string,
): Promise<number | undefined> {
  const row = await trx
    .selectFrom('attempts')
    .select('number')
    .where('video_id', '=', videoId)
    .where('claim_id', '=', claimId)
    .executeTakeFirst();
  return row?.number;
}

/** Begins the lease of an attempt again if it is open, has no tasks and its engine has not reported anything. Resolves with whether it is so. */
export async function repeatAttempt(
  trx: Database,
  attempt: { videoId: string; number: number },
  leaseSeconds: number,
): Promise<boolean> {
  const result = await trx
    .updateTable('attempts')
    .set({ lease_expires_at: inSeconds(leaseSeconds) })
    .where('video_id', '=', attempt.videoId)
    .where('number', '=', attempt.number)
    .where('outcome', 'is', null)
    .where('plan', 'is', null)
    .where('heard', '=', false)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Attempts in a row, up to the open one, whose engine has not reported anything; 0 if the engine of the open one has. */
export async function countUnreported(trx: Database, videoId: string): Promise<number> {
  const { count } = await trx
    .selectFrom('attempts')
    .select(sql<number>`count(*)`.as('count'))
    .where('video_id', '=', videoId)
    .where('heard', '=', false)
    .where((eb) => eb.or([eb('outcome', 'is', null), eb('outcome', '=', 'lease_expired')]))
    .where(
      'number',
      '>',
      sql<number>`coalesce((select max(number) from attempts where video_id = ${videoId} and heard), 0)`,
    )
    .executeTakeFirstOrThrow();
  return count;
}

/** Renews the lease of an open attempt without tasks, of which its engine has reported something. Resolves with whether there is one. */
export async function renewAttempt(
  db: Database,
  attempt: { videoId: string; number: number },
  leaseSeconds: number,
): Promise<boolean> {
  const result = await db
    .updateTable('attempts')
    .set({ lease_expires_at: inSeconds(leaseSeconds), heard: true })
    .where('video_id', '=', attempt.videoId)
    .where('number', '=', attempt.number)
    .where('outcome', 'is', null)
    .where('plan', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Whether the attempt is open. The deletion of a video deletes its attempts. */
export async function isAttemptLive(
  db: Database,
  attempt: { videoId: string; number: number },
): Promise<boolean> {
  const row = await openAttempts(db)
    .where('video_id', '=', attempt.videoId)
    .where('number', '=', attempt.number)
    .executeTakeFirst();
  return row !== undefined;
}

/** Open attempts whose lease has expired. */
export async function findExpiredAttempts(
  db: Database,
  limit: number,
): Promise<{ videoId: string; number: number }[]> {
  return openAttempts(db).where('lease_expires_at', '<=', sql<Date>`now()`).limit(limit).execute();
}

/** The processing videos that wait for an engine, and those with an open attempt. */
export async function findBacklog(db: Database): Promise<{ waiting: Backlog; running: Backlog }> {
  const row = await db
    .selectFrom('videos')
    .leftJoin('attempts', (join) =>
      join.onRef('attempts.video_id', '=', 'videos.id').on('attempts.outcome', 'is', null),
    )
    .select([
      sql<number>`count(*) filter (where number is null)`.as('waiting'),
      sql<number>`count(number)`.as('running'),
      secondsSince(sql`min(waiting_since) filter (where number is null)`).as('waitingSeconds'),
      secondsSince(sql`min(started_at)`).as('runningSeconds'),
    ])
    .where('status', '=', 'processing')
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    waiting: { count: row.waiting, oldestSeconds: row.waitingSeconds },
    running: { count: row.running, oldestSeconds: row.runningSeconds },
  };
}

/** Every open attempt without tasks, even if its lease has expired. */
export async function findOpenAttempts(db: Database): Promise<{ videoId: string; number: number }[]> {
  return openAttempts(db).where('plan', 'is', null).execute();
}

function openAttempts(db: Database) {
  return db.selectFrom('attempts').select(['video_id as videoId', 'number']).where('outcome', 'is', null);
}
