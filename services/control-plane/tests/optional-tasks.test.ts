import { type ClaimedTask, INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { PLAN_VERSION, type TranscodePlan } from '@framelane/contracts/transcode-plan';
import { imageKey, taskFolder } from '@framelane/object-store/object-keys';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { storedSource } from '../src/artifacts/artifacts.service.ts';
import { requestPurge } from '../src/videos/object-purges.store.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { tryOf } from './support/long-videos.ts';
import { planOf, resultOfWhole, sampleManifest } from './support/manifest.ts';
import { AUDIO, IMAGES, PIECES, resultOf, samplePlan } from './support/plan.ts';

const image = jpegOf(640, 360, 700);
const IMAGES_RESULT: TaskResult = {
  images: {
    poster: { bytes: image.length },
    storyboard: { bytes: image.length, width: 160, height: 90, columns: 6, tiles: 36, interval: 1 },
  },
};

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    maintenanceSeconds: 1,
    purgeRepeatSeconds: 1,
    // No lease expires before one has passed since the start.
    attempts: { ...config.attempts, leaseSeconds: 5 },
  }));
});
afterAll(() => plane.stop());

/** The plan of a video that does not wait for its images. */
function planWithoutImages(): TranscodePlan {
  const plan = samplePlan();
  const isImages = ({ kind }: { kind: string }) => kind === 'images';
  return {
    ...plan,
    tasks: plan.tasks.filter((task) => !isImages(task)),
    optionalTasks: plan.tasks.filter(isImages),
  };
}

const tryClaim = (videoId: string, planVersion = PLAN_VERSION, command = 'background') =>
  plane.engine.request(INTERNAL_PATHS.claimTask, { videoId, command, planVersion });

async function claim(videoId: string, command?: 'task'): Promise<ClaimedTask> {
  const { status, body } = await tryClaim(videoId, PLAN_VERSION, command);
  expect([status, body.code]).toEqual([200, undefined]);
  return body as ClaimedTask;
}

const complete = (videoId: string, claimed: ClaimedTask, result: TaskResult) =>
  plane.engine.report('task.completed', { ...tryOf(videoId, claimed), result });

const fail = (videoId: string, claimed: ClaimedTask, retryable: boolean) =>
  plane.engine.report('task.failed', {
    ...tryOf(videoId, claimed),
    code: 'internal_error',
    message: 'What went wrong.',
    retryable,
  });

const get = (path: string) => request(plane.url).get(`/v1${path}`).set(plane.credentials);
const video = async (videoId: string) => (await get(`/videos/${videoId}`)).body;
const images = async (videoId: string) => {
  const names = ['poster.jpg', 'storyboard.jpg', 'storyboard.vtt'];
  const responses = names.map((name) => get(`/hls/${plane.workspaceId}/${videoId}/${name}`));
  return (await Promise.all(responses)).map(({ status }) => status);
};

const tasksOf = async (videoId: string) =>
  plane.db.selectFrom('tasks').selectAll().where('video_id', '=', videoId).execute();

const sourceOf = (videoId: string) =>
  storedSource(plane.db, { id: videoId, workspace_id: plane.workspaceId });

/** Key of an image that a try stores. */
const keyOf = (videoId: string, { attempt, task, try: tryNumber }: ClaimedTask) =>
  imageKey(
    { workspaceId: plane.workspaceId, videoId, attempt, folder: taskFolder(task, tryNumber) },
    'poster.jpg',
  );

async function storeImages(videoId: string, claimed: ClaimedTask): Promise<string> {
  const key = keyOf(videoId, claimed);
  await plane.objects.put(key, image, 'image/jpeg');
  await plane.objects.put(key.replace('poster', 'storyboard'), image, 'image/jpeg');
  return key;
}

const untilPurged = (videoId: string) =>
  until(async () => {
    const purge = plane.db.selectFrom('object_purges').select('pass').where('video_id', '=', videoId);
    return (await purge.execute()).length === 0;
  });

/** A video that is ready and whose images no engine has begun. */
async function readyVideo(fields: { keepSource?: 'never' } = {}): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'long.mkv', ...fields });
  await plane.engine.upload(uploadToken);
  await plane.engine.claim(videoId);
  expect(await plane.engine.storePlan(videoId, 1, planWithoutImages())).toBe(204);
  // The tasks of the sample that is not without images have these numbers.
  for (const task of [AUDIO, ...PIECES])
    await complete(videoId, await claim(videoId, 'task'), resultOf(task));
  expect(await video(videoId)).toMatchObject({ status: 'ready', progress: 100 });
  return videoId;
}

