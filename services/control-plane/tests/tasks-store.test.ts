import { isDeepStrictEqual } from 'node:util';
import { newId } from '@framelane/contracts/ids';
import { COMMAND_TYPES, type CommandType, type TaskTry } from '@framelane/contracts/messages';
import { PLANNING_TASK } from '@framelane/contracts/outputs/tasks';
import { PLAN_VERSION, taskPlanSchema } from '@framelane/contracts/transcode-plan';
import { until } from '@framelane/test-kit/until';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql, type Updateable } from 'kysely';
import type { Database } from '../src/db/database.ts';
import type { Backlog } from '../src/db/due-rows.ts';
import type { Schema } from '../src/db/schema.ts';
import {
  claimDueCommands,
  countPublished,
  findCommandBacklog,
  makeAllCommandsDue,
  makeUnclaimedDue,
  recordPublished,
} from '../src/tasks/commands.store.ts';
import {
  claimTask,
  deleteTasks,
  dropCommand,
  endPlanning,
  findExpiredTries,
  findPlan,
  findPlannedTexts,
  findPlanningTry,
  findResults,
  findTaskBacklog,
  findTries,
  findTryCounts,
  hasClaimed,
  insertTasks,
  isPlanObsolete,
  isTryCurrent,
  makeCommandsDue,
  makeDroppedCommandDue,
  makeTaskDueAgain,
  makeWhole,
  mayClaim,
  renewTask,
  repeatTaskClaim,
  storePlan,
  storeTaskResult,
  tasksOfPlan,
} from '../src/tasks/tasks.store.ts';
import { insertWorkspace } from './support/database.ts';
import { AUDIO, IMAGES, PIECES, resultOf, samplePlan } from './support/plan.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const PLAN = PLANNING_TASK;
const TASKS = [AUDIO, IMAGES, ...PIECES];
const ENDED = 1;
const OPEN = 2;
const DONE = { result: JSON.stringify(resultOf(AUDIO)) };
const NO_OUTPUT = {};
const kindOf = (task: number) => samplePlan().tasks[task - 1]?.kind;
const WAITING = { result: null };

let db: Database;
let workspaceId: string;
/** Two videos of the workspace, by increasing id. */
let own: string;
let other: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeEach(async () => {
  await db.deleteFrom('attempts').execute();
  await db.deleteFrom('videos').execute();
  [own = '', other = ''] = [newId('vid'), newId('vid')].toSorted();
  for (const id of [other, own]) await plannedVideo({ id });
  await setAll({ due_at: minutes(-1) });
});

const minutes = (count: number) => new Date(Date.now() + count * 60_000);
const minutesFromNow = (time: Date) => Math.round((time.getTime() - Date.now()) / 60_000) || 0;
const inMinutes = ({ count, oldestSeconds }: Backlog) => ({ count, minutes: Math.round(oldestSeconds / 60) });

/** A video with an ended and an open attempt. */
async function insertVideo({ id = newId('vid'), workspace = workspaceId } = {}): Promise<string> {
  await db
    .insertInto('videos')
    .values({
      id,
      workspace_id: workspace,
      environment: 'live',
      title: 'Any',
      filename: 'any.mp4',
      // The commands of a video have its size.
      status: 'processing',
      attempt: OPEN,
      size: id === other ? 8 : 7,
    })
    .execute();
  const attempt = { video_id: id, due_at: minutes(-5) };
  await db
    .insertInto('attempts')
    .values([
      { ...attempt, number: ENDED, outcome: 'failed', finished_at: minutes(-4) },
      { ...attempt, number: OPEN },
    ])
    .execute();
  return id;
}

/** A video that waits for planning. Both attempts have the task, unlike in operation, so that a query that ignores the attempt finds too many. */
async function waitingVideo(options: { id?: string; workspace?: string } = {}): Promise<string> {
  const videoId = await insertVideo(options);
  const workspace_id = options.workspace ?? workspaceId;
  const task = {
    video_id: videoId,
    workspace_id,
    number: PLAN,
    kind: 'plan',
    command: 'plan',
    frames: 0,
  } as const;
  await db
    .insertInto('tasks')
    .values([ENDED, OPEN].map((attempt) => ({ ...task, attempt })))
    .execute();
  return videoId;
}

/** Both attempts have plans with tasks. */
async function plannedVideo(options: { id?: string; workspace?: string }): Promise<string> {
  const videoId = await waitingVideo(options);
  const plan = samplePlan();
  for (const attempt of [ENDED, OPEN]) {
    await storePlan(db, { videoId, attempt }, { plan, sourceSha256: `hash of ${videoId}` });
    await insertTasks(db, { videoId, attempt }, tasksOfPlan(plan.tasks, plan.encode.frames, 'task'));
    await set({ result: JSON.stringify(NO_OUTPUT), tries: 1 }, keyOf(PLAN, videoId, attempt));
  }
  return videoId;
}

const closeAttempt = (videoId: string) =>
  db
    .updateTable('attempts')
    .set({ outcome: 'failed', finished_at: minutes(0), plan: null, planned: null })
    .where('video_id', '=', videoId)
    .where('number', '=', OPEN)
    .execute();

type Key = { videoId: string; attempt: number; task: number };
type Values = Updateable<Schema['tasks']>;

const keyOf = (task: number, videoId = own, attempt = OPEN): Key => ({ videoId, attempt, task });
/** Changes all tasks of plans. */
const setAll = (values: Values) => db.updateTable('tasks').set(values).where('number', '!=', PLAN).execute();

