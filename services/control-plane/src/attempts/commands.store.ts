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
    where workspace_id = ${workspaceId} and ${isPublished}`;
}

/** The published commands that no engine has claimed. */
export async function countPublished(db: Database): Promise<number> {
  const { published } = await db
    .selectFrom('videos')
    .select(sql<number>`count(*)`.as('published'))
    .where(isPublished)
    .executeTakeFirstOrThrow();
  return published;
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
 * Makes up to `limit` commands due again that were published at least `seconds` ago and whose videos still wait for an engine, those that
 * were published first. Resolves with the videos.
 */
export async function makeUnclaimedDue(db: Database, seconds: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with unclaimed as (
      select id from videos
      where ${isPublished} and command_published_at <= ${inSeconds(-seconds)}
      order by command_published_at limit ${limit}
      for update skip locked
    )
    update videos video set command_due_at = now() from unclaimed where video.id = unclaimed.id
    returning video.id`.execute(db);
  return rows.map(({ id }) => id);
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

/** Whether the command of the video in the outer query is published, and no engine has claimed it. */
const isPublished = sql<boolean>`(command_due_at is null and command_published_at is not null and ${isWaiting})`;
