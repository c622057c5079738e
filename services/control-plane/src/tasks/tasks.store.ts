import type { CommandType, TaskTry } from '@framelane/contracts/messages';
import { DERIVATION_COMMANDS } from '@framelane/contracts/outputs/kinds';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { StartedRenditions } from '@framelane/contracts/outputs/renditions';
import {
  PLANNING_TASK,
  type Task,
  type TaskKind,
  type Work,
  weightOf,
} from '@framelane/contracts/outputs/tasks';
import type { TaskPlan, TranscodePlan } from '@framelane/contracts/transcode-plan';
import { activeTraceparent } from '@framelane/service-kit/tracing';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, secondsSince } from '../db/due-rows.ts';
import { workspaceOf } from '../db/fair-claims.ts';
import type { PlannedAttempt } from '../db/schema.ts';
import type { TryCounts } from '../videos/video-moves.ts';
import { announcedBy, OF_PLAN } from './commands.store.ts';

type Attempt = { videoId: string; attempt: number };

/** A try of a task that an engine has claimed. Only the first task of an attempt, which plans it or makes a clip, has no work. */
export type ClaimedTry = {
  attempt: number;
  task: number;
  try: number;
  plan: TaskPlan | null;
  work: Work | null;
  inputBytes: number | null;
};

/** A task to add. */
export type NewTask = {
  work: Work;
  command: Exclude<CommandType, 'plan' | 'clip'>;
  /** Its part of the work on its video. */
  frames: number;
  /** Bytes of the stored renditions that it reads; null if it reads the source. */
  inputBytes: number | null;
};

/** Tasks of a plan of a video that has this many frames, which commands of this type announce. */
export function tasksOfPlan(
  tasks: readonly Task[],
  frames: number,
  command: 'task' | 'background',
): NewTask[] {
  return tasks.map((work) => ({ work, command, frames: weightOf(work, frames), inputBytes: null }));
}

/** Stores the plan of an open attempt, in place of an earlier one. Its tasks are added by `insertTasks`. */
export async function storePlan(
  trx: Database,
  { videoId, attempt }: Attempt,
  { plan, sourceSha256 }: { plan: TranscodePlan; sourceSha256: string | undefined },
): Promise<void> {
  const { facts, optionalTasks, tasks: _, ...taskPlan } = plan;
  await trx
    .updateTable('attempts')
    .set({
      plan: JSON.stringify(taskPlan),
      planned: JSON.stringify({ facts, optionalTasks }),
      source_sha256: sourceSha256 ?? null,
    })
    .where('video_id', '=', videoId)
    .where('number', '=', attempt)
    .execute();
}

/** A statement has at most 65,535 parameters. */
const ROWS_AT_ONCE = 1000;

/**
 * Adds tasks to an attempt, open or completed. Their numbers follow those of all tasks that the attempt has had: a number is part of the keys
 * of objects.
 */
export async function insertTasks(
  trx: Database,
  { videoId, attempt }: Attempt,
  tasks: readonly NewTask[],
): Promise<void> {
  if (tasks.length === 0) return;
  const { next } = await trx
    .updateTable('attempts')
    .set({ next_task: sql`next_task + ${tasks.length}::int` })
    .where('video_id', '=', videoId)
    .where('number', '=', attempt)
    .returning('next_task as next')
    .executeTakeFirstOrThrow();
  const rows = tasks.map((task, at) => ({
    video_id: videoId,
    workspace_id: workspaceOf(videoId),
    attempt,
    number: next - tasks.length + at,
    kind: task.work.kind,
    command: task.command,
    work: JSON.stringify(task.work),
    input_bytes: task.inputBytes,
    frames: task.frames,
    traceparent: activeTraceparent() ?? null,
  }));
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    await trx
      .insertInto('tasks')
      .values(rows.slice(at, at + ROWS_AT_ONCE))
      .execute();
}