async function set(values: Values, ...keys: Key[]): Promise<void> {
  for (const { videoId, attempt, task } of keys) {
    await db
      .updateTable('tasks')
      .set(values)
      .where('video_id', '=', videoId)
      .where('attempt', '=', attempt)
      .where('number', '=', task)
      .execute();
  }
}

const rows = () =>
  db.selectFrom('tasks').selectAll().orderBy('video_id').orderBy('attempt').orderBy('number').execute();

/** The row of a task. Its times are in minutes from now. */
async function rowOf({ videoId, attempt, task }: Key): Promise<Record<string, unknown>> {
  const row = (await rows()).find(
    (each) => each.video_id === videoId && each.attempt === attempt && each.number === task,
  );
  const entries = Object.entries(row ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Date ? minutesFromNow(value) : value]),
  );
}

/** The result of an action, and the tasks whose rows it changes. */
async function effectOf<T>(action: () => Promise<T>): Promise<{ result: T; changed: Key[] }> {
  const before = await rows();
  const result = await action();
  const changed = (await rows()).filter((row, at) => !isDeepStrictEqual(row, before[at]));
  return { result, changed: changed.map((row) => keyOf(row.number, row.video_id, row.attempt)) };
}

/** Runs an action on rows that are stored from the last task to the first. A query that does not sort them finds them in this order. */
const onReversedRows = <T>(action: (trx: Database) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (trx) => {
    await sql`create index tasks_reversed on tasks (number desc)`.execute(trx);
    await sql`cluster tasks using tasks_reversed`.execute(trx);
    await sql`drop index tasks_reversed`.execute(trx);
    await sql`set local enable_indexscan = off`.execute(trx);
    return action(trx);
  });

describe('the plan of an attempt', () => {
  test('is stored in place of an earlier one, and in no other attempt', async () => {
    const [videoId, bystander] = [await waitingVideo(), await waitingVideo()];
    const attempts = () =>
      db
        .selectFrom('attempts')
        .select(['video_id', 'number', 'plan', 'planned', 'source_sha256'])
        .where('video_id', 'in', [videoId, bystander])
        .where('plan', 'is not', null)
        .execute();
    const plan = samplePlan();
    const other = { ...plan, tasks: [], optionalTasks: [{ kind: 'images', keyFramesOnly: true } as const] };
    for (const [stored, sourceSha256] of [
      [plan, 'hash'],
      [other, undefined],
    ] as const) {
      await storePlan(db, { videoId, attempt: OPEN }, { plan: stored, sourceSha256 });
      expect(await attempts()).toEqual([
        {
          video_id: videoId,
          number: OPEN,
          plan: taskPlanSchema.parse(stored),
          planned: { facts: stored.facts, optionalTasks: stored.optionalTasks },
          source_sha256: sourceSha256 ?? null,
        },
      ]);
    }
  });

  test('has a row for each task', async () => {
    const [videoId, bystander] = [await waitingVideo(), await waitingVideo()];
    const { tasks: work, encode } = samplePlan();
    await insertTasks(db, { videoId, attempt: OPEN }, tasksOfPlan(work, encode.frames, 'task'));
    const tasks = (await rows()).filter(
      ({ video_id, number }) => [videoId, bystander].includes(video_id) && number !== PLAN,
    );
    expect(tasks.map(({ video_id, attempt, number }) => keyOf(number, video_id, attempt))).toEqual(
      TASKS.map((task) => keyOf(task, videoId)),
    );
    expect(tasks.map(({ kind, frames }) => [kind, frames])).toEqual([
      ['audio', 18],
      ['images', 18],
      ...PIECES.map(() => ['piece', 300]),
    ]);
    expect(new Set(tasks.map(({ workspace_id }) => workspace_id))).toEqual(new Set([workspaceId]));
  });

  test('with tasks ends the try that has made it', async () => {
    const [videoId, bystander] = [await waitingVideo(), await waitingVideo()];
    const key = keyOf(PLAN, videoId);
    await set({ tries: 1, lease_expires_at: minutes(1) }, key, keyOf(PLAN, bystander));
    const made = { ...key, try: 1 };
    expect((await effectOf(() => endPlanning(db, made))).changed).toEqual([key]);
    expect(await rowOf(key)).toMatchObject({ kind: 'plan', result: NO_OUTPUT, lease_expires_at: null });
  });

  test('has the number of plans that it replaces, for the try that has stored it', async () => {
    const [videoId, bystander] = [await waitingVideo(), await waitingVideo()];
    const key = keyOf(PLAN, videoId);
    await set({ tries: 1, lease_expires_at: minutes(1) }, key, keyOf(PLAN, bystander));
    const made = { ...key, try: 1 };
    expect(await findPlanningTry(db, made)).toEqual({ revision: -1, isCurrent: true });
    await storePlan(db, key, { plan: { ...samplePlan(), revision: 2 }, sourceSha256: undefined });
    for (const [each, expected] of [
      [made, 2],
      [{ ...made, try: 2 }, undefined],
      [{ ...made, attempt: ENDED }, undefined],
      [{ ...made, videoId: bystander }, -1],
      [{ ...made, task: AUDIO }, undefined],
    ] as const)
      expect([each, (await findPlanningTry(db, each))?.revision]).toEqual([each, expected]);
    await set({ lease_expires_at: null }, key);
    expect(await findPlanningTry(db, made)).toEqual({ revision: 2, isCurrent: false });
    await closeAttempt(videoId);
    expect(await findPlanningTry(db, made)).toBeUndefined();
  });

  test('without tasks lets the try go on and renews its lease', async () => {
    const [videoId, bystander] = [await waitingVideo(), await waitingVideo()];
    const [key, same] = [keyOf(PLAN, videoId), keyOf(PLAN, bystander)];
    await set({ tries: 1, lease_expires_at: minutes(1) }, key, same);
    const goOn = () => makeWhole(db, { ...key, try: 1 }, { frames: 900, leaseSeconds: 600 });
    expect((await effectOf(goOn)).changed).toEqual([key]);
    expect(await rowOf(key)).toMatchObject({
      kind: 'whole',
      frames: 900,
      lease_expires_at: 10,
      reported: true,
    });
    await set({ lease_expires_at: null }, key);
    expect((await effectOf(goOn)).changed).toEqual([]);
  });

  test('can get more tasks, whose numbers no task of the attempt has had', async () => {
    await deleteTasks(db, { videoId: own, attempt: OPEN, task: PIECES.at(-1) ?? 0 });
    await insertTasks(
      db,
      { videoId: own, attempt: OPEN },
      tasksOfPlan([{ kind: 'audio' }], 100, 'background'),
    );
    expect(await deleteTasks(db, { videoId: own, attempt: OPEN, task: AUDIO })).toBe(1);
    const numbers = (await rows())
      .filter(({ video_id, attempt }) => video_id === own && attempt === OPEN)
      .map(({ number }) => number);
    expect(numbers).toEqual([PLAN, IMAGES, ...PIECES.slice(0, -1), (PIECES.at(-1) ?? 0) + 1]);
    expect(await deleteTasks(db, { videoId: own, attempt: OPEN })).toBe(numbers.length);
    expect((await rows()).filter(({ video_id, attempt }) => video_id === own && attempt === OPEN)).toEqual(
      [],
    );
    expect((await rows()).filter(({ video_id }) => video_id === other)).not.toEqual([]);
  });

  test('is found with the hash of its source while its attempt is open', async () => {
    const find = (videoId: string, attempt = OPEN) => findPlan(db, { videoId, attempt });
    const plan = samplePlan();
    const stored = { ...taskPlanSchema.parse(plan), facts: plan.facts, optionalTasks: [] };
    expect(await find(own)).toEqual({ plan: stored, sourceSha256: `hash of ${own}` });
    expect(await find(own, ENDED)).toBeUndefined();
    const videoId = await insertVideo();
    expect(await find(videoId)).toBeUndefined();
    await storePlan(db, { videoId, attempt: OPEN }, { plan, sourceSha256: undefined });
    expect(await find(videoId)).toEqual({ plan: stored, sourceSha256: undefined });
  });

  test('is obsolete if its version is earlier and no engine works on the video', async () => {
    const isObsolete = (videoId: string, planVersion = PLAN_VERSION + 1) =>
      isPlanObsolete(db, { videoId, planVersion });
    expect([await isObsolete(own, PLAN_VERSION), await isObsolete(own)]).toEqual([false, true]);
    await set({ lease_expires_at: minutes(1) }, keyOf(AUDIO));
    expect([await isObsolete(own), await isObsolete(other)]).toEqual([false, true]);
    await closeAttempt(other);
    await set({ lease_expires_at: null }, keyOf(AUDIO));
    expect([await isObsolete(own), await isObsolete(other)]).toEqual([true, false]);
  });
});

