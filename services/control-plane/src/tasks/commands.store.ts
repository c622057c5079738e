import type { CommandType } from '@framelane/contracts/messages';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue } from '../db/due-rows.ts';
import { claimable, claimInTurn, findClaimableBacklog } from '../db/fair-claims.ts';

/** A command that is due, and the task whose row holds it. An engine that gets it may claim another task of the video. */
export type DueCommand = {
  videoId: string;
  attempt: number;
  task: number;
  workspaceId: string;
  inputBytes: number;
  waitingSince: Date;
  dueAt: Date;
  traceparent: string | null;
};

/** Whether commands of this type announce a task: a condition on the rows of `tasks`. */
export function announcedBy(type: CommandType): RawBuilder<boolean> {
  return sql<boolean>`tasks.command = ${sql.lit(type)}`;
}

/** Whether a task belongs to a plan: the video waits for it, or it follows when the video is ready. */
export const OF_PLAN = sql<boolean>`tasks.command in ('task', 'background')`;

/** Whether commands of this type announce tasks of plans. */
export function isOfPlan(type: CommandType): boolean {
  return type === 'task' || type === 'background';
}

/** The most commands of a workspace in the queue. Together with its running tasks they are at most `maxTasks`, if that is limited. */
export type QueueLimits = { perWorkspace: number; maxTasks?: number | undefined };

/**
 * Claims up to `limit` commands of a type that are due, as long as the queue has room for those of their workspace: those of the workspaces
 * with the fewest in the queue first.
 */
export async function claimDueCommands(
  db: Database,
  type: CommandType,
  { limit, leaseSeconds, ...limits }: QueueLimits & { limit: number; leaseSeconds: number },
): Promise<DueCommand[]> {
  const among = announcedBy(type);
  const isUnclaimed = isDue('command_due_at', 'command_claimed_until');
  // The order makes PostgreSQL read the index for commands of this type, instead of those of the other type, too.
  const { rows } = await sql`
    select from tasks where ${isUnclaimed} and ${among} order by workspace_id, command_due_at limit 1`.execute(
    db,
  );
  if (rows.length === 0) return [];
  return claimInTurn(db, `${type} command`, async (trx) => {
    const { rows } = await sql<DueCommand>`
      with recursive ${claimable({
        table: 'tasks',
        among,
        key: ['video_id', 'attempt', 'number'],
        group: 'workspace_id',
        due: 'command_due_at',
        isDue: isUnclaimed,
        perGroup: limits.perWorkspace,
        limit,
        running: (
          workspace,
        ) => sql<number>`select (${occupied(type, limits)(workspace)}) + count(*) from tasks
          where workspace_id = ${workspace} and ${among} and command_claimed_until > now()`,
      })}
      update tasks task set command_claimed_until = ${inSeconds(leaseSeconds)}
      from claimable due join videos on videos.id = due.video_id
      where task.video_id = due.video_id and task.attempt = due.attempt and task.number = due.number
      returning task.video_id as "videoId", task.attempt, task.number as task, videos.workspace_id as "workspaceId",
        coalesce(input_bytes, videos.size) as "inputBytes", task.due_at as "waitingSince", task.command_due_at as "dueAt",
        coalesce(task.traceparent, videos.traceparent) as traceparent`.execute(trx);
    return rows;
  });
}

/**
 * The places in the queue that a workspace cannot use: those of its published commands whose tasks wait, and those whose tasks it may not
 * run. An engine would drop such a command, and the next one, as long as there are any. The maximum is that of all tasks of plans.
 */
function occupied(type: CommandType, { perWorkspace, maxTasks }: QueueLimits) {
  return (workspace: RawBuilder<string>) => {
    const published = sql<number>`select count(*) from tasks
      where workspace_id = ${workspace} and ${announcedBy(type)} and command_published_at is not null`;
    if (maxTasks === undefined) return published;
    return sql<number>`select (${published}) + greatest(${perWorkspace - maxTasks}::int + count(*), 0) from tasks
      where workspace_id = ${workspace} and ${OF_PLAN} and lease_expires_at is not null`;
  };
}

/** Records that the queue has a command, unless the task was claimed meanwhile or a later command is due. */
export async function recordPublished(db: Database, command: DueCommand): Promise<void> {
  await db
    .updateTable('tasks')
    .set({ command_due_at: null, command_claimed_until: null, command_published_at: sql`now()` })
    .where('video_id', '=', command.videoId)
    .where('attempt', '=', command.attempt)
    .where('number', '=', command.task)
    .where('command_due_at', '=', command.dueAt)
    .execute();
}

/** The published commands of a type whose tasks wait. */
export async function countPublished(db: Database, type: CommandType): Promise<number> {
  const { published } = await db
    .selectFrom('tasks')
    .select(sql<number>`count(*)`.as('published'))
    .where('command_published_at', 'is not', null)
    .where(announcedBy(type))
    .executeTakeFirstOrThrow();
  return published;
}

/**
 * Makes up to `limit` commands of a type due again that were published at least `seconds` ago and whose task still waits, those that were
 * published first. Resolves with their number.
 */
export async function makeUnclaimedDue(
  db: Database,
  type: CommandType,
  { seconds, limit }: { seconds: number; limit: number },
): Promise<number> {
  const result = await sql`
    with unclaimed as (
      select video_id, attempt, number from tasks
      where command_published_at <= ${inSeconds(-seconds)} and ${announcedBy(type)}
      order by command_published_at limit ${limit}
      for update skip locked
    )
    update tasks task set command_due_at = now(), command_published_at = null from unclaimed
    where task.video_id = unclaimed.video_id and task.attempt = unclaimed.attempt and task.number = unclaimed.number`.execute(
    db,
  );
  return Number(result.numAffectedRows);
}

/** Makes all published commands of a type due again, and ends every claim on commands of that type. */
export async function makeAllCommandsDue(db: Database, type: CommandType): Promise<void> {
  await db
    .updateTable('tasks')
    .set({
      command_due_at: sql`coalesce(command_due_at, now())`,
      command_claimed_until: null,
      command_published_at: null,
    })
    .where(announcedBy(type))
    .where((eb) => eb.or([eb('command_due_at', 'is not', null), eb('command_published_at', 'is not', null)]))
    .execute();
}

/** The due commands of a type, including those being published, of the workspaces for which the queue has room. */
export function findCommandBacklog(db: Database, type: CommandType, limits: QueueLimits): Promise<Backlog> {
  return findClaimableBacklog(db, {
    table: 'tasks',
    among: announcedBy(type),
    group: 'workspace_id',
    due: 'command_due_at',
    running: occupied(type, limits),
    perGroup: limits.perWorkspace,
  });
}
