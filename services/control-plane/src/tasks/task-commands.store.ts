import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue, secondsSince } from '../db/due-rows.ts';

/** A command that is due, and the task whose row holds it. An engine that gets it may claim another task of the video. */
export type DueTaskCommand = {
  videoId: string;
  attempt: number;
  task: number;
  workspaceId: string;
  sourceBytes: number;
  dueAt: Date;
};

/** Claims up to `limit` commands that are due, in the order of their due times. */
export async function claimDueTaskCommands(
  db: Database,
  limit: number,
  leaseSeconds: number,
): Promise<DueTaskCommand[]> {
  const { rows } = await sql<DueTaskCommand>`
    with due as (
      select video_id, attempt, number from tasks where ${isDue('command_due_at', 'command_claimed_until')}
      order by command_due_at, number limit ${limit}
      for update skip locked
    )
    update tasks task set command_claimed_until = ${inSeconds(leaseSeconds)}
    from due join videos on videos.id = due.video_id
    where task.video_id = due.video_id and task.attempt = due.attempt and task.number = due.number
    returning task.video_id as "videoId", task.attempt, task.number as task, videos.workspace_id as "workspaceId",
      videos.size as "sourceBytes", task.command_due_at as "dueAt"`.execute(db);
  return rows;
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

/** Whether a task still waits although its command was published at least `seconds` ago. */
export async function hasCommandOfWaitingTask(db: Database, seconds: number): Promise<boolean> {
  const row = await db
    .selectFrom('tasks')
    .select('number')
    .where('command_published_at', '<=', inSeconds(-seconds))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Makes commands due again if they were published at least `seconds` ago and their task still waits. Resolves with their number. */
export async function makeCommandsOfWaitingTasksDue(db: Database, seconds: number): Promise<number> {
  const result = await db
    .updateTable('tasks')
    .set({ command_due_at: sql`now()`, command_published_at: null })
    .where('command_published_at', '<=', inSeconds(-seconds))
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
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

/** The due commands, including those being published. */
export async function findTaskCommandBacklog(db: Database): Promise<Backlog> {
  return db
    .selectFrom('tasks')
    .select([sql<number>`count(*)`.as('count'), secondsSince(sql`min(command_due_at)`).as('oldestSeconds')])
    .where('command_due_at', '<=', sql<Date>`now()`)
    .executeTakeFirstOrThrow();
}