describe('a claim of a task', () => {
  const claim = (planVersion = PLAN_VERSION) =>
    onReversedRows((trx) =>
      claimTask(trx, { videoId: own, command: 'task', planVersion, claimId: 'c1', leaseSeconds: 600 }),
    );
  const PUBLISHED = { command_published_at: minutes(-1) };
  beforeEach(() => set({ due_at: minutes(9) }, ...TASKS.map((task) => keyOf(task, own, ENDED))));

  test('starts a try of the first task of the video that waits and is due', async () => {
    await set({ lease_expires_at: minutes(1) }, keyOf(1));
    await set({ due_at: minutes(1) }, keyOf(2));
    await set(DONE, keyOf(3));
    await set(
      {
        tries: 1,
        progress: 0.5,
        reported: true,
        command_due_at: minutes(0),
        command_claimed_until: minutes(1),
      },
      keyOf(4),
    );
    const plan = samplePlan();
    expect(await effectOf(claim)).toEqual({
      result: {
        attempt: OPEN,
        task: 4,
        try: 2,
        work: plan.tasks[3],
        inputBytes: null,
        plan: taskPlanSchema.parse(plan),
      },
      changed: [keyOf(4)],
    });
    expect(await rowOf(keyOf(4))).toMatchObject({
      tries: 2,
      progress: 0,
      started_at: 0,
      lease_expires_at: 10,
      claim_id: 'c1',
      reported: false,
      command_due_at: null,
      command_claimed_until: null,
      command_published_at: null,
    });
    expect((await claim())?.task).toBe(5);
    expect(await effectOf(claim)).toEqual({ result: undefined, changed: [] });
  });

  test('needs a plan of this version for its attempt', async () => {
    const later = PLAN_VERSION + 1;
    await db
      .updateTable('attempts')
      .set({ plan: JSON.stringify({ ...samplePlan(), version: later }) })
      .where((eb) => eb.or([eb('video_id', '=', other), eb('number', '=', ENDED)]))
      .execute();
    expect(await effectOf(() => claim(later))).toEqual({ result: undefined, changed: [] });
    expect((await claim())?.task).toBe(1);
  });

  test('uses the published command of the task', async () => {
    await setAll(PUBLISHED);
    expect((await effectOf(claim)).changed).toEqual([keyOf(1)]);
    expect(await rowOf(keyOf(1))).toMatchObject({ command_published_at: null });
  });

  test('of a task without a published command makes the first published one of the attempt due again', async () => {
    await setAll(PUBLISHED);
    await set({ command_published_at: null }, keyOf(1), keyOf(2));
    expect((await effectOf(claim)).changed).toEqual([keyOf(1), keyOf(3)]);
    expect(await rowOf(keyOf(3))).toMatchObject({ command_due_at: 0, command_published_at: null });
  });

  test('uses a command that is being published: its engine can be faster than the record', async () => {
    const publishing = { command_due_at: minutes(-1), command_claimed_until: minutes(1) };
    await set(publishing, keyOf(1));
    await set(PUBLISHED, keyOf(2));
    expect((await effectOf(claim)).changed).toEqual([keyOf(1)]);
    await set({ lease_expires_at: null }, keyOf(1));
    await set({ command_published_at: null, ...publishing }, keyOf(2));
    // The command of another task.
    expect((await effectOf(claim)).changed).toEqual([keyOf(1), keyOf(2)]);
    expect(await rowOf(keyOf(2))).toMatchObject({ command_due_at: 0, command_claimed_until: null });
  });
});

