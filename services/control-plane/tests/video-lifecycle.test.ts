import { newId } from '@framelane/contracts/ids';
import { sourceKey } from '@framelane/object-store/object-keys';
import { createLogger } from '@framelane/service-kit/logger';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { storedSource } from '../src/artifacts/artifacts.service.ts';
import type { Database } from '../src/db/database.ts';
import type { VideoRow, VideoStatus } from '../src/db/schema.ts';
import { VideoLifecycle } from '../src/videos/video-lifecycle.ts';
import { insertEndpoint } from '../src/webhooks/endpoints.store.ts';
import { WebhookEventsService } from '../src/webhooks/events.service.ts';
import { sampleManifest } from './support/manifest.ts';
import { insertArtifact, insertImport, insertVideo, READY, SOURCE } from './support/video-rows.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const IMPORT = { request: 'sealed', due_at: new Date() };

let db: Database;
let workspaceId: string;
let lifecycle: VideoLifecycle;
let commits: number;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeAll(async () => {
  lifecycle = new VideoLifecycle({
    db,
    logger: createLogger({ service: 'test', level: 'silent' }),
    events: new WebhookEventsService({ now: () => new Date() }, { retryScheduleSeconds: [] }),
    baseUrl: 'http://framelane.test/v1',
    onCommit: () => {
      commits += 1;
    },
  });
  await insertEndpoint(db, {
    id: newId('whk'),
    workspaceId,
    url: 'https://any.example',
    description: null,
    secret: 'any',
    events: ['video.ready', 'video.failed', 'video.deleted'],
    enabled: true,
  });
});
beforeEach(async () => {
  commits = 0;
  await db.deleteFrom('webhook_events').execute();
  await db.deleteFrom('object_purges').execute();
});

const COLUMNS: Record<VideoStatus, object> = {
  uploading: {},
  processing: { uploaded_at: new Date(), size: 70, attempt: 1, content_key: 'key' },
  ready: READY,
  failed: { error_code: 'not_a_video', attempt: 1, uploaded_at: new Date() },
};

/** Creates a video. One that is processed has an open attempt. */
async function video(status: VideoStatus, values: object = {}): Promise<string> {
  const id = await insertVideo(db, workspaceId, { title: 'Own', ...COLUMNS[status], status, ...values });
  if (status === 'processing' || status === 'failed') await insertArtifact(db, id, SOURCE);
  if (status === 'processing')
    await db
      .insertInto('attempts')
      .values({ video_id: id, number: 1, due_at: new Date(), started_at: new Date() })
      .execute();
  return id;
}

const row = (id: string) =>
  db.selectFrom('videos').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

const outcomes = async (videoId: string) => {
  const attempts = db.selectFrom('attempts').select('outcome').where('video_id', '=', videoId);
  return (await attempts.orderBy('number').execute()).map(({ outcome }) => outcome);
};

/** The tasks of a video, which wait for an engine. */
const tasks = (videoId: string) =>
  db.selectFrom('tasks').selectAll().where('video_id', '=', videoId).execute();

const importRequests = async (videoId: string) => {
  const imports = db.selectFrom('imports').select('request').where('video_id', '=', videoId);
  return (await imports.execute()).map(({ request }) => request);
};

const purged = async () =>
  (await db.selectFrom('object_purges').select('video_id').execute()).map(({ video_id }) => video_id);

/** The events that the endpoint gets. */
const events = async () =>
  (await db.selectFrom('webhook_events').select(['type', 'payload']).execute()).map(({ type, payload }) => ({
    type,
    data: JSON.parse(payload).data,
  }));

/** Locks a video and moves it. */
const move = <T>(videoId: string, action: (trx: Database, video: VideoRow) => Promise<T>): Promise<T> =>
  lifecycle.transaction(async (trx) => {
    const locked = await lifecycle.lock(trx, videoId);
    if (locked === undefined) throw new Error(`Video ${videoId} is gone`);
    return action(trx, locked);
  });

const secondsFromNow = (time: Date | null) => ((time?.getTime() ?? 0) - Date.now()) / 1000;

test('an uploaded file begins the first attempt, and ends the import', async () => {
  const id = await video('uploading');
  await insertImport(db, id, IMPORT);
  const upload = { transferId: 'xfr_1', bytes: 70, sha256: 'hash' };
  expect(await move(id, (trx, locked) => lifecycle.beginProcessing(trx, locked, upload))).toBe(true);
  expect(commits).toBe(1);
  const stored = await row(id);
  expect(stored).toMatchObject({ status: 'processing', size: 70, sha256: 'hash', storage_bytes: 70 });
  const key = sourceKey(workspaceId, id, 'xfr_1');
  expect(await storedSource(db, { id, workspace_id: workspaceId })).toEqual({ key, bytes: 70 });
  expect(stored.attempt).toBe(1);
  expect(await tasks(id)).toMatchObject([{ attempt: 1, number: 0, kind: 'plan', failed_tries: 0 }]);
  expect(await importRequests(id)).toEqual([null]);
  expect(await events()).toEqual([]);
});