describe('an optional task', () => {
  test('begins when the video is ready, and its output is added to the video', async () => {
    const videoId = await readyVideo();
    expect(await images(videoId)).toEqual([404, 404, 404]);
    const [waiting] = await tasksOf(videoId);
    expect(waiting?.command_due_at ?? waiting?.command_published_at).toBeInstanceOf(Date);
    const { storageBytes, readyAt } = await video(videoId);
    const claimed = await claim(videoId);
    expect(claimed).toMatchObject({ attempt: 1, task: 5, work: { kind: 'images' } });
    expect(claimed.plan.encode).toEqual(planWithoutImages().encode);
    await storeImages(videoId, claimed);
    await complete(videoId, claimed, IMAGES_RESULT);

    expect(await images(videoId)).toEqual([200, 200, 200]);
    const after = await video(videoId);
    expect(after).toMatchObject({ status: 'ready', readyAt });
    expect(after.storageBytes).toBe(storageBytes + 2 * image.length);
    expect(await tasksOf(videoId)).toEqual([]);
    await untilPurged(videoId);
    expect(await images(videoId)).toEqual([200, 200, 200]);
    expect((await tryClaim(videoId)).status).toBe(409);
  });

  test('also follows a video that one run transcodes', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    await plane.engine.claim(videoId);
    const manifest = { ...sampleManifest(), poster: null, storyboard: null };
    const { optionalTasks } = planWithoutImages();
    expect(await plane.engine.storePlan(videoId, 1, { ...planOf(manifest), optionalTasks })).toBe(204);
    expect((await tryClaim(videoId)).status).toBe(409);
    await plane.engine.report('task.completed', {
      videoId,
      attempt: 1,
      task: 0,
      try: 1,
      result: resultOfWhole(manifest),
    });
    const claimed = await claim(videoId);
    await storeImages(videoId, claimed);
    await complete(videoId, claimed, IMAGES_RESULT);
    expect(await images(videoId)).toEqual([200, 200, 200]);
  });

  test('also follows a video whose first plan was replaced, in a folder of its own', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    await plane.engine.claim(videoId);
    const manifest = { ...sampleManifest(), poster: null, storyboard: null };
    const { optionalTasks } = planWithoutImages();
    for (const revision of [0, 1])
      await plane.engine.storePlan(videoId, 1, { ...planOf(manifest), revision, optionalTasks });
    await plane.engine.report('task.completed', {
      videoId,
      attempt: 1,
      task: 0,
      try: 1,
      result: resultOfWhole(manifest),
    });
    const claimed = await claim(videoId);
    await storeImages(videoId, claimed);
    await complete(videoId, claimed, IMAGES_RESULT);
    expect(await images(videoId)).toEqual([200, 200, 200]);
  });

  test('is retried after a transient failure; after the last one, the video stays ready without its output', async () => {
    const videoId = await readyVideo();
    for (const tryNumber of [1, 2, 3]) {
      const claimed = await claim(videoId);
      expect(claimed.try).toBe(tryNumber);
      await fail(videoId, claimed, true);
      await plane.db
        .updateTable('tasks')
        .set({ due_at: new Date() })
        .where('video_id', '=', videoId)
        .execute();
    }
    expect(await tasksOf(videoId)).toEqual([]);
    expect(await video(videoId)).toMatchObject({ status: 'ready', error: null });
    expect((await tryClaim(videoId)).status).toBe(409);
  });

  test('that fails for good is left out at once, and what it has stored is purged', async () => {
    const videoId = await readyVideo();
    const claimed = await claim(videoId);
    const key = await storeImages(videoId, claimed);
    await fail(videoId, claimed, false);
    expect(await tasksOf(videoId)).toEqual([]);
    expect(await video(videoId)).toMatchObject({ status: 'ready', error: null });
    await until(async () => (await plane.objects.head(key)) === null);
  });

  test('is due again when the lease of its engine expires, and a late result changes nothing', async () => {
    const videoId = await readyVideo();
    const first = await claim(videoId);
    await plane.db
      .updateTable('tasks')
      .set({ lease_expires_at: new Date(0), reported: true })
      .where('video_id', '=', videoId)
      .execute();
    await until(async () => (await tasksOf(videoId))[0]?.lease_expires_at === null);
    await complete(videoId, first, IMAGES_RESULT);
    expect(await images(videoId)).toEqual([404, 404, 404]);
    expect(await tasksOf(videoId)).toMatchObject([{ failed_tries: 1, result: null }]);
  });

  test('that stops its machine each time is left out after three tries', async () => {
    const videoId = await readyVideo();
    for (const tryNumber of [1, 2, 3]) {
      await plane.db
        .updateTable('tasks')
        .set({ due_at: new Date() })
        .where('video_id', '=', videoId)
        .execute();
      const claimed = await claim(videoId);
      expect(claimed.try).toBe(tryNumber);
      await plane.engine.report('task.progress', {
        ...tryOf(videoId, claimed),
        fraction: 0,
        startedRenditions: {},
      });
      await plane.startAnotherAsSingleNode();
    }
    expect(await tasksOf(videoId)).toEqual([]);
    expect(await video(videoId)).toMatchObject({ status: 'ready' });
  });

  test('keeps what it stores while orphaned objects of its video are purged', async () => {
    const videoId = await readyVideo();
    const failed = await claim(videoId);
    const orphaned = await storeImages(videoId, failed);
    await fail(videoId, failed, true);
    await plane.db.updateTable('tasks').set({ due_at: new Date() }).where('video_id', '=', videoId).execute();
    const claimed = await claim(videoId);
    const key = await storeImages(videoId, claimed);
    await requestPurge(plane.db, videoId);
    await untilPurged(videoId);
    expect(await plane.objects.head(key)).not.toBeNull();
    await complete(videoId, claimed, IMAGES_RESULT);
    await until(async () => (await plane.objects.head(orphaned)) === null);
    await untilPurged(videoId);
    expect(await images(videoId)).toEqual([200, 200, 200]);
  });

  test('ends with its video', async () => {
    const videoId = await readyVideo();
    const claimed = await claim(videoId);
    const key = await storeImages(videoId, claimed);
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    const check = await plane.engine.request(INTERNAL_PATHS.checkTask, tryOf(videoId, claimed));
    expect(check.body.current).toBe(false);
    await complete(videoId, claimed, IMAGES_RESULT);
    await until(async () => (await plane.objects.head(key)) === null);
    expect(await tasksOf(videoId)).toEqual([]);
  });

  test('of an earlier version of plans is left out', async () => {
    const videoId = await readyVideo();
    expect((await tryClaim(videoId, PLAN_VERSION + 1)).status).toBe(409);
    expect(await tasksOf(videoId)).toEqual([]);
    expect(await video(videoId)).toMatchObject({ status: 'ready' });
  });
});