describe('a claim of planning', () => {
  const claim = (videoId: string, claimId = 'c1') =>
    claimTask(db, { videoId, command: 'plan', planVersion: PLAN_VERSION, claimId, leaseSeconds: 600 });

  test('starts a try of the first task of the open attempt, once', async () => {
    const videoId = await waitingVideo();
    await set({ due_at: minutes(1) }, keyOf(PLAN, videoId, ENDED));
    expect(await effectOf(() => claim(videoId))).toEqual({
      result: { attempt: OPEN, task: PLAN, try: 1, plan: null, work: null, inputBytes: null },
      changed: [keyOf(PLAN, videoId)],
    });
    expect(await effectOf(() => claim(videoId))).toEqual({ result: undefined, changed: [] });
  });

  test('starts no task of a plan, and the claim of a task no planning', async () => {
    expect(await effectOf(() => claim(own))).toEqual({ result: undefined, changed: [] });
    const videoId = await waitingVideo();
    const claimed = () =>
      claimTask(db, {
        videoId,
        command: 'task',
        planVersion: PLAN_VERSION,
        claimId: 'c1',
        leaseSeconds: 600,
      });
    expect(await effectOf(claimed)).toEqual({ result: undefined, changed: [] });
  });
});

describe('a repeated claim', () => {
  const repeat = (claimId: string, videoId = own) =>
    repeatTaskClaim(db, { videoId, claimId, leaseSeconds: 600 });
  beforeEach(() =>
    set({ claim_id: 'c1', tries: 3, lease_expires_at: minutes(1) }, keyOf(IMAGES), keyOf(IMAGES, other)),
  );

  test('finds the try that it has started, and renews its lease', async () => {
    const { result, changed } = await effectOf(() => repeat('c1'));
    expect(result).toMatchObject({ attempt: OPEN, task: IMAGES, try: 3, work: { kind: 'images' } });
    expect(changed).toEqual([keyOf(IMAGES)]);
    expect(await rowOf(keyOf(IMAGES))).toMatchObject({ lease_expires_at: 10 });
    expect(await repeat('c2')).toBeUndefined();
  });

  test.each<[string, Values]>([
    ['has ended', { lease_expires_at: null }],
    ['has reported something', { reported: true }],
  ])('finds no try that %s', async (_, values) => {
    await set(values, keyOf(IMAGES));
    expect(await effectOf(() => repeat('c1'))).toEqual({ result: undefined, changed: [] });
    expect(await hasClaimed(db, own, 'c1')).toBe(true);
  });

  test('is known by its id, also after the attempt that it has begun', async () => {
    await db
      .updateTable('attempts')
      .set({ claim_id: 'c2' })
      .where('video_id', '=', own)
      .where('number', '=', ENDED)
      .execute();
    const known = (claimId: string) => Promise.all([own, other].map((id) => hasClaimed(db, id, claimId)));
    expect([await known('c1'), await known('c2'), await known('c3')]).toEqual([
      ...[
        [true, true],
        [true, false],
        [false, false],
      ],
    ]);
  });
});

describe('the limit of a workspace', () => {
  const LEASED = { lease_expires_at: minutes(1) };

  test('counts the tasks of its videos that engines work on', async () => {
    const foreign = await insertWorkspace(db);
    const videoId = await plannedVideo({ workspace: foreign });
    await set(LEASED, keyOf(1), keyOf(1, videoId));
    // Optional tasks count.
    await set({ ...LEASED, command: 'background' }, keyOf(2, other));
    // Planning does not count.
    await set(LEASED, keyOf(PLAN, await waitingVideo()));
    expect([await mayClaim(db, workspaceId, 2), await mayClaim(db, workspaceId, 3)]).toEqual([false, true]);
    expect([await mayClaim(db, foreign, 1), await mayClaim(db, foreign, 2)]).toEqual([false, true]);
  });

  test('holds for claims at the same time, and delays no claim of another workspace', async () => {
    const foreign = await insertWorkspace(db);
    const may = (workspace = workspaceId) => db.transaction().execute((trx) => mayClaim(trx, workspace, 1));
    const waits = () =>
      sql`select from pg_locks join pg_database on pg_database.oid = database
        where datname = current_database() and locktype = 'advisory' and not granted`.execute(db);
    const { second } = await db.transaction().execute(async (trx) => {
      expect(await mayClaim(trx, workspaceId, 1)).toBe(true);
      expect(await may(foreign)).toBe(true);
      const concurrent = may();
      await until(async () => (await waits()).rows.length === 1);
      const claimed = { videoId: own, claimId: 'c1', leaseSeconds: 600 };
      await claimTask(trx, { ...claimed, command: 'task', planVersion: PLAN_VERSION });
      return { second: concurrent };
    });
    expect(await second).toBe(false);
  });
});

