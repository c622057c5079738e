import type { CommandType } from '@framelane/contracts/messages';
import { PLANNING_TASK } from '@framelane/contracts/transcode-plan';
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
  sourceBytes: number;
  waitingSince: Date;
  dueAt: Date;
};

/** Whether commands of this type announce a task: a condition on the rows of `tasks`. The indexes of each type have it, too. */
export function announcedBy(type: CommandType): RawBuilder<boolean> {
  return type === 'plan'
    ? sql<boolean>`tasks.kind = 'plan'`
    : sql<boolean>`tasks.number > ${sql.lit(PLANNING_TASK)}`;
}

/**
 * Claims up to `limit` commands of a type that are due, as long as fewer than `perWorkspace` of each workspace wait in the queue: those of
 * the workspaces with the fewest in the queue first.
 */
export async function claimDueCommands(
  db: Database,
  type: CommandType,
  { limit, perWorkspace, leaseSeconds }: { limit: number; perWorkspace: number; leaseSeconds: number },
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
        perGroup: perWorkspace,
        limit,
        running: (workspace) => sql<number>`select (${inQueue(type)(workspace)}) + count(*) from tasks
          where workspace_id = ${workspace} and ${among} and command_claimed_until > now()`,
      })}
      update tasks task set command_claimed_until = ${inSeconds(leaseSeconds)}
      from claimable due join videos on videos.id = due.video_id
      where task.video_id = due.video_id and task.attempt = due.attempt and task.number = due.number
      returning task.video_id as "videoId", task.attempt, task.number as task, videos.workspace_id as "workspaceId",
        videos.size as "sourceBytes", task.due_at as "waitingSince", task.command_due_at as "dueAt"`.execute(
      trx,
    );
    return rows;
  });
}

/** The published commands of a workspace whose tasks wait. */
function inQueue(type: CommandType) {
  return (workspace: RawBuilder<string>) => sql<number>`select count(*) from tasks
    where workspace_id = ${workspace} and ${announcedBy(type)} and command_published_at is not null`;
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

/** Whether a task still waits although its command of this type was published at least `seconds` ago. */
export async function hasCommandOfWaitingTask(
  db: Database,
  type: CommandType,
  seconds: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('tasks')
    .select('number')
    .where('command_published_at', '<=', inSeconds(-seconds))
    .where(announcedBy(type))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Makes commands of a type due again if they were published at least `seconds` ago and their task still waits. Resolves with their number.
 */
export async function makeCommandsOfWaitingTasksDue(
  db: Database,
  type: CommandType,
  seconds: number,
): Promise<number> {
  const result = await db
    .updateTable('tasks')
    .set({ command_due_at: sql`now()`, command_published_at: null })
    .where('command_published_at', '<=', inSeconds(-seconds))
    .where(announcedBy(type))
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
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

/** The due commands of a type, including those being published, of the workspaces that have fewer than `perWorkspace` in the queue. */
export function findCommandBacklog(db: Database, type: CommandType, perWorkspace: number): Promise<Backlog> {
  return findClaimableBacklog(db, {
    table: 'tasks',
    among: announcedBy(type),
    group: 'workspace_id',
    due: 'command_due_at',
    running: inQueue(type),
    perGroup: perWorkspace,
  });
}
