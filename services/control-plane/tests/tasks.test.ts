import { ENGINE_STOPPED, type TranscodeFailureCode } from '@framelane/contracts/failures';
import { type ClaimedTask, type ClaimTaskResponse, INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { CommandType, Message } from '@framelane/contracts/messages';
import { PLAN_VERSION, type TranscodePlan } from '@framelane/contracts/transcode-plan';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { firstTry } from './support/engine.ts';
import { tryOf } from './support/long-videos.ts';
import { AUDIO, IMAGES, PIECES, resultOf, samplePlan } from './support/plan.ts';

/** Longer than any step of these tests. Short, because the lease grace lasts as long, and no lease expires within it. */
const LEASE_SECONDS = 20;
const TASKS = [AUDIO, IMAGES, ...PIECES];
const commands: Message[] = [];

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    maintenanceSeconds: 1,
    attempts: { ...config.attempts, leaseSeconds: LEASE_SECONDS },
  }));
  for (const queue of ['engine.commands', 'engine.tasks'] as const)
    await plane.bus.consume(queue, { prefetch: 10 }, async (message) => void commands.push(message));
});
afterAll(() => plane.stop());
// Commands of earlier tests would fill the queue of the workspace.
beforeEach(() => plane.db.deleteFrom('attempts').execute());

/** A video whose first attempt has a plan. */
async function plannedVideo(plan: TranscodePlan = samplePlan()): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'long.mkv', playbackPolicy: 'public' });
  await plane.engine.upload(uploadToken);
  // A claim before the command is published would cancel the command.
  await until(() => commandsFor(videoId, 'plan').length === 1);
  await plane.engine.claim(videoId);
  expect(await store(videoId, 1, plan)).toBe(204);
  return videoId;
}

const store = (videoId: string, attempt: number, plan = samplePlan()) =>
  plane.engine.storePlan(videoId, attempt, plan);

