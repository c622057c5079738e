import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue } from '../db/due-rows.ts';
import { claimable, claimInTurn, findClaimableBacklog } from '../db/fair-claims.ts';

/** A transcode command that is due. `dueAt` identifies the command: a later one of the video is due at another time. */
export type DueCommand = {
  videoId: string;
  workspaceId: string;
  sourceBytes: number;
  waitingSince: Date;
  dueAt: Date;
};

/** A published command that no engine has claimed. */
export type UnclaimedCommand = { videoId: string; publishedAt: Date };

/**
 * Claims up to `limit` commands that are due, as long as fewer than `perWorkspace` of each workspace wait in the queue: those of the
 * workspaces with the fewest in the queue first.
 */
export async function claimDueCommands(
  db: Database,
  { limit, perWorkspace, leaseSeconds }: { limit: number; perWorkspace: number; leaseSeconds: number },
): Promise<DueCommand[]> {
  const isUnclaimed = isDue('command_due_at', 'command_claimed_until');
  const { rows } = await sql<{ any: boolean }>`
    select exists (select from videos where ${isUnclaimed}) as any`.execute(db);
  if (!rows[0]?.any) return [];
  return claimInTurn(db, 'command', async (trx) => {
    const { rows } = await sql<DueCommand>`
      with recursive ${claimable({
        ...{ table: 'videos', key: ['id'], group: 'workspace_id', due: 'command_due_at' },
        ...{ isDue: isUnclaimed, perGroup: perWorkspace, limit },
        running: (workspaceId) => sql<number>`select (${inQueue(workspaceId)}) + count(*) from videos
          where workspace_id = ${workspaceId} and command_claimed_until > now()`,
      })}
      update videos video set command_claimed_until = ${inSeconds(leaseSeconds)}
      from claimable where video.id = claimable.id
      returning video.id as "videoId", workspace_id as "workspaceId", size as "sourceBytes",
        waiting_since as "waitingSince", command_due_at as "dueAt"`.execute(trx);
    return rows;
  });
}

/** The published commands of a workspace that no engine has claimed. */
function inQueue(workspaceId: RawBuilder<string>) {
  return sql<number>`select count(*) from videos
    where workspace_id = ${workspaceId} and command_due_at is null and command_published_at is not null and ${isWaiting}`;
}

/** Records that the queue has a command, unless a later one is due by now. */
export async function recordPublished(db: Database, command: DueCommand): Promise<void> {
  await db
    .updateTable('videos')
    .set({ command_due_at: null, command_claimed_until: null, command_published_at: sql`now()` })
    .where('id', '=', command.videoId)
    .where('command_due_at', '=', command.dueAt)
    .execute();
}

/**
 * The commands that were published at least `seconds` ago and that no engine has claimed since, in the order of
 * publication.
 */
export async function findUnclaimed(db: Database, seconds: number): Promise<UnclaimedCommand[]> {
  return db
    .selectFrom('videos')
    .select(['id as videoId', (eb) => eb.ref('command_published_at').$castTo<Date>().as('publishedAt')])
    .where(isWaiting)
    .where('command_due_at', 'is', null)
    .where('command_published_at', '<=', inSeconds(-seconds))
    .orderBy('command_published_at')
    .execute();
}

/**
 * Makes a published command due again. Resolves with false when an engine has claimed the video since, or another control plane
 * has made the command due again.
 */
export async function makeDueAgain(db: Database, command: UnclaimedCommand): Promise<boolean> {
  const result = await db
    .updateTable('videos')
    .set({ command_due_at: sql`now()` })
    .where('id', '=', command.videoId)
    .where(isWaiting)
    .where('command_due_at', 'is', null)
    .where('command_published_at', '=', command.publishedAt)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Makes the commands of all videos that wait for an engine due now, also those that are published or just being published. */
export async function makeAllDue(db: Database): Promise<void> {
  await db
    .updateTable('videos')
    .set({ command_due_at: sql`now()`, command_claimed_until: null })
    .where(isWaiting)
    .where('waiting_since', '<=', sql<Date>`now()`)
    .execute();
}

/**
 * Of all videos that an engine has claimed, the latest time at which one began to wait. The queue delivers commands in
 * order, so it has delivered every command that was published before that time.
 */
export async function findLatestClaimedWaitingSince(db: Database): Promise<Date | null> {
  const row = await db
    .selectFrom('videos')
    .select('waiting_since')
    .where('waiting_since', 'is not', null)
    .where('deleted_at', 'is', null)
    .where(({ eb, or, exists }) => or([eb('status', '<>', 'processing'), exists(openAttempt)]))
    .orderBy('waiting_since', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.waiting_since ?? null;
}

/** The due commands, including those being published, of the workspaces that have fewer than `perWorkspace` in the queue. */
export function findCommandBacklog(db: Database, perWorkspace: number): Promise<Backlog> {
  return findClaimableBacklog(db, {
    ...{ table: 'videos', group: 'workspace_id', due: 'command_due_at' },
    ...{ running: inQueue, perGroup: perWorkspace },
  });
}

/** The open attempt of the video in the outer query. */
const openAttempt = sql`(select from attempts where video_id = videos.id and outcome is null)`;

/** Whether the video in the outer query waits for an engine. */
const isWaiting = sql<boolean>`status = 'processing' and deleted_at is null and not exists ${openAttempt}`;