test('the next attempt has the next number and the counts of the one before, and begins after the delay', async () => {
  const next = { delaySeconds: 600, failedTries: 2, unreportedTries: 1 };
  const repeat = (id: string) =>
    move(id, (trx, locked) => lifecycle.nextAttempt(trx, locked, 'lease_expired', next));
  const [processing, failed] = [await video('processing'), await video('failed')];
  await repeat(processing);
  await repeat(failed);
  expect(await row(processing)).toMatchObject({ status: 'processing', attempt: 2 });
  expect(await outcomes(processing)).toEqual(['lease_expired', null]);
  const [task, ...others] = await tasks(processing);
  expect(others).toEqual([]);
  expect(task).toMatchObject({ attempt: 2, number: 0, kind: 'plan', failed_tries: 2, unreported_tries: 1 });
  expect(Math.abs(secondsFromNow(task?.command_due_at ?? null) - 600)).toBeLessThan(60);
  expect(task?.due_at).toEqual(task?.command_due_at);
  expect(await row(failed)).toMatchObject({ status: 'failed', attempt: 1 });
  expect([await tasks(failed), await purged(), await events()]).toEqual([[], [], []]);
});

test('progress is shown as 99 % at most until the video is ready', async () => {
  const id = await video('processing');
  await lifecycle.progress(id, 0.5);
  expect(await row(id)).toMatchObject({ progress: 49 });
  await lifecycle.progress(id, 1);
  expect(await row(id)).toMatchObject({ progress: 99 });
});

test('a completed attempt makes the video ready; objects of earlier attempts are purged', async () => {
  const id = await video('processing', { keep_source_days: 3 });
  const renditions = { variants: ['360p' as const], targetDuration: 6 };
  const result = { manifest: sampleManifest(), renditions };
  await move(id, (trx, locked) => lifecycle.complete(trx, locked, result));
  const stored = await row(id);
  expect(stored).toMatchObject({ status: 'ready', progress: 100 });
  expect(secondsFromNow(stored.delete_source_at)).toBeGreaterThan(2.9 * 24 * 3600);
  expect(await outcomes(id)).toEqual(['completed']);
  expect(await purged()).toEqual([id]);
  expect(await events()).toMatchObject([{ type: 'video.ready', data: { id, status: 'ready' } }]);
});

test('a failed attempt can fail the video', async () => {
  const id = await video('processing', { keep_source_days: 30 });
  const failure = { code: 'storage_failed', message: 'No.', outcome: 'failed' } as const;
  expect(await move(id, (trx, locked) => lifecycle.fail(trx, locked, failure))).toBe(true);
  const stored = await row(id);
  expect(stored).toMatchObject({ status: 'failed', error_code: 'storage_failed', content_key: null });
  expect(stored.delete_source_at).not.toBeNull();
  expect([await outcomes(id), await purged()]).toEqual([['failed'], [id]]);
  expect(await events()).toMatchObject([
    { type: 'video.failed', data: { id, error: { code: 'storage_failed', message: 'No.' } } },
  ]);
});

test('the failure of an upload ends its import', async () => {
  const id = await video('uploading');
  await insertImport(db, id, IMPORT);
  const expired = { code: 'upload_expired', message: 'No file arrived.' } as const;
  const fail = (trx: Database, locked: VideoRow) => lifecycle.fail(trx, locked, expired);
  expect([await move(id, fail), await move(id, fail)]).toEqual([true, false]);
  expect(await importRequests(id)).toEqual([null]);
  expect(await purged()).toEqual([id]);
  expect(await events()).toMatchObject([
    { type: 'video.failed', data: { id, error: { code: 'upload_expired', message: 'No file arrived.' } } },
  ]);
});

test('a failed video is retried; other videos are not', async () => {
  const retry = (id: string) => move(id, (trx, locked) => lifecycle.retry(trx, locked));
  const [failed, ready] = [await video('failed'), await video('ready')];
  expect([await retry(failed), await retry(ready)]).toEqual([true, false]);
  expect(await row(failed)).toMatchObject({ status: 'processing', attempt: 2, error_code: null });
  expect(await tasks(failed)).toMatchObject([{ attempt: 2, failed_tries: 0 }]);
  expect(await row(ready)).toMatchObject({ status: 'ready' });
});

test('a deleted video is a tombstone, and its event has its title', async () => {
  const id = await video('ready');
  await move(id, (trx, locked) => lifecycle.delete(trx, locked));
  const { deleted_at, title } = await row(id);
  expect([deleted_at, title]).toEqual([expect.any(Date), '']);
  expect(await purged()).toEqual([id]);
  expect(await events()).toEqual([
    {
      type: 'video.deleted',
      data: { id, title: 'Own', status: 'deleted', deletedAt: deleted_at?.toISOString() },
    },
  ]);
});

test('a purge of the objects of a tombstone becomes due; a video without a row has none', async () => {
  const id = await video('ready', { deleted_at: new Date(), content_key: null });
  for (const each of [id, newId('vid')])
    await lifecycle.transaction((trx) => lifecycle.requestPurge(trx, each));
  expect(await purged()).toEqual([id]);
});