/** Deletes one task of an attempt, or all that read the source. Resolves with their number. */
export async function deleteTasks(
  trx: Database,
  { videoId, attempt, task }: Attempt & { task?: number },
): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('tasks')
    .where('video_id', '=', videoId)
    .where('attempt', '=', attempt)
    .where((eb) =>
      task === undefined ? eb('command', 'not in', DERIVATION_COMMANDS) : eb('number', '=', task),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Ends a current try of the planning task, because its plan has tasks. */
export async function endPlanning(trx: Database, taskTry: TaskTry): Promise<void> {
  await storeTaskResult(trx, taskTry, {});
}

/**
 * The revision of the plan that a try of the first task of an open attempt has stored, -1 without one, and whether an engine works on the try;
 * undefined if it is not the latest.
 */
export async function findPlanningTry(
  db: Database,
  taskTry: TaskTry,
): Promise<{ revision: number; isCurrent: boolean } | undefined> {
  return db
    .selectFrom('tasks')
    .innerJoin('attempts', (join) =>
      join.onRef('attempts.video_id', '=', 'tasks.video_id').onRef('attempts.number', '=', 'tasks.attempt'),
    )
    .select([
      sql<number>`coalesce((plan -> 'revision')::int, -1)`.as('revision'),
      sql<boolean>`lease_expires_at is not null`.as('isCurrent'),
    ])
    .where('outcome', 'is', null)
    .where('tasks.video_id', '=', taskTry.videoId)
    .where('tasks.attempt', '=', taskTry.attempt)
    .where('tasks.number', '=', taskTry.task)
    .where('tasks.tries', '=', taskTry.try)
    .where('tasks.kind', 'in', ['plan', 'whole'])
    .executeTakeFirst();
}

/**
 * Lets the planning task go on, from the beginning, as the task that makes all outputs, and renews its lease. The time for the plan does
 * not count for its speed.
 */
export async function makeWhole(
  trx: Database,
  taskTry: TaskTry,
  { frames, leaseSeconds }: { frames: number; leaseSeconds: number },
): Promise<void> {
  const values = {
    kind: 'whole',
    frames,
    reported: true,
    progress: 0,
    started_renditions: sql<StartedRenditions>`'{}'::jsonb`,
    started_at: sql<Date>`now()`,
    lease_expires_at: inSeconds(leaseSeconds),
  } as const;
  await currentTry(trx.updateTable('tasks').set(values), taskTry).execute();
}

/** The plan of an open attempt without its tasks; undefined if the attempt has ended or has no plan. */
export async function findPlan(
  db: Database,
  { videoId, attempt }: Attempt,
): Promise<{ plan: TaskPlan & PlannedAttempt; sourceSha256: string | undefined } | undefined> {
  const row = await plannedAttempts(db)
    .select(['plan', 'planned', 'source_sha256'])
    .where('video_id', '=', videoId)
    .where('number', '=', attempt)
    .executeTakeFirst();
  if (!row?.plan || row.planned === null) return undefined;
  return { plan: { ...row.plan, ...row.planned }, sourceSha256: row.source_sha256 ?? undefined };
}

/** The text tracks of the plan of an open attempt, if at most one of its tasks has no result. */
export async function findPlannedTexts(
  db: Database,
  { videoId, attempt }: Attempt,
): Promise<TranscodePlan['facts']['captions'] | undefined> {
  const row = await plannedAttempts(db)
    .select(sql<TranscodePlan['facts']['captions']>`planned -> 'facts' -> 'captions'`.as('texts'))
    .where('video_id', '=', videoId)
    .where('number', '=', attempt)
    .where(({ selectFrom }) =>
      selectFrom('tasks')
        .select(sql<boolean>`count(*) <= 1`.as('isLast'))
        .where('video_id', '=', videoId)
        .where('attempt', '=', attempt)
        .where('result', 'is', null),
    )
    .executeTakeFirst();
  return row?.texts;
}

/** The turn of a task: tasks of plans in the order of the plan, derivations by size, so that none waits for one that no disk has room for. */
const TURN = sql`input_bytes nulls first, tasks.number`;

/** What is known of a claimed try. */
const CLAIMED = sql`tasks.attempt, tasks.number as task, tries as try, plan, work, input_bytes as "inputBytes"`;

type TaskClaim = { videoId: string; claimId: string; leaseSeconds: number };

/** Whether a task has a command in the queue, or is about to have: an engine can get a command before it is recorded as published. */
const IS_SENT = sql<boolean>`(command_published_at is not null or coalesce(command_claimed_until > now(), false))`;

/** Starts the next try of the first waiting task that the command may announce; undefined if none waits. Call it with the video locked. */
export async function claimTask(
  trx: Database,
  {
    videoId,
    command,
    claimId,
    planVersion,
    leaseSeconds,
  }: TaskClaim & { command: CommandType; planVersion: number },
): Promise<ClaimedTry | undefined> {
  const { rows } = await sql<ClaimedTry & { hadCommand: boolean }>`
    with next as (
      select attempt, tasks.number, plan, ${IS_SENT} as had_command
      from tasks join attempts on attempts.video_id = tasks.video_id and attempts.number = attempt
      where tasks.video_id = ${videoId} and ${announcedBy(command)}
        and (plan is null or tasks.command = any(${DERIVATION_COMMANDS}) or plan ->> 'version' = ${String(planVersion)})
        and result is null and lease_expires_at is null and tasks.due_at <= now()
      order by ${TURN} limit 1
    )
    update tasks set tries = tries + 1, progress = 0, started_at = now(), lease_expires_at = ${inSeconds(leaseSeconds)},
      claim_id = ${claimId}, reported = false,
      command_due_at = null, command_claimed_until = null, command_published_at = null
    from next
    where video_id = ${videoId} and tasks.attempt = next.attempt and tasks.number = next.number
    returning ${CLAIMED}, had_command as "hadCommand"`.execute(trx);
  if (rows[0] === undefined) return undefined;
  const { hadCommand, ...claimed } = rows[0];
  // The engine received the command of another task. That task waits for a new command now.
  if (!hadCommand) await renewCommand(trx, { videoId, attempt: claimed.attempt, command });
  return claimed;
}

/** Whether this claim is the latest one of a task, or of the planning of an attempt that has ended. */
export async function hasClaimed(trx: Database, videoId: string, claimId: string): Promise<boolean> {
  const claimed = (table: 'tasks' | 'attempts') =>
    trx.selectFrom(table).select('number').where('video_id', '=', videoId).where('claim_id', '=', claimId);
  return (await claimed('tasks').unionAll(claimed('attempts')).execute()).length > 0;
}

/** The try that a claim has begun, with a new lease; undefined if it has ended or its engine has reported something. */
export async function repeatTaskClaim(
  trx: Database,
  { videoId, claimId, leaseSeconds }: TaskClaim,
): Promise<ClaimedTry | undefined> {
  const { rows } = await sql<ClaimedTry>`
    update tasks set lease_expires_at = ${inSeconds(leaseSeconds)} from attempts
    where tasks.video_id = ${videoId} and tasks.claim_id = ${claimId} and not tasks.reported
      and tasks.lease_expires_at is not null
      and attempts.video_id = tasks.video_id and attempts.number = tasks.attempt
    returning ${CLAIMED}`.execute(trx);
  return rows[0];
}

/** Whether the attempt whose tasks wait has a plan of an earlier version, and no engine works on one of its tasks. Derivations do not count. */
export async function isPlanObsolete(
  trx: Database,
  { videoId, planVersion }: { videoId: string; planVersion: number },
): Promise<boolean> {
  const row = await trx
    .selectFrom('attempts')
    .innerJoin('videos', (join) =>
      join.onRef('videos.id', '=', 'video_id').onRef('videos.attempt', '=', 'attempts.number'),
    )
    .select('number')
    .where('video_id', '=', videoId)
    .where(sql<number>`(plan ->> 'version')::int`, '<', planVersion)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('tasks')
            .select('tasks.number')
            .where('video_id', '=', videoId)
            .where('tasks.command', 'not in', DERIVATION_COMMANDS)
            .where('tasks.lease_expires_at', 'is not', null),
        ),
      ),
    )
    .executeTakeFirst();
  return row !== undefined;
}