async function video(videoId: string) {
  return (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;
}

const tryClaim = (videoId: string, planVersion = PLAN_VERSION, claimId?: string) =>
  plane.engine.request(INTERNAL_PATHS.claimTask, { videoId, command: 'task', planVersion, claimId });

async function claim(videoId: string): Promise<ClaimedTask> {
  const { status, body } = await tryClaim(videoId);
  expect([status, body.code]).toEqual([200, undefined]);
  return body as ClaimedTask;
}

type Try = Pick<ClaimTaskResponse, 'attempt' | 'task' | 'try'>;

const complete = (videoId: string, claimed: Try) =>
  plane.engine.report('task.completed', { ...tryOf(videoId, claimed), result: resultOf(claimed.task) });

const fail = (
  videoId: string,
  claimed: Try,
  code: TranscodeFailureCode | typeof ENGINE_STOPPED,
  retryable = true,
) =>
  plane.engine.report('task.failed', {
    ...tryOf(videoId, claimed),
    code,
    retryable,
    message: 'What went wrong.',
  });

const isCurrent = async (videoId: string, claimed: Try) =>
  (await plane.engine.request(INTERNAL_PATHS.checkTask, tryOf(videoId, claimed))).body.current;

async function claimAll(videoId: string, count = TASKS.length): Promise<ClaimedTask[]> {
  const claimed: ClaimedTask[] = [];
  while (claimed.length < count) claimed.push(await claim(videoId));
  return claimed;
}

const expireLease = (videoId: string, { task }: Try) =>
  plane.db
    .updateTable('tasks')
    .set({ lease_expires_at: new Date(Date.now() - 1000) })
    .where('video_id', '=', videoId)
    .where('number', '=', task)
    .execute();

function commandsFor(videoId: string, type: CommandType = 'task'): Message[] {
  return commands.filter((command) => command.type === type && command.data.videoId === videoId);
}

const untilCommands = (videoId: string, count: number) =>
  until(() => commandsFor(videoId).length >= count, { what: `${count} commands` });

/** Waits until the database has recorded that commands were sent, which it does after the queue has them. */
const untilRecorded = (videoId: string, count: number) =>
  until(async () => {
    const tasks = plane.db.selectFrom('tasks').select('number').where('video_id', '=', videoId);
    return (await tasks.where('command_published_at', 'is not', null).execute()).length === count;
  });

describe('a plan with tasks', () => {
  test('sends two commands; each claim sends another one', async () => {
    const videoId = await plannedVideo();
    // The claim of a task whose command is not recorded yet would send the command again.
    await untilRecorded(videoId, 2);
    expect(commandsFor(videoId)).toHaveLength(2);
    expect(commandsFor(videoId)[0]?.data).toEqual({
      videoId,
      workspaceId: plane.workspaceId,
      inputBytes: 1_000_000,
      waitingSince: expect.any(String),
    });
    await claim(videoId);
    await untilCommands(videoId, 3);
    await untilRecorded(videoId, 2);
    expect(commandsFor(videoId)).toHaveLength(3);
  });

  test('sends no further command at the end of a task', async () => {
    const videoId = await plannedVideo();
    const claimed = await claim(videoId);
    await untilRecorded(videoId, 2);
    // The command could be for any video of the workspace.
    const commandTimes = plane.db
      .selectFrom('tasks')
      .select(['video_id', 'number', 'command_due_at', 'command_published_at'])
      .orderBy('video_id')
      .orderBy('number');
    const before = await commandTimes.execute();
    await complete(videoId, claimed);
    expect(await commandTimes.execute()).toEqual(before);
  });

  test('is stored once, and refused after the end of the attempt', async () => {
    const videoId = await plannedVideo();
    expect(await store(videoId, 1)).toBe(204);
    const rows = await plane.db
      .selectFrom('tasks')
      .select('number')
      .where('video_id', '=', videoId)
      .execute();
    expect(rows).toHaveLength(1 + TASKS.length);
    expect(await store(videoId, 2)).toBe(409);
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect(await store(videoId, 1)).toBe(409);
  });

  test('is made by the first task: no other try can store one', async () => {
    const videoId = await plannedVideo();
    const plan = { ...samplePlan(), tasks: [] };
    for (const taskTry of [tryOf(videoId, await claim(videoId)), { ...firstTry(videoId, 1), try: 2 }]) {
      const { status, body } = await plane.engine.request(INTERNAL_PATHS.storePlan, { ...taskTry, plan });
      expect([status, body.code]).toEqual([409, 'plan_not_current']);
    }
    expect(await claimAll(videoId, TASKS.length - 1)).toHaveLength(TASKS.length - 1);
  });

  test('ends its try: what the engine reports about it changes nothing', async () => {
    const videoId = await plannedVideo();
    expect(await isCurrent(videoId, firstTry(videoId, 1))).toBe(false);
    await plane.engine.progress(videoId, 1, 0.9);
    expect((await video(videoId)).progress).toBe(0);
    // Its engine got no response and hands the try back.
    await plane.engine.fail(videoId, 1, { code: ENGINE_STOPPED, retryable: true });
    await plane.engine.complete(videoId, 1);
    expect((await video(videoId)).status).toBe('processing');
    expect(await claim(videoId)).toMatchObject({ attempt: 1, task: AUDIO, try: 1 });
  });

  test('that is invalid is refused', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    await plane.engine.claim(videoId);
    expect(await store(videoId, 1, { ...samplePlan(), version: PLAN_VERSION + 1 } as never)).toBe(400);
  });
});

