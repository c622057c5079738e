import { newId } from '@framelane/contracts/ids';
import { taskNumber } from '@framelane/contracts/outputs/tasks';
import type { RungName } from '@framelane/contracts/renditions';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { beforeEach, expect, test } from '@jest/globals';
import type { Database } from '../src/db/database.ts';
import {
  findLatestTry,
  findOffer,
  findPlan,
  findPreview,
  findPreviewedAttempt,
  storePreview,
  withdrawPreview,
} from '../src/playback/previews.store.ts';
import { insertTasks, storePlan, tasksOfPlan } from '../src/tasks/tasks.store.ts';
import { insertWorkspace } from './support/database.ts';
import { AUDIO, IMAGES, samplePlan } from './support/plan.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const ENDED = 1;
const OPEN = 2;

let db: Database;
let workspaceId: string;
/** Two videos with previews. Each has an ended and an open attempt with plans and tasks. */
let own: string;
let other: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeEach(async () => {
  [own, other] = [await video('Own'), await video('Other')];
  await changeTask(own, OPEN, AUDIO, {
    tries: 3,
    started_renditions: JSON.stringify({ '360p': { codecs: 'avc1' } }),
  });
  await changeTask(other, OPEN, AUDIO, {
    tries: 7,
    started_renditions: JSON.stringify({ audio: { codecs: 'mp4a' } }),
  });
});

/** Its plans differ from those of other videos and attempts. */
const planOf = (title: string, attempt: number): TranscodePlan => {
  const plan = samplePlan();
  return { ...plan, encode: { ...plan.encode, duration: title.length * 100 + attempt } };
};

async function video(title: string): Promise<string> {
  const id = newId('vid');
  const names = { title, filename: 'any.mp4', environment: 'live', status: 'processing' } as const;
  const values = { ...names, id, workspace_id: workspaceId, attempt: OPEN };
  await db
    .insertInto('videos')
    .values({ ...values, preview_variants: ['360p'] })
    .execute();
  const attempt = { video_id: id, due_at: new Date() };
  await db
    .insertInto('attempts')
    .values([
      { ...attempt, number: ENDED, outcome: 'failed', finished_at: new Date() },
      { ...attempt, number: OPEN },
    ])
    .execute();
  for (const number of [ENDED, OPEN]) {
    const plan = planOf(title, number);
    await storePlan(db, { videoId: id, attempt: number }, { plan, sourceSha256: undefined });
    await insertTasks(
      db,
      { videoId: id, attempt: number },
      tasksOfPlan(plan.tasks, plan.encode.frames, 'task'),
    );
  }
  return id;
}

const changeTask = (videoId: string, attempt: number, task: number, values: object) =>
  db
    .updateTable('tasks')
    .set(values)
    .where('video_id', '=', videoId)
    .where('attempt', '=', attempt)
    .where('number', '=', task)
    .execute();

const change = (videoId: string, values: object) =>
  db.updateTable('videos').set(values).where('id', '=', videoId).execute();

test('a preview has the renditions of its own video', async () => {
  expect(await findPreview(db, workspaceId, own)).toEqual({
    attempt: OPEN,
    variants: ['360p'],
    startedRenditions: { '360p': { codecs: 'avc1' } },
  });
  expect(await findPreviewedAttempt(db, workspaceId, own)).toBe(OPEN);
});

test.each<[string, (videoId: string) => Promise<unknown>]>([
  ['without offered renditions', (videoId) => change(videoId, { preview_variants: null })],
  ['that is deleted', (videoId) => change(videoId, { deleted_at: new Date(), content_key: null })],
  ['of another workspace', async (videoId) => change(videoId, { workspace_id: await insertWorkspace(db) })],
])('a video %s has no preview', async (_, makeDifferent) => {
  await makeDifferent(own);
  expect(await findPreview(db, workspaceId, own)).toBeUndefined();
  expect(await findPreviewedAttempt(db, workspaceId, own)).toBeUndefined();
});

test('a preview that is withdrawn has ended, and those of other videos have not', async () => {
  await withdrawPreview(db, own);
  expect(await findPreview(db, workspaceId, own)).toBeUndefined();
  expect(await findPreview(db, workspaceId, other)).toBeDefined();
});

test('a plan that replaces another one has no preview', async () => {
  const plan = { ...planOf('Own', OPEN), revision: 1 };
  await storePlan(db, { videoId: own, attempt: OPEN }, { plan, sourceSha256: undefined });
  expect(await findPreviewedAttempt(db, workspaceId, own)).toBeUndefined();
  expect(await findOffer(db, { videoId: own, attempt: OPEN })).toBeUndefined();
  const offer = { offered: ['360p' as const], variants: ['480p' as const] };
  expect(await storePreview(db, { videoId: own, attempt: OPEN }, offer)).toBe(false);
});

test('a plan is that of the open attempt at the video', async () => {
  for (const [title, videoId] of [
    ['Own', own],
    ['Other', other],
  ] as const) {
    const { optionalTasks: _, facts, ...plan } = planOf(title, OPEN);
    const { audioTracks } = facts;
    expect(await findPlan(db, { videoId, attempt: OPEN })).toEqual({ ...plan, facts: { audioTracks } });
  }
  expect(await findPlan(db, { videoId: own, attempt: ENDED })).toBeUndefined();
});

test('the latest try is that of the task', async () => {
  const latest = (task: number, videoId = own, attempt = OPEN) =>
    findLatestTry(db, { videoId, attempt, task });
  expect(
    await Promise.all([latest(AUDIO), latest(IMAGES), latest(AUDIO, other), latest(AUDIO, own, ENDED)]),
  ).toEqual([...[3, 0, 7, 0]]);
  expect(await latest(99)).toBeUndefined();
});

test('the progress of the tasks of a plan is in the order of their numbers', async () => {
  await db
    .insertInto('tasks')
    .values({
      video_id: own,
      workspace_id: workspaceId,
      attempt: OPEN,
      number: 0,
      kind: 'plan',
      command: 'plan',
      frames: 0,
    })
    .execute();
  const progresses = [0.4, 0.3, 0.2, 0.1, 0.5];
  for (const [position, progress] of progresses.entries())
    await changeTask(own, OPEN, taskNumber(position), { progress });
  const offer = await findOffer(db, { videoId: own, attempt: OPEN });
  expect(offer?.tasks.map(({ progress }) => progress)).toEqual(progresses);
});

test('renditions are offered for the open attempt of one video, once', async () => {
  const offer = (attempt: number) => findOffer(db, { videoId: own, attempt });
  expect(await offer(OPEN)).toMatchObject({ title: 'Own', offered: ['360p'] });
  expect(await offer(ENDED)).toBeUndefined();
  const store = (attempt: number) =>
    storePreview(db, { videoId: own, attempt }, { offered: ['360p'], variants: ['480p', '360p'] });
  expect([await store(ENDED), await store(OPEN), await store(OPEN)]).toEqual([false, true, false]);
  expect(await findPreview(db, workspaceId, own)).toMatchObject({ variants: ['480p', '360p'] });
  expect(await findPreview(db, workspaceId, other)).toMatchObject({ variants: ['360p'] });
  const offered: RungName[] = ['480p', '360p'];
  for (const values of [
    { status: 'failed', error_code: 'not_a_video' },
    { status: 'processing', error_code: null, deleted_at: new Date() },
  ]) {
    await change(own, values);
    expect(await offer(OPEN)).toBeUndefined();
    expect(
      await storePreview(db, { videoId: own, attempt: OPEN }, { offered, variants: ['720p', ...offered] }),
    ).toBe(false);
  }
});
