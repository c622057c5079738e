import { type RawBuilder, sql } from 'kysely';
import type { Backlog } from '../db/backlog.ts';
import type { Database } from '../db/database.ts';
import type { AttemptOutcome } from '../db/schema.ts';

/** Whether an attempt at a video is open, its lease run out or not. */
export async function hasOpenAttempt(db: Database, videoId: string): Promise<boolean> {
  const row = await db
    .selectFrom('attempts')
    .select('number')
    .where('video_id', '=', videoId)
    .where('outcome', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertAttempt(
  db: Database,
  attempt: { videoId: string; number: number },
  leaseSeconds: number,
): Promise<void> {
  await db
    .insertInto('attempts')
    .values({ video_id: attempt.videoId, number: attempt.number, lease_expires_at: inSeconds(leaseSeconds) })
    .execute();
}

/** Renews the lease of an open attempt. Resolves with whether it is open. */
export async function renewAttempt(
  db: Database,
  attempt: { videoId: string; number: number },
  leaseSeconds: number,
): Promise<boolean> {
  const result = await db
    .updateTable('attempts')
    .set({ lease_expires_at: inSeconds(leaseSeconds) })
    .where('video_id', '=', attempt.videoId)
    .where('number', '=', attempt.number)
    .where('outcome', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Closes an open attempt. Resolves with whether this call did. */
export async function closeAttempt(
  db: Database,
  attempt: { videoId: string; number: number },
  result: { outcome: AttemptOutcome; code?: string; message?: string },
): Promise<boolean> {
  const updated = await db
    .updateTable('attempts')
    .set({
      outcome: result.outcome,
      finished_at: sql`now()`,
      failure_code: result.code ?? null,
      failure_message: result.message ?? null,
    })
    .where('video_id', '=', attempt.videoId)
    .where('number', '=', attempt.number)
    .where('outcome', 'is', null)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/** Whether the attempt is open and its video alive. */
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

/** Open attempts of living videos whose lease ran out. */
export async function findSilentAttempts(
  db: Database,
  limit: number,
): Promise<{ videoId: string; number: number }[]> {
  return openAttempts(db).where('lease_expires_at', '<=', sql<Date>`now()`).limit(limit).execute();
}

/** A video that waits for an engine, and when its latest command was issued. */
export type Unclaimed = { videoId: string; commandIssuedAt: Date };

/** Processing videos with no open attempt whose latest command was issued that long ago, in the order of the commands. */
export async function findUnclaimed(db: Database, seconds: number): Promise<Unclaimed[]> {
  return db
    .selectFrom('videos')
    .select(['id as videoId', (eb) => eb.ref('command_issued_at').$castTo<Date>().as('commandIssuedAt')])
    .where('status', '=', 'processing')
    .where('deleted_at', 'is', null)
    .where('command_issued_at', '<=', inSeconds(-seconds))
    .where(({ not, exists }) => not(exists(openAttemptOfVideo)))
    .orderBy('command_issued_at')
    .execute();
}

/**
 * When the latest of all videos that an engine has claimed began to wait for it. The queue hands commands out in order:
 * whatever was issued before has been handed out, too.
 */
export async function findLatestClaimed(db: Database): Promise<Date | null> {
  const row = await db
    .selectFrom('videos')
    .select('waiting_since')
    .where('waiting_since', 'is not', null)
    .where('deleted_at', 'is', null)
    .where(({ eb, or, exists }) => or([eb('status', '<>', 'processing'), exists(openAttemptOfVideo)]))
    .orderBy('waiting_since', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.waiting_since ?? null;
}

/** The processing videos, apart by whether an attempt at them is open or they wait for one. */
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

/** Every open attempt of a living video, leased or not. */
export async function findOpenAttempts(db: Database): Promise<{ videoId: string; number: number }[]> {
  return openAttempts(db).execute();
}

function openAttempts(db: Database) {
  return db
    .selectFrom('attempts')
    .innerJoin('videos', 'videos.id', 'attempts.video_id')
    .select(['attempts.video_id as videoId', 'attempts.number'])
    .where('outcome', 'is', null)
    .where('videos.deleted_at', 'is', null);
}

/** The open attempt of the video at hand. */
const openAttemptOfVideo = sql`(select from attempts where video_id = videos.id and outcome is null)`;

function inSeconds(seconds: number) {
  return sql<Date>`now() + make_interval(secs => ${seconds})`;
}

/** Seconds from then to now; 0 when it is in the future, or null. */
function secondsSince(time: RawBuilder<unknown>) {
  return sql<number>`greatest(extract(epoch from now() - ${time}), 0)::float8`;
}