describe('tasks', () => {
  test('are assigned in order, each once, with the data that the engine needs', async () => {
    const videoId = await plannedVideo();
    const claimed = await claimAll(videoId);
    expect(claimed.map(({ task }) => task)).toEqual(TASKS);
    expect(await tryClaim(videoId)).toMatchObject({ status: 409, body: { code: 'task_not_claimable' } });
    const { facts: _, tasks, optionalTasks: __, ...plan } = samplePlan();
    expect(claimed[2]).toMatchObject({
      attempt: 1,
      try: 1,
      plan,
      work: tasks[2],
      leaseSeconds: LEASE_SECONDS,
    });
    expect(Object.keys(claimed[2]?.plan ?? {}).sort()).toEqual(Object.keys(plan).sort());
    expect(Buffer.from(claimed[2]?.contentKey ?? '', 'base64')).toHaveLength(16);
    expect(await isCurrent(videoId, claimed[2] as Try)).toBe(true);
  });

  test('are claimed once by a claim that is repeated, because its response was lost', async () => {
    const videoId = await plannedVideo();
    const [first, repeated] = await Promise.all([1, 2].map(() => tryClaim(videoId, PLAN_VERSION, 'c1')));
    expect(first).toMatchObject({ status: 200, body: { task: AUDIO, try: 1 } });
    expect(repeated).toEqual(first);
    const claimed = first?.body as ClaimedTask;
    await plane.engine.report('task.progress', {
      ...tryOf(videoId, claimed),
      fraction: 0,
      startedRenditions: {},
    });
    expect((await tryClaim(videoId, PLAN_VERSION, 'c1')).status).toBe(409);
    await fail(videoId, claimed, ENGINE_STOPPED);
    expect((await tryClaim(videoId, PLAN_VERSION, 'c1')).status).toBe(409);
    expect(await claim(videoId)).toMatchObject({ task: AUDIO, try: 2 });
  });

  test('whose lease expires before their engine reports anything count as failed from the fourth time on', async () => {
    const videoId = await plannedVideo();
    const failures = () =>
      plane.db
        .selectFrom('tasks')
        .select(['failed_tries', 'unreported_tries'])
        .where('video_id', '=', videoId)
        .where('number', '=', AUDIO)
        .executeTakeFirstOrThrow();
    for (let number = 1; number <= 4; number += 1) {
      const claimed = await until(async () => {
        const { status, body } = await tryClaim(videoId);
        return status === 200 && (body as ClaimedTask);
      });
      expect(claimed).toMatchObject({ task: AUDIO, try: number });
      await expireLease(videoId, claimed);
      await until(async () => {
        await plane.maintain('end-expired-tasks');
        return !(await isCurrent(videoId, claimed));
      });
      expect(await failures()).toEqual({ failed_tries: Math.max(0, number - 3), unreported_tries: number });
    }
  });

  test('are counted in the timeline while the attempt is open', async () => {
    const videoId = await plannedVideo();
    const attempt = async () => {
      const timeline = `/v1/videos/${videoId}/timeline`;
      const { body } = await request(plane.url).get(timeline).set(plane.credentials).expect(200);
      return body.data.find(({ type }: { type: string }) => type === 'attempt').attempt;
    };
    const total = samplePlan().tasks.length;
    expect((await attempt()).tasks).toEqual({ total, completed: 0, running: 0 });
    const claimed = await claimAll(videoId);
    await complete(videoId, claimed[0] as Try);
    expect((await attempt()).tasks).toEqual({ total, completed: 1, running: total - 1 });
    for (const each of claimed.slice(1)) await complete(videoId, each);
    expect(await attempt()).toMatchObject({ outcome: 'completed', tasks: null });
  });

  test('of another version of plans are left to other engines', async () => {
    const videoId = await plannedVideo();
    expect(await claim(videoId)).toMatchObject({ task: AUDIO, try: 1 });
    expect(await tryClaim(videoId, PLAN_VERSION + 1)).toMatchObject({ status: 409 });
    expect(await claim(videoId)).toMatchObject({ attempt: 1 });

    const later = await plannedVideo();
    const version = PLAN_VERSION + 1;
    await sql`update attempts set plan = jsonb_set(plan, '{version}', to_jsonb(${version}::int)) where video_id = ${later}`.execute(
      plane.db,
    );
    expect(await tryClaim(later, PLAN_VERSION)).toMatchObject({ status: 409 });
    expect(await tryClaim(later, version)).toMatchObject({ status: 200 });
  });

  test('of an earlier version of plans, on which no engine works, are planned anew', async () => {
    const videoId = await plannedVideo();
    expect(await tryClaim(videoId, PLAN_VERSION + 1)).toMatchObject({ status: 409 });
    expect(await tryClaim(videoId)).toMatchObject({ status: 409 });
    expect(await plane.engine.claim(videoId)).toMatchObject({ attempt: 2 });
  });

  test('show their progress together, and it never falls', async () => {
    const videoId = await plannedVideo();
    const [audio, , first] = await claimAll(videoId);
    const report = (claimed: Try | undefined, fraction: number) =>
      plane.engine.report('task.progress', {
        ...tryOf(videoId, claimed as Try),
        fraction,
        startedRenditions: {},
      });
    await report(first, 0.5);
    const half = (await video(videoId)).progress;
    // One piece is about a third of the work.
    expect(half).toBeGreaterThan(13);
    expect(half).toBeLessThan(17);
    await complete(videoId, audio as Try);
    const more = (await video(videoId)).progress;
    expect(more).toBeGreaterThan(half);
    await fail(videoId, first as Try, 'storage_failed');
    await report(await claim(videoId), 0);
    expect((await video(videoId)).progress).toBe(more);
  });

  test('make the video ready in any order, and players get the segments of the completed tries', async () => {
    const videoId = await plannedVideo();
    const claimed = await claimAll(videoId);
    const lost = claimed[3] as Try;
    await fail(videoId, lost, ENGINE_STOPPED);
    const again = await claim(videoId);
    expect(again).toMatchObject({ task: lost.task, try: 2 });
    const output = `hls/${plane.workspaceId}/${videoId}/a1/`;
    const bytesOf = (sequence: number) => 1000 + 16 * sequence;
    const folders = ['t3.1', 't3.1', 't4.2', 't4.2', 't5.1', 't5.1'];
    for (const [sequence, folder] of folders.entries()) {
      const body = Buffer.alloc(bytesOf(sequence), folder);
      await plane.objects.put(`${output}${folder}/360p/${sequence}.ts`, body, 'video/mp2t');
    }
    await plane.objects.put(`${output}t2.1/poster.jpg`, Buffer.alloc(300, 'poster'), 'image/jpeg');
    const straggler = `${output}t4.1/360p/2.ts`;
    await plane.objects.put(straggler, Buffer.alloc(10), 'video/mp2t');

    for (const done of [again, ...claimed.filter((one) => one !== lost).toReversed()]) {
      expect((await video(videoId)).status).toBe('processing');
      await complete(videoId, done);
    }
    expect(await video(videoId)).toMatchObject({ status: 'ready', progress: 100, duration: 36 });
    const hls = `/v1/hls/${plane.workspaceId}/${videoId}`;
    for (const [sequence, folder] of folders.entries()) {
      const segment = await request(plane.url).get(`${hls}/360p/${sequence}.ts`).buffer().expect(200);
      expect(segment.body).toEqual(Buffer.alloc(bytesOf(sequence), folder));
    }
    expect((await request(plane.url).get(`${hls}/poster.jpg`).expect(200)).body).toHaveLength(300);
    // What the lost try has stored is purged, and nothing else.
    await until(async () => (await plane.objects.head(straggler)) === null);
    expect(await plane.objects.head(`${output}t4.2/360p/2.ts`)).not.toBeNull();
    expect(
      await plane.db.selectFrom('tasks').select('number').where('video_id', '=', videoId).execute(),
    ).toEqual([]);
  });

  test('ignore results of tries that have ended', async () => {
    const videoId = await plannedVideo();
    const first = await claim(videoId);
    await fail(videoId, first, 'storage_failed');
    expect(await isCurrent(videoId, first)).toBe(false);
    const second = await claim(videoId);
    expect(second).toMatchObject({ task: first.task, try: 2 });
    await complete(videoId, first);
    await fail(videoId, first, 'transcode_failed', false);
    expect(await isCurrent(videoId, second)).toBe(true);
    await complete(videoId, second);
    await complete(videoId, second);
    expect((await video(videoId)).status).toBe('processing');
  });

  test('that fail three times for a transient reason fail the video', async () => {
    const videoId = await plannedVideo();
    let [claimed] = await claimAll(videoId);
    for (const number of [1, 2, 3]) {
      expect(claimed).toMatchObject({ task: AUDIO, try: number });
      expect((await video(videoId)).status).toBe('processing');
      await fail(videoId, claimed as Try, 'storage_failed');
      if (number < 3) {
        claimed = await until(async () => {
          const { status, body } = await tryClaim(videoId);
          return status === 200 && (body as ClaimedTask);
        });
      }
    }
    expect(await video(videoId)).toMatchObject({ status: 'failed', error: { code: 'storage_failed' } });
  });

  test('that an engine hands back do not count as failed', async () => {
    const videoId = await plannedVideo();
    for (const number of [1, 2, 3, 4]) {
      const claimed = await claim(videoId);
      expect(claimed).toMatchObject({ task: AUDIO, try: number });
      await fail(videoId, claimed, ENGINE_STOPPED);
    }
    expect((await video(videoId)).status).toBe('processing');
  });

  test('are due again when the lease of their engine expires; the results of other tasks are kept', async () => {
    const videoId = await plannedVideo();
    const [audio, images, ...pieces] = await claimAll(videoId);
    await complete(videoId, audio as Try);
    const published = commandsFor(videoId).length;
    await expireLease(videoId, pieces[1] as Try);
    await untilCommands(videoId, published + 1);
    const again = await claim(videoId);
    expect(again).toMatchObject({ task: pieces[1]?.task, try: 2 });
    // The lost engine finishes its piece after the next try has begun.
    await complete(videoId, pieces[1] as Try);
    for (const done of [again, images, pieces[0], pieces[2]]) await complete(videoId, done as Try);
    expect((await video(videoId)).status).toBe('ready');
  });

  test('are counted by their outcomes', async () => {
    const metrics = () => PrometheusText.scrape(`${plane.engine.internalUrl}/metrics`);
    const videoId = await plannedVideo();
    const [audio, images, expired, transient, permanent] = await claimAll(videoId);
    const before = await metrics();
    await complete(videoId, audio as Try);
    await fail(videoId, images as Try, ENGINE_STOPPED);
    await expireLease(videoId, expired as Try);
    await until(async () => !(await isCurrent(videoId, expired as Try)));
    await fail(videoId, transient as Try, 'storage_failed');
    await fail(videoId, permanent as Try, 'transcode_failed', false);
    const after = await metrics();
    const tasks = 'framelane_tasks_total';
    expect(after.growthSince(before, tasks)).toEqual({
      [`${tasks}{kind="audio",outcome="completed"}`]: 1,
      [`${tasks}{kind="images",outcome="handed_back"}`]: 1,
      [`${tasks}{kind="piece",outcome="lease_expired"}`]: 1,
      [`${tasks}{kind="piece",outcome="failed"}`]: 2,
    });
    // The last failure ended the attempt.
    const attempts = 'framelane_transcode_attempts_total';
    expect(after.growthSince(before, attempts)).toMatchObject({ [`${attempts}{outcome="failed"}`]: 1 });
  });

  test('keep their lease while progress is reported', async () => {
    const videoId = await plannedVideo();
    const claimed = await claim(videoId);
    const leaseEnd = async () => {
      const tasks = plane.db.selectFrom('tasks').select('lease_expires_at').where('video_id', '=', videoId);
      return (await tasks.where('number', '=', claimed.task).executeTakeFirst())?.lease_expires_at;
    };
    const before = await leaseEnd();
    await plane.engine.report('task.progress', {
      ...tryOf(videoId, claimed),
      fraction: 0,
      startedRenditions: {},
    });
    expect(Number(await leaseEnd())).toBeGreaterThan(Number(before));
  });

  test('end when the video is deleted, and the objects of a late try are purged', async () => {
    const videoId = await plannedVideo();
    const claimed = await claim(videoId);
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect(await isCurrent(videoId, claimed)).toBe(false);
    expect((await tryClaim(videoId)).status).toBe(409);
    const late = `hls/${plane.workspaceId}/${videoId}/a1/t1.1/audio/0.ts`;
    await plane.objects.put(late, Buffer.from('x'), 'video/mp2t');
    await complete(videoId, claimed);
    await until(async () => (await plane.objects.head(late)) === null);
  });
});