/** Makes a command of this type due again: that of the first waiting task whose command was sent. */
async function renewCommand(
  trx: Database,
  { videoId, attempt, command }: Attempt & { command: CommandType },
): Promise<void> {
  await sql`
    update tasks set command_due_at = now(), command_claimed_until = null, command_published_at = null
    where video_id = ${videoId} and attempt = ${attempt} and number = (
      select number from tasks
      where video_id = ${videoId} and attempt = ${attempt} and ${announcedBy(command)} and ${IS_SENT}
      order by ${TURN} limit 1
    )`.execute(trx);
}

/**
 * Records that an engine has dropped a command for a task of a plan of the video: one task fewer has a command in the queue. The command is due again after the
 * delay. An engine can get a command before it is recorded as published.
 */
export async function dropCommand(
  trx: Database,
  { videoId, command }: { videoId: string; command: CommandType },
  delaySeconds: number,
): Promise<void> {
  await sql`
    update tasks set command_due_at = ${inSeconds(delaySeconds)}, command_claimed_until = null, command_published_at = null
    where video_id = ${videoId} and (attempt, number) in (
      select attempt, number from tasks
      where video_id = ${videoId} and ${announcedBy(command)}
        and (command_published_at is not null or command_claimed_until is not null)
      order by number limit 1
    )`.execute(trx);
}

/**
 * Whether engines work on fewer tasks of plans of the workspace than the limit. Until the transaction ends, no other transaction claims such
 * a task of the workspace.
 */