describe('commands become due', () => {
  const DROPPED = { ...WAITING, due_at: minutes(-9), command_due_at: minutes(1) };

  test('before its time for the dropped one of a workspace with the lowest number', async () => {
    const foreign = await plannedVideo({ workspace: await insertWorkspace(db) });
    const makeDue = () => effectOf(() => onReversedRows((trx) => makeDroppedCommandDue(trx, workspaceId)));
    await set(DROPPED, keyOf(1, foreign));
    // A retry whose delay has not passed, a command that is due, one in the queue, and a task without one.
    await set({ ...DROPPED, due_at: minutes(1) }, keyOf(1));
    await set({ ...DROPPED, command_due_at: minutes(-1) }, keyOf(2));
    await set({ ...WAITING, due_at: minutes(-9), command_published_at: minutes(-1) }, keyOf(3));
    await set({ ...WAITING, due_at: minutes(-9) }, keyOf(1, other));
    await set(DROPPED, keyOf(5), keyOf(4, other));
    // No video waits for it.
    await set({ ...DROPPED, command: 'background' }, keyOf(2, other));
    expect((await makeDue()).changed).toEqual([keyOf(4, other)]);
    expect((await makeDue()).changed).toEqual([keyOf(5)]);
    expect(await rowOf(keyOf(5))).toMatchObject({ command_due_at: 0, command_published_at: null });
    expect((await makeDue()).changed).toEqual([keyOf(2, other)]);
    expect((await makeDue()).changed).toEqual([]);
  });

  test('for different tasks of a workspace when tasks end at the same time', async () => {
    await set(DROPPED, keyOf(1), keyOf(2, other));
    await db.transaction().execute(async (trx) => {
      await makeDroppedCommandDue(trx, workspaceId);
      const { changed } = await effectOf(() => makeDroppedCommandDue(db, workspaceId));
      expect(changed).toEqual([keyOf(2, other)]);
    });
    expect(await rowOf(keyOf(1))).toMatchObject({ command_due_at: 0 });
  });

  test('after a delay if an engine has dropped it, also before it is recorded as published', async () => {
    const drop = () =>
      effectOf(() => onReversedRows((trx) => dropCommand(trx, { videoId: own, command: 'task' }, 600)));
    await set({ command_due_at: minutes(-1) }, keyOf(1));
    await set({ command_due_at: minutes(-1), command_claimed_until: minutes(1) }, keyOf(2));
    await set({ command_published_at: minutes(-1) }, keyOf(3), keyOf(1, other));
    for (const task of [2, 3]) {
      expect((await drop()).changed).toEqual([keyOf(task)]);
      expect(await rowOf(keyOf(task))).toMatchObject({
        command_due_at: 10,
        command_claimed_until: null,
        command_published_at: null,
      });
    }
    expect((await drop()).changed).toEqual([]);
  });

  test('for the first tasks of an attempt that wait and have none', async () => {
    const makeDue = (count: number) =>
      effectOf(() =>
        onReversedRows((trx) =>
          makeCommandsDue(trx, { videoId: own, attempt: OPEN, command: 'task' }, count),
        ),
      );
    await set(DONE, keyOf(1));
    await set({ lease_expires_at: minutes(1) }, keyOf(2));
    await set({ command_published_at: minutes(-1) }, keyOf(3));
    expect((await makeDue(1)).changed).toEqual([keyOf(4)]);
    expect(await rowOf(keyOf(4))).toMatchObject({ command_due_at: 0 });
    expect((await makeDue(5)).changed).toEqual([keyOf(5)]);
  });
});

