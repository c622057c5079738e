import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue } from '../db/due-rows.ts';
import { claimable, claimInTurn, findClaimableBacklog } from '../db/fair-claims.ts';

/** A command that is due, and the task whose row holds it. An engine that gets it may claim another task of the video. */
export type DueTaskCommand = {
  videoId: string;
  attempt: number;
  task: number;
  workspaceId: string;
  sourceBytes: number;
  dueAt: Date;
};

/** The most commands of a workspace in the queue. Together with its running tasks they are at most `maxTasks`, if that is limited. */
export type QueueLimits = { perWorkspace: number; maxTasks?: number | undefined };

/**
 * Claims up to `limit` commands that are due, as long as the queue has room for those of their workspace: those of the workspaces with the
 * fewest in the queue first.
 */
export async function claimDueTaskCommands(
  db: Database,
  { limit, leaseSeconds, ...limits }: QueueLimits & { limit: number; leaseSeconds: number },
): Promise<DueTaskCommand[]> {
  const isUnclaimed = isDue('command_due_at', 'command_claimed_until');
  const { rows } = await sql<{ any: boolean }>`
    select exists (select from tasks where ${isUnclaimed}) as any`.execute(db);
  if (!rows[0]?.any) return [];
  return claimInTurn(db, 'task command', async (trx) => {
    const { rows } = await sql<DueTaskCommand>`
      with recursive ${claimable({
        ...{ table: 'tasks', key: ['video_id', 'attempt', 'number'], group: 'workspace' },
        ...{ due: 'command_due_at', isDue: isUnclaimed, perGroup: limits.perWorkspace, limit },
        running: (workspaceId) => sql<number>`select (${occupied(workspaceId, limits)}) + count(*) from tasks
          where workspace = ${workspaceId} and command_claimed_until > now()`,
      })}
      update tasks task set command_claimed_until = ${inSeconds(leaseSeconds)}
      from claimable due join videos on videos.id = due.video_id
      where task.video_id = due.video_id and task.attempt = due.attempt and task.number = due.number
      returning task.video_id as "videoId", task.attempt, task.number as task, videos.workspace_id as "workspaceId",
        videos.size as "sourceBytes", task.command_due_at as "dueAt"`.execute(trx);
    return rows;
  });
}

/**
 * The places in the queue that a workspace cannot use: those of its published commands whose tasks wait, and those whose tasks it may not
 * run. An engine would drop such a command, and the next one, as long as there are any.
 */
function occupied(workspaceId: RawBuilder<string>, { perWorkspace, maxTasks }: QueueLimits) {
  const published = sql<number>`select count(*) from tasks queued
    where queued.workspace = ${workspaceId} and command_published_at is not null`;
  if (maxTasks === undefined) return published;
  return sql<number>`select (${published}) + greatest(${perWorkspace - maxTasks}::int + count(*), 0) from tasks leased
    where leased.workspace = ${workspaceId} and lease_expires_at is not null`;
}

/** Records that the queue has a command, unless the task was claimed meanwhile or a later command is due. */
export async function recordTaskPublished(db: Database, command: DueTaskCommand): Promise<void> {
  await db
    .updateTable('tasks')
    .set({ command_due_at: null, command_claimed_until: null, command_published_at: sql`now()` })
    .where('video_id', '=', command.videoId)
    .where('attempt', '=', command.attempt)
    .where('number', '=', command.task)
    .where('command_due_at', '=', command.dueAt)
    .execute();
}

/** The published commands of tasks that wait. */
export async function countPublishedTasks(db: Database): Promise<number> {
  const { published } = await db
    .selectFrom('tasks')
    .select(sql<number>`count(*)`.as('published'))
    .where('command_published_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return published;
}

/**
 * Makes up to `limit` commands due again that were published at least `seconds` ago and whose task still waits, those that were published
 * first. Resolves with their number.
 */
export async function makeUnclaimedTasksDue(db: Database, seconds: number, limit: number): Promise<number> {
  const result = await sql`
    with unclaimed as (
      select video_id, attempt, number from tasks where command_published_at <= ${inSeconds(-seconds)}
      order by command_published_at limit ${limit}
      for update skip locked
    )
    update tasks task set command_due_at = now(), command_published_at = null from unclaimed
    where task.video_id = unclaimed.video_id and task.attempt = unclaimed.attempt and task.number = unclaimed.number`.execute(
    db,
  );
  return Number(result.numAffectedRows);
}

/** Makes all published commands due again, and ends every claim on commands. */
export async function makeAllTaskCommandsDue(db: Database): Promise<void> {
  await db
    .updateTable('tasks')
    .set({
      command_due_at: sql`coalesce(command_due_at, now())`,
      command_claimed_until: null,
      command_published_at: null,
    })
    .where((eb) => eb.or([eb('command_due_at', 'is not', null), eb('command_published_at', 'is not', null)]))
    .execute();
}

/** The due commands, including those being published, of the workspaces for which the queue has room. */
export function findTaskCommandBacklog(db: Database, limits: QueueLimits): Promise<Backlog> {
  return findClaimableBacklog(db, {
    ...{ table: 'tasks', group: 'workspace', due: 'command_due_at' },
    ...{ running: (workspaceId) => occupied(workspaceId, limits), perGroup: limits.perWorkspace },
  });
}