export async function mayClaim(trx: Database, workspaceId: string, limit: number): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tasks of ${workspaceId}`}, 0))`.execute(trx);
  const { running } = await trx
    .selectFrom('tasks')
    .select(sql<number>`count(*)`.as('running'))
    .where('workspace_id', '=', workspaceId)
    .where(OF_PLAN)
    .where('lease_expires_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return running < limit;
}

/** Makes a dropped command of the workspace due now: that of the waiting task with the lowest number, first of those that a video waits for. */
export async function makeDroppedCommandDue(trx: Database, workspaceId: string): Promise<void> {
  await sql`
    update tasks set command_due_at = now()
    where (video_id, attempt, number) in (
      select video_id, attempt, number from tasks
      where workspace_id = ${workspaceId} and ${OF_PLAN} and command_due_at > now() and due_at <= now()
      order by command = 'background', number limit 1
      for update skip locked
    )`.execute(trx);
}

/** Makes commands of a type due for the first `count` waiting tasks that have none. */
export async function makeCommandsDue(
  trx: Database,
  { videoId, attempt, command }: Attempt & { command: CommandType },
  count: number,
): Promise<void> {
  await sql`
    update tasks set command_due_at = now() where video_id = ${videoId} and attempt = ${attempt} and number in (
      select number from tasks
      where video_id = ${videoId} and attempt = ${attempt} and ${announcedBy(command)}
        and result is null and lease_expires_at is null and command_due_at is null and command_published_at is null
      order by ${TURN} limit ${count}
    )`.execute(trx);
}

/**
 * The completed part of the work of an attempt, 0..1, after an update of one of its tasks. The query sees the row of that task as it was
 * before.
 */
const DONE = sql<number>`(
  select coalesce(sum(each.frames * case
    when each.number = tasks.number then tasks.progress when each.result is null then each.progress else 1
  end) / nullif(sum(each.frames), 0), 0)::float8
  from tasks each where each.video_id = tasks.video_id and each.attempt = tasks.attempt
)`;

/**
 * Renews the lease of a try, and stores its progress and the renditions that it has started. Resolves with the completed part of the work of
 * its attempt, 0..1; undefined if the try is not current.
 */
export async function renewTask(
  db: Database,
  taskTry: TaskTry,
  {
    leaseSeconds,
    fraction,
    startedRenditions,
  }: { leaseSeconds: number; fraction: number; startedRenditions: StartedRenditions },
): Promise<number | undefined> {
  const update = db
    .updateTable('tasks')
    .set({
      lease_expires_at: inSeconds(leaseSeconds),
      reported: true,
      progress: sql`greatest(progress, ${fraction}::real)`,
      started_renditions: withStarted(startedRenditions),
    })
    .returning(DONE.as('done'));
  return (await currentTry(update, taskTry).executeTakeFirst())?.done;
}

/** A later try produces the same renditions, so the renditions that an earlier try has started remain. */
function withStarted(started: StartedRenditions) {
  return sql<StartedRenditions>`started_renditions || ${JSON.stringify(started)}::jsonb`;
}

/** Whether an engine works on this try. */
export async function isTryCurrent(db: Database, taskTry: TaskTry): Promise<boolean> {
  const row = await currentTry(db.selectFrom('tasks').select('number'), taskTry).executeTakeFirst();
  return row !== undefined;
}

/**
 * Stores the result of a current try. Resolves with the number of tasks that are left and the completed part of the work of the attempt, 0..1;
 * undefined if the try is not current.
 */
export async function storeTaskResult(
  trx: Database,
  taskTry: TaskTry,
  result: TaskResult,
): Promise<{ kind: TaskKind; work: Work | null; left: number; done: number } | undefined> {
  const update = trx
    .updateTable('tasks')
    .set({
      result: JSON.stringify(result),
      lease_expires_at: null,
      progress: 1,
      started_renditions: withStarted(startedIn(result)),
    })
    .returning([
      'kind',
      'work',
      sql<number>`(
        select count(*) from tasks other
        where other.video_id = tasks.video_id and other.attempt = tasks.attempt and other.number <> tasks.number
          and other.result is null
      )`.as('left'),
      DONE.as('done'),
    ]);
  return currentTry(update, taskTry).executeTakeFirst();
}

function startedIn({ renditions = [] }: TaskResult): StartedRenditions {
  return Object.fromEntries(
    renditions
      .filter(({ first }) => first === 0)
      .map(({ name, codecs, initialization }) => [
        name,
        { codecs, ...(initialization !== undefined && { initialization }) },
      ]),
  );
}

