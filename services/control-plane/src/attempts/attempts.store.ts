import type { TaskPlan } from '@framelane/contracts/transcode-plan';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, secondsSince } from '../db/due-rows.ts';

/** Stores the content key of the open attempt at a video, which an engine begins now with this claim. */
export async function startAttempt(
  trx: Database,
  { videoId, attempt }: { videoId: string; attempt: number },
  { claimId, sealedContentKey }: { claimId: string; sealedContentKey: string },
): Promise<void> {
  await trx
    .with('started', (db) =>
      db
        .updateTable('attempts')
        .set({ started_at: sql`now()`, claim_id: claimId })
        .where('video_id', '=', videoId)
        .where('number', '=', attempt),
    )
    .updateTable('videos')
    .set({ content_key: sealedContentKey })
    .where('id', '=', videoId)
    .execute();
}

/** The plan of the attempt that made a video ready. */
export async function findCompletedPlan(db: Database, videoId: string): Promise<TaskPlan | undefined> {
  const row = await db
    .selectFrom('attempts')
    .select('plan')
    .where('video_id', '=', videoId)
    .where('outcome', '=', 'completed')
    .executeTakeFirst();
  return row?.plan ?? undefined;
}

/** The processing videos that wait for an engine, and those whose attempt has started. */
export async function findBacklog(db: Database): Promise<{ waiting: Backlog; running: Backlog }> {
  const row = await db
    .selectFrom('attempts')
    .select([
      sql<number>`count(*) filter (where started_at is null)`.as('waiting'),
      sql<number>`count(started_at)`.as('running'),
      secondsSince(sql`min(due_at) filter (where started_at is null)`).as('waitingSeconds'),
      secondsSince(sql`min(started_at)`).as('runningSeconds'),
    ])
    .where('outcome', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    waiting: { count: row.waiting, oldestSeconds: row.waitingSeconds },
    running: { count: row.running, oldestSeconds: row.runningSeconds },
  };
}