describe('a try', () => {
  let current: TaskTry;
  beforeEach(() => {
    current = { ...keyOf(4), try: 2 };
  });

  const RENEWAL = {
    leaseSeconds: 600,
    fraction: 0.5,
    startedRenditions: { '360p': { codecs: 'avc1.64001e' } },
  };
  const RUNNING = {
    tries: 2,
    progress: 0.2,
    lease_expires_at: minutes(1),
    started_renditions: { audio: { codecs: 'mp4a' } },
  };
  const renew = (taskTry: TaskTry) => renewTask(db, taskTry, RENEWAL);
  const store = (taskTry: TaskTry, task = AUDIO) => storeTaskResult(db, taskTry, resultOf(task));
  const retry = (taskTry: TaskTry) =>
    makeTaskDueAgain(db, taskTry, { failedTries: 3, unreportedTries: 2, delaySeconds: 600 });

  test.each<[string, (taskTry: TaskTry) => Promise<unknown>, unknown]>([
    ['a check', (taskTry) => isTryCurrent(db, taskTry), false],
    ['a renewal', renew, undefined],
    ['a result', (taskTry) => store(taskTry), undefined],
    ['the counts of tries', (taskTry) => findTryCounts(db, taskTry), undefined],
    ['the end', retry, undefined],
  ])(
    '%s: a try of another video, attempt or task, an earlier try and an ended one are not current',
    async (_, use, result) => {
      await set(RUNNING, current);
      const outdated = [{ videoId: other }, { attempt: ENDED }, { task: 5 }, { try: 1 }];
      for (const difference of outdated)
        expect(await effectOf(() => use({ ...current, ...difference }))).toEqual({ result, changed: [] });
      await set({ lease_expires_at: null }, current);
      expect(await effectOf(() => use(current))).toEqual({ result, changed: [] });
    },
  );

  test('is current while an engine works on it', async () => {
    await set(RUNNING, current);
    expect(await isTryCurrent(db, current)).toBe(true);
  });

  test('is renewed and no other task changes; its progress does not fall, and renditions are added', async () => {
    await setAll(RUNNING);
    expect((await effectOf(() => renew(current))).changed).toEqual([keyOf(4)]);
    const renewed = {
      lease_expires_at: 10,
      progress: 0.5,
      reported: true,
      started_renditions: { audio: { codecs: 'mp4a' }, '360p': { codecs: 'avc1.64001e' } },
    };
    expect(await rowOf(current)).toMatchObject(renewed);
    await renewTask(db, current, { leaseSeconds: 600, fraction: 0.3, startedRenditions: {} });
    expect(await rowOf(current)).toMatchObject(renewed);
  });

  test('stores its result, and knows how many tasks of the attempt have none', async () => {
    await setAll(RUNNING);
    const result = { kind: 'piece', left: TASKS.length - 1 };
    expect(await effectOf(() => store(current))).toMatchObject({ result, changed: [keyOf(4)] });
    expect(await rowOf(current)).toMatchObject({
      result: resultOf(AUDIO),
      lease_expires_at: null,
      progress: 1,
      started_renditions: { audio: { codecs: 'mp4a.40.2' } },
    });
    const others = [IMAGES, 3, 5];
    await set({ ...DONE, lease_expires_at: null }, ...others.map((task) => keyOf(task)));
    expect(await store({ ...current, task: AUDIO })).toEqual({
      kind: 'audio',
      work: { kind: 'audio' },
      left: 0,
      done: 1,
    });
  });

  test('starts no rendition with a result that lacks its first segment', async () => {
    await set(RUNNING, current);
    await store(current, 4);
    expect((await rowOf(current)).started_renditions).toEqual({ audio: { codecs: 'mp4a' } });
  });

  test('has a task whose failed tries are counted', async () => {
    await setAll({ ...RUNNING, failed_tries: 9 });
    await set({ failed_tries: 1 }, current);
    expect(await findTryCounts(db, current)).toEqual({
      kind: 'piece',
      work: samplePlan().tasks[current.task - 1],
      failedTries: 1,
      unreportedTries: 1,
    });
    await set({ unreported_tries: 2 }, current);
    expect(await findTryCounts(db, current)).toMatchObject({ unreportedTries: 3 });
    await set({ reported: true }, current);
    expect(await findTryCounts(db, current)).toMatchObject({ unreportedTries: 0 });
  });

  test('ends and no other task changes; the next one is due after the delay with a command of its own', async () => {
    await setAll({ ...RUNNING, command_claimed_until: minutes(1), command_published_at: minutes(-1) });
    expect((await effectOf(() => retry(current))).changed).toEqual([keyOf(4)]);
    expect(await rowOf(current)).toMatchObject({
      tries: 2,
      lease_expires_at: null,
      progress: 0,
      failed_tries: 3,
      unreported_tries: 2,
      due_at: 10,
      command_due_at: 10,
      command_claimed_until: null,
      command_published_at: null,
    });
  });
});

test('tries of all videos are found; they have expired when their leases have', async () => {
  const [expired, live] = [[keyOf(4), keyOf(1, other)], keyOf(5)];
  await setAll({ tries: 2 });
  await set({ lease_expires_at: minutes(-1) }, ...expired);
  await set({ lease_expires_at: minutes(1) }, live);
  const triesOf = (keys: Key[]) => new Set(keys.map((key) => ({ ...key, try: 2 })));
  const found = await findTries(db);
  expect(new Set(found.map(({ isAwaited: _, ...taskTry }) => taskTry))).toEqual(triesOf([...expired, live]));
  expect(found.map(({ task, isAwaited }) => isAwaited === task > PLAN)).not.toContain(false);
  expect(new Set(await findExpiredTries(db, 10))).toEqual(triesOf(expired));
  expect(await findExpiredTries(db, 1)).toHaveLength(1);
});

test('the completed part of an attempt is that of its frames', async () => {
  const renew = (task: number, videoId = own) =>
    renewTask(
      db,
      { ...keyOf(task, videoId), try: 1 },
      { leaseSeconds: 600, fraction: 0.5, startedRenditions: {} },
    );
  await setAll({ progress: 1, tries: 1 });
  await set({ progress: 0 }, ...TASKS.map((task) => keyOf(task)));
  await set(DONE, keyOf(3));
  const unplanned = await waitingVideo();
  const [running, done, planning] = [keyOf(4), keyOf(4, other), keyOf(PLAN, unplanned)];
  await set({ tries: 1, lease_expires_at: minutes(1) }, running, done, planning);
  const frames = 2 * 18 + 3 * 300;
  expect(await renew(4)).toBeCloseTo((300 + 150) / frames);
  expect(await renew(4, other)).toBe(1);
  expect(await renew(PLAN, unplanned)).toBe(0);
  const stored = await storeTaskResult(db, { ...running, try: 1 }, resultOf(4));
  expect(stored?.done).toBeCloseTo(600 / frames);
});