/** The results of all tasks of an attempt, each with the try that stored it. */
export async function findResults(
  trx: Database,
  { videoId, attempt }: Attempt,
): Promise<{ task: number; kind: TaskKind; try: number; result: TaskResult }[]> {
  const rows = await trx
    .selectFrom('tasks')
    .select(['number as task', 'kind', 'tries as try', 'result'])
    .where('video_id', '=', videoId)
    .where('attempt', '=', attempt)
    .orderBy('number')
    .execute();
  return rows.map(({ result, ...row }) => {
    if (result === null) throw new Error(`Task ${row.task} of ${videoId} is not done`);
    return { ...row, result };
  });
}

/** How often a task has failed before this try; `unreportedTries` counts the try if its engine has not reported anything. Undefined if the try is not current. */
export async function findTryCounts(
  trx: Database,
  taskTry: TaskTry,
): Promise<(TryCounts & { kind: TaskKind; work: Work | null }) | undefined> {
  const query = trx
    .selectFrom('tasks')
    .select([
      'kind',
      'work',
      'failed_tries as failedTries',
      sql<number>`case when reported then 0 else unreported_tries + 1 end`.as('unreportedTries'),
    ]);
  return currentTry(query, taskTry).executeTakeFirst();
}

/** Ends a current try. The next one is due after the delay, with a command of its own. */
export async function makeTaskDueAgain(
  trx: Database,
  taskTry: TaskTry,
  { delaySeconds, failedTries, unreportedTries }: TryCounts & { delaySeconds: number },
): Promise<void> {
  const due = inSeconds(delaySeconds);
  await currentTry(
    trx.updateTable('tasks').set({
      lease_expires_at: null,
      progress: 0,
      failed_tries: failedTries,
      due_at: due,
      unreported_tries: unreportedTries,
      command_due_at: due,
      command_claimed_until: null,
      command_published_at: null,
    }),
    taskTry,
  ).execute();
}

/** Tries whose lease has expired. */
export async function findExpiredTries(db: Database, limit: number): Promise<TaskTry[]> {
  return tries(db).where('lease_expires_at', '<=', sql<Date>`now()`).limit(limit).execute();
}

/** The tasks of this command that wait for an engine, and those that engines work on. */
export async function findTaskBacklog(
  db: Database,
  command: CommandType,
): Promise<{ waiting: Backlog; running: Backlog }> {
  const row = await db
    .selectFrom('tasks')
    .select([
      sql<number>`count(*) filter (where lease_expires_at is null)`.as('waiting'),
      sql<number>`count(*) filter (where lease_expires_at is not null)`.as('running'),
      secondsSince(sql`min(due_at) filter (where lease_expires_at is null)`).as('waitingSeconds'),
      secondsSince(sql`min(started_at) filter (where lease_expires_at is not null)`).as('runningSeconds'),
    ])
    .where('result', 'is', null)
    .where(announcedBy(command))
    .executeTakeFirstOrThrow();
  return {
    waiting: { count: row.waiting, oldestSeconds: row.waitingSeconds },
    running: { count: row.running, oldestSeconds: row.runningSeconds },
  };
}

/** Every try that an engine works on, with whether it is one of the tasks that a video waits for after it was planned. */
export async function findTries(db: Database): Promise<(TaskTry & { isAwaited: boolean })[]> {
  return tries(db)
    .innerJoin('attempts', (join) =>
      join.onRef('attempts.video_id', '=', 'tasks.video_id').onRef('attempts.number', '=', 'tasks.attempt'),
    )
    .select(sql<boolean>`tasks.number > ${PLANNING_TASK} and outcome is null`.as('isAwaited'))
    .where('lease_expires_at', 'is not', null)
    .execute();
}

function tries(db: Database) {
  return db
    .selectFrom('tasks')
    .select(['tasks.video_id as videoId', 'tasks.attempt', 'tasks.number as task', 'tries as try']);
}

/** Attempts that are open and planned. */
function plannedAttempts(db: Database) {
  return db.selectFrom('attempts').where('outcome', 'is', null).where('plan', 'is not', null);
}

type Filter<Q> = { where(column: string, operator: string, value: unknown): Q };

/** Restricts a query to a try that an engine works on. The end of an attempt deletes its tasks. */
function currentTry<Q extends Filter<Q>>(query: Q, { videoId, attempt, task, try: tryNumber }: TaskTry): Q {
  return query
    .where('video_id', '=', videoId)
    .where('attempt', '=', attempt)
    .where('number', '=', task)
    .where('tries', '=', tryNumber)
    .where('lease_expires_at', 'is not', null);
}