describe('the limit of concurrent tasks of a workspace', () => {
  let limited: TestControlPlane;
  let sent: string[];
  beforeAll(async () => {
    limited = await startControlPlane((config) => ({
      ...config,
      attempts: { ...config.attempts, workspaceMaxTasks: 2 },
    }));
    await limited.bus.consume(
      'engine.tasks',
      { prefetch: 10 },
      async ({ data }) => void sent.push(data.videoId),
    );
  });
  afterAll(() => limited.stop());

  let first: string;
  let second: string;
  beforeEach(async () => {
    await limited.db.deleteFrom('attempts').execute();
    sent = [];
    [first, second] = [await planned(), await planned()];
    // As many as tasks may run.
    await until(async () => (await commandsOf('command_published_at')).length === 2);
  });

  async function planned(): Promise<string> {
    const { videoId, uploadToken } = await limited.ticket();
    await limited.engine.upload(uploadToken);
    await limited.engine.claim(videoId);
    await limited.engine.storePlan(videoId, 1, samplePlan());
    return videoId;
  }

  /** The videos of the tasks that have a command in the queue, or one that is due. */
  async function commandsOf(time: 'command_published_at' | 'command_due_at'): Promise<string[]> {
    const tasks = limited.db.selectFrom('tasks').select('video_id').where(time, 'is not', null);
    return (await tasks.execute()).map((task) => task.video_id);
  }

  const claimOf = (videoId: string) =>
    limited.engine.request(INTERNAL_PATHS.claimTask, {
      videoId,
      command: 'task',
      planVersion: PLAN_VERSION,
    });

  test('holds; the end of a task begins the next', async () => {
    // Concurrent claims for two videos: the limit is for both together.
    const claims = await Promise.all([first, second, first, second].map(claimOf));
    expect(claims.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
    const [granted] = claims.flatMap(({ status, body }, at) =>
      status === 200 ? [tryOf(at % 2 === 0 ? first : second, body as ClaimedTask)] : [],
    );
    if (granted === undefined) throw new Error('No task was claimed');
    const before = sent.length;
    await limited.engine.report('task.completed', { ...granted, result: resultOf(granted.task) });
    await until(() => sent.length > before);
    const next = sent.at(-1) as string;
    expect((await claimOf(next)).status).toBe(200);
    expect((await claimOf(first)).status).toBe(409);
  });

  test('delays the commands that engines drop: they are sent again also if no task ends', async () => {
    for (const status of [200, 200]) expect((await claimOf(first)).status).toBe(status);
    // As if they had been sent before the others were claimed.
    await limited.db
      .updateTable('tasks')
      .set({ command_due_at: null, command_claimed_until: null, command_published_at: sql`now()` })
      .where('video_id', '=', second)
      .where('command_due_at', 'is not', null)
      .execute();
    for (const status of [409, 409]) expect((await claimOf(second)).status).toBe(status);
    await request(limited.url).delete(`/v1/videos/${first}`).set(limited.credentials).expect(204);
    expect(await commandsOf('command_published_at')).toEqual([]);
    expect(await commandsOf('command_due_at')).toEqual([second, second]);
    const sentForSecond = () => sent.filter((videoId) => videoId === second).length;
    expect(sentForSecond()).toBe(0);
    await limited.db
      .updateTable('tasks')
      .set({ command_due_at: sql`now()` })
      .where('command_due_at', 'is not', null)
      .execute();
    await until(() => sentForSecond() === 2);
    expect((await claimOf(second)).status).toBe(200);
  });
});

describe('a video whose tasks cannot be completed as planned is transcoded as a whole', () => {
  const claimNext = async (videoId: string) => {
    await until(() => commandsFor(videoId, 'plan').length === 2);
    // Neither the tasks nor the attempt count as failed tries of the next one.
    const tasks = plane.db.selectFrom('tasks').select('failed_tries').where('video_id', '=', videoId);
    expect(await tasks.execute()).toEqual([{ failed_tries: 0 }]);
    return plane.engine.claim(videoId);
  };

  test('after a failure that another try cannot avoid', async () => {
    const videoId = await plannedVideo();
    const [first, second] = await claimAll(videoId);
    await fail(videoId, first as Try, 'transcode_failed', false);
    expect(await isCurrent(videoId, second as Try)).toBe(false);
    const next = await claimNext(videoId);
    expect(next).toMatchObject({ attempt: 2, work: { pieceSeconds: null } });
    await plane.engine.complete(videoId, 2);
    expect((await video(videoId)).status).toBe('ready');
  });

  test('after inconsistent results', async () => {
    const videoId = await plannedVideo();
    for (const claimed of await claimAll(videoId)) {
      const result = claimed.task === PIECES[1] ? resultOf(PIECES[0] as number) : resultOf(claimed.task);
      await plane.engine.report('task.completed', { ...tryOf(videoId, claimed), result });
    }
    expect((await claimNext(videoId)).work.pieceSeconds).toBeNull();
  });
});

test('a command for tasks claims no planning, and a command to plan no task of a plan', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  const claims = (command: CommandType) =>
    plane.engine.request(INTERNAL_PATHS.claimTask, { videoId, command, planVersion: PLAN_VERSION });
  expect(await claims('task')).toMatchObject({ status: 409, body: { code: 'task_not_claimable' } });
  await plane.engine.claim(videoId);
  await store(videoId, 1);
  expect(await claims('plan')).toMatchObject({ status: 409, body: { code: 'task_not_claimable' } });
  expect(await claims('task')).toMatchObject({ status: 200, body: { task: AUDIO } });
});