test('the text tracks of a plan are found once its last task runs', async () => {
  const find = (attempt: number) => findPlannedTexts(db, { videoId: own, attempt });
  await setAll(DONE);
  await set(WAITING, keyOf(3), keyOf(4));
  expect(await find(OPEN)).toBeUndefined();
  await set(DONE, keyOf(3));
  expect([await find(OPEN), await find(ENDED)]).toEqual([samplePlan().facts.captions, undefined]);
});

test('the results of an attempt are ordered by task, and complete', async () => {
  const find = () => onReversedRows((trx) => findResults(trx, { videoId: own, attempt: OPEN }));
  await setAll(DONE);
  for (const task of TASKS)
    await set({ result: JSON.stringify(resultOf(task)), tries: task + 1 }, keyOf(task));
  expect(await find()).toEqual([
    { task: PLAN, kind: 'plan', try: 1, result: NO_OUTPUT },
    ...TASKS.map((task) => ({ task, kind: kindOf(task), try: task + 1, result: resultOf(task) })),
  ]);
  await set(WAITING, keyOf(4));
  await expect(find()).rejects.toThrow(`Task 4 of ${own} is not done`);
});

test('the backlog of tasks counts those of a command that wait and those that engines work on', async () => {
  const backlog = async () => {
    const { waiting, running } = await findTaskBacklog(db, 'task');
    return { waiting: inMinutes(waiting), running: inMinutes(running) };
  };
  await setAll({ ...DONE, due_at: minutes(-90), started_at: minutes(-90) });
  expect(await backlog()).toEqual({ waiting: { count: 0, minutes: 0 }, running: { count: 0, minutes: 0 } });
  const started = { ...WAITING, started_at: minutes(-7), lease_expires_at: minutes(1) };
  await set(started, keyOf(1));
  await set({ ...started, started_at: minutes(-3) }, keyOf(1, other));
  await set({ ...WAITING, due_at: minutes(-10) }, keyOf(2));
  await set({ ...WAITING, due_at: minutes(-5) }, keyOf(2, other));
  await set({ ...WAITING, due_at: minutes(5) }, keyOf(3, other));
  expect(await backlog()).toEqual({
    waiting: { count: 3, minutes: 10 },
    running: { count: 2, minutes: 7 },
  });
});

/** A claim of one command. */
const CLAIM = { limit: 1, perWorkspace: 4, leaseSeconds: 600 };

describe('commands for tasks', () => {
  test('continue the trace of their task, or else that of their video', async () => {
    await db.updateTable('videos').set({ traceparent: 'of the video' }).execute();
    await set({ command_due_at: minutes(-2), traceparent: 'of the task' }, keyOf(1));
    await set({ command_due_at: minutes(-1) }, keyOf(2));
    const claimed = await claimDueCommands(db, 'task', { ...CLAIM, limit: 2 });
    expect(claimed.map(({ task, traceparent }) => [task, traceparent]).sort()).toEqual([
      [1, 'of the task'],
      [2, 'of the video'],
    ]);
  });

  const claim = async (limit: number) =>
    (await claimDueCommands(db, 'task', { ...CLAIM, limit })).map(({ videoId, attempt, task }) =>
      keyOf(task, videoId, attempt),
    );

  test('that are due and unclaimed are claimed, those due for longest first', async () => {
    const [dueAt, waitingSince] = [minutes(-2), minutes(-7)];
    await set({ due_at: waitingSince }, keyOf(4, other));
    await set({ command_due_at: minutes(1) }, keyOf(1));
    await set({ command_due_at: minutes(-9), command_claimed_until: minutes(1) }, keyOf(2));
    await set({ command_due_at: minutes(-1.5) }, keyOf(3));
    await set({ command_due_at: minutes(-1) }, keyOf(5));
    await set({ command_due_at: dueAt, command_claimed_until: minutes(-1) }, keyOf(4, other));
    expect(await effectOf(() => claimDueCommands(db, 'task', CLAIM))).toEqual({
      result: [{ ...keyOf(4, other), workspaceId, inputBytes: 8, dueAt, waitingSince, traceparent: null }],
      changed: [keyOf(4, other)],
    });
    expect(await rowOf(keyOf(4, other))).toMatchObject({ command_due_at: -2, command_claimed_until: 10 });
    expect(await onReversedRows((trx) => claimDueCommands(trx, 'task', CLAIM))).toMatchObject([
      { ...keyOf(3), inputBytes: 7 },
    ]);
    expect([await claim(1), await claim(1)]).toEqual([[keyOf(5)], []]);
  });

  test('are claimed only for as many tasks as the workspace may run', async () => {
    const limits = { ...CLAIM, limit: 9, maxTasks: 3 };
    const count = async () => (await claimDueCommands(db, 'task', limits)).length;
    await set(
      { command_due_at: minutes(-1) },
      keyOf(1),
      keyOf(2),
      keyOf(3),
      keyOf(1, other),
      keyOf(2, other),
    );
    await set({ lease_expires_at: minutes(1), command: 'background' }, keyOf(5));
    // An engine would drop the others.
    expect([await count(), await count()]).toEqual([2, 0]);
    await set({ lease_expires_at: minutes(1) }, keyOf(3), keyOf(4), keyOf(5));
    expect(await findCommandBacklog(db, 'task', limits)).toMatchObject({ count: 0 });
    await set({ lease_expires_at: null }, keyOf(3), keyOf(4), keyOf(5));
    expect(await count()).toBe(1);
  });

  test('are claimed once by control planes that claim at the same time', async () => {
    await set({ command_due_at: minutes(-1) }, keyOf(1), keyOf(1, other));
    const claimed = (await Promise.all([claim(1), claim(10)])).flat();
    expect(new Set(claimed)).toEqual(new Set([keyOf(1), keyOf(1, other)]));
    expect(claimed).toHaveLength(2);
  });

  test('are recorded as published, unless a later command of the task is due by now', async () => {
    const dueAt = minutes(-1);
    await setAll({ command_due_at: dueAt, command_claimed_until: minutes(1) });
    const command = {
      ...keyOf(4),
      workspaceId,
      inputBytes: 7,
      dueAt,
      waitingSince: dueAt,
      traceparent: null,
    };
    const record = (time: Date) => effectOf(() => recordPublished(db, { ...command, dueAt: time }));
    expect((await record(minutes(-2))).changed).toEqual([]);
    expect((await record(dueAt)).changed).toEqual([keyOf(4)]);
    expect(await rowOf(keyOf(4))).toMatchObject({
      command_due_at: null,
      command_claimed_until: null,
      command_published_at: 0,
    });
  });

  test('become due again if they were published long ago, the oldest first', async () => {
    const makeDue = (limit: number) => effectOf(() => makeUnclaimedDue(db, 'task', { seconds: 600, limit }));
    await set({ command_published_at: minutes(-5) }, keyOf(5));
    expect([await countPublished(db, 'task'), await makeDue(9)]).toEqual([1, { result: 0, changed: [] }]);
    const keys = [keyOf(4), keyOf(1, other)];
    await set({ command_published_at: minutes(-20) }, keyOf(1, other));
    await set({ command_published_at: minutes(-30) }, keyOf(4));
    expect([await countPublished(db, 'task'), await countPublished(db, 'plan')]).toEqual([3, 0]);
    expect(await makeDue(1)).toEqual({ result: 1, changed: [keyOf(4)] });
    expect(await makeDue(9)).toEqual({ result: 1, changed: [keyOf(1, other)] });
    for (const key of keys)
      expect(await rowOf(key)).toMatchObject({ command_due_at: 0, command_published_at: null });
  });

  test('all become due again; a later due time remains, and claims end', async () => {
    await set({ command_due_at: minutes(-3), command_claimed_until: minutes(1) }, keyOf(1));
    await set({ command_due_at: minutes(5), command_claimed_until: minutes(1) }, keyOf(2));
    await set({ command_published_at: minutes(-1) }, keyOf(3), keyOf(4, other));
    const keys = [keyOf(1), keyOf(2), keyOf(3), keyOf(4, other)];
    expect((await effectOf(() => makeAllCommandsDue(db, 'task'))).changed).toEqual(keys);
    const due = await Promise.all(keys.map(rowOf));
    expect(due.map(({ command_due_at }) => command_due_at)).toEqual([-3, 5, 0, 0]);
    for (const row of due)
      expect(row).toMatchObject({ command_claimed_until: null, command_published_at: null });
  });

  test('that are due count in the backlog, claimed or not', async () => {
    const backlog = async () => inMinutes(await findCommandBacklog(db, 'task', CLAIM));
    await set({ command_due_at: minutes(1) }, keyOf(1));
    expect(await backlog()).toEqual({ count: 0, minutes: 0 });
    await set({ command_due_at: minutes(-1) }, keyOf(2));
    await set({ command_due_at: minutes(-3), command_claimed_until: minutes(1) }, keyOf(2, other));
    expect(await backlog()).toEqual({ count: 2, minutes: 3 });
  });
});