describe('the source of a video with an optional task', () => {
  test('that is never kept is deleted when the task ends', async () => {
    const videoId = await readyVideo({ keepSource: 'never' });
    const claimed = await claim(videoId);
    expect(await sourceOf(videoId)).toMatchObject({ key: claimed.sourceKey });
    await storeImages(videoId, claimed);
    await complete(videoId, claimed, IMAGES_RESULT);
    expect(await sourceOf(videoId)).toBeUndefined();
  });

  test('can be deleted by its owner; the task then ends', async () => {
    const videoId = await readyVideo();
    const claimed = await claim(videoId);
    const key = await storeImages(videoId, claimed);
    await request(plane.url).delete(`/v1/videos/${videoId}/source`).set(plane.credentials).expect(204);
    expect(await tasksOf(videoId)).toEqual([]);
    await complete(videoId, claimed, IMAGES_RESULT);
    expect(await images(videoId)).toEqual([404, 404, 404]);
    await until(async () => (await plane.objects.head(key)) === null);
    expect((await tryClaim(videoId)).status).toBe(409);
    expect(await video(videoId)).toMatchObject({ status: 'ready' });
  });
});

test('a task whose output every video needs cannot be optional', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  await plane.engine.claim(videoId);
  const plan = samplePlan();
  const optionalTasks = plan.tasks.slice(0, IMAGES);
  expect(await plane.engine.storePlan(videoId, 1, { ...plan, optionalTasks })).toBe(400);
});