test('a command that an engine uses for an earlier task is replaced', async () => {
  const videoId = await plannedVideo();
  await untilRecorded(videoId, 2);
  const taken = await claim(videoId);
  await untilCommands(videoId, 3);
  await untilRecorded(videoId, 2);
  // As if the command of the task that is handed back were not published yet.
  await fail(videoId, taken, ENGINE_STOPPED);
  await plane.db
    .updateTable('tasks')
    .set({ command_due_at: new Date(Date.now() + 3_600_000), command_published_at: null })
    .where('video_id', '=', videoId)
    .where('number', '=', taken.task)
    .execute();
  const before = commandsFor(videoId).length;
  expect(await claim(videoId)).toMatchObject({ task: taken.task, try: 2 });
  // One for the task whose command was used, and the one that each claim makes due.
  await untilCommands(videoId, before + 2);
});

describe('commands', () => {
  const publishedLongAgo = (videoId: string, seconds: number) =>
    plane.db
      .updateTable('tasks')
      .set({ command_published_at: new Date(Date.now() - seconds * 1000) })
      .where('video_id', '=', videoId)
      .where('command_published_at', 'is not', null)
      .executeTakeFirst();

  let videoId: string;
  beforeEach(async () => {
    videoId = await plannedVideo();
    await untilRecorded(videoId, 2);
  });

  test('that an idle fleet has not claimed are published again', async () => {
    await publishedLongAgo(videoId, 60);
    await untilCommands(videoId, 4);
  });

  test('that wait in the queue are not published again, however long they wait', async () => {
    const counting = jest.spyOn(plane.bus, 'countWaiting').mockResolvedValue(2);
    try {
      await publishedLongAgo(videoId, 20 * 60);
      await plane.maintain('reissue-lost-commands');
      await untilRecorded(videoId, 2);
      expect(commandsFor(videoId)).toHaveLength(2);
      // One of the two is lost.
      counting.mockResolvedValueOnce(1).mockResolvedValueOnce(1);
      for (let n = 0; n < 2; n++) await plane.maintain('reissue-lost-commands');
      await untilCommands(videoId, 3);
      await untilRecorded(videoId, 2);
      expect(commandsFor(videoId)).toHaveLength(3);
    } finally {
      counting.mockRestore();
    }
  });

  test('for a deleted video are not published again', async () => {
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    // Its tasks are deleted, and their commands with them.
    expect((await publishedLongAgo(videoId, 60)).numUpdatedRows).toBe(0n);
  });

  test('are published again by a control plane that starts alone; completed tasks stay completed', async () => {
    const [audio, images] = [await claim(videoId), await claim(videoId)];
    await complete(videoId, audio);
    await plane.engine.report('task.progress', {
      ...tryOf(videoId, images),
      fraction: 0,
      startedRenditions: {},
    });
    const published = commandsFor(videoId).length;
    await plane.startAnotherAsSingleNode();
    await untilCommands(videoId, published + 2);
    expect(await isCurrent(videoId, images)).toBe(false);
    const tasks = plane.db.selectFrom('tasks').select('failed_tries').where('video_id', '=', videoId);
    expect(await tasks.where('failed_tries', '>', 0).execute()).toEqual([]);
    expect(await claim(videoId)).toMatchObject({ attempt: 1, task: IMAGES, try: 2 });
  });
});