describe('commands of each type', () => {
  const DUE = { command_due_at: minutes(-2) };
  const PUBLISHED = { command_published_at: minutes(-20) };
  let keys: Record<CommandType, Key>;
  beforeEach(async () => {
    const [transcribe, picture, derive] = PIECES.slice(-3).map((number) => keyOf(number)) as [Key, Key, Key];
    await set({ kind: 'download', command: 'derive', input_bytes: 5 }, derive);
    await set({ kind: 'picture', command: 'picture', input_bytes: 5 }, picture);
    await set({ kind: 'transcript', command: 'transcribe', input_bytes: 5 }, transcribe);
    const clip = keyOf(PLAN, await waitingVideo());
    await set({ kind: 'clip', command: 'clip', input_bytes: 5 }, clip);
    const background = keyOf(IMAGES);
    await set({ command: 'background' }, background);
    const plan = keyOf(PLAN, await waitingVideo());
    keys = { plan, task: keyOf(AUDIO), background, derive, picture, transcribe, clip };
  });

  test.each(COMMAND_TYPES)('%s: are claimed, counted and made due for their tasks only', async (type) => {
    await set(DUE, ...Object.values(keys));
    expect(await findCommandBacklog(db, type, CLAIM)).toMatchObject({ count: 1 });
    expect(await claimDueCommands(db, type, { ...CLAIM, limit: 9 })).toMatchObject([keys[type]]);
    expect(await claimDueCommands(db, type, { ...CLAIM, limit: 9 })).toEqual([]);
    expect((await effectOf(() => makeAllCommandsDue(db, type))).changed).toEqual([keys[type]]);

    await set({ command_due_at: null, command_claimed_until: null }, ...Object.values(keys));
    const others = COMMAND_TYPES.filter((other) => other !== type).map((other) => keys[other]);
    await set(PUBLISHED, ...others);
    const makeDue = () => makeUnclaimedDue(db, type, { seconds: 600, limit: 9 });
    expect(await countPublished(db, type)).toBe(0);
    expect((await effectOf(makeDue)).changed).toEqual([]);
    await set(PUBLISHED, keys[type]);
    expect(await countPublished(db, type)).toBe(1);
    expect((await effectOf(makeDue)).changed).toEqual([keys[type]]);
  });
});
