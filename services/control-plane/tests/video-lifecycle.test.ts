import { newId } from '@framelane/contracts/ids';
import { sourceKey } from '@framelane/object-store/object-keys';
import { createLogger } from '@framelane/service-kit/logger';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Database } from '../src/db/database.ts';
import type { VideoRow, VideoStatus } from '../src/db/schema.ts';
import { VideoLifecycle } from '../src/videos/video-lifecycle.ts';
import { insertEndpoint } from '../src/webhooks/endpoints.store.ts';
import { WebhookEventsService } from '../src/webhooks/events.service.ts';
import { sampleManifest } from './support/manifest.ts';
import { insertImport } from './support/video-rows.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const BACKOFF_SECONDS = 600;
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
    ...{ id: newId('whk'), workspaceId, url: 'https://any.example', description: null, secret: 'any' },
    ...{ events: ['video.ready', 'video.failed', 'video.deleted'], enabled: true },
  });
});
beforeEach(async () => {
  commits = 0;
  await db.deleteFrom('webhook_events').execute();
  await db.deleteFrom('object_purges').execute();
});

const COLUMNS: Record<VideoStatus, object> = {
  uploading: {},
  processing: { source_key: 'key', uploaded_at: new Date(), size: 70, attempt: 1, content_key: 'key' },
  ready: { content_key: 'key', variants: ['360p'], target_duration: 6 },
  failed: { error_code: 'not_a_video', failed_attempts: 3, source_key: 'key', uploaded_at: new Date() },
};

/** Creates a video. One that is processed has an open attempt. */
async function video(status: VideoStatus, values: object = {}): Promise<string> {
  const id = newId('vid');
  const fixed = {
    workspace_id: workspaceId,
    environment: 'live',
    title: 'Own',
    filename: 'any.mp4',
  } as const;
  await db
    .insertInto('videos')
    .values({ ...fixed, ...COLUMNS[status], id, status, ...values })
    .execute();
  if (status === 'processing')
    await db
      .insertInto('attempts')
      .values({ video_id: id, number: 1, lease_expires_at: new Date() })
      .execute();
  return id;
}

const row = (id: string) =>
  db.selectFrom('videos').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

const outcomes = async (videoId: string) => {
  const attempts = db.selectFrom('attempts').select('outcome').where('video_id', '=', videoId);
  return (await attempts.execute()).map(({ outcome }) => outcome);
};

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

test('an uploaded file makes a command due, and ends the import', async () => {
  const id = await video('uploading');
  await insertImport(db, id, IMPORT);
  const upload = { transferId: 'xfr_1', bytes: 70, sha256: 'hash' };
  expect(await move(id, (trx, locked) => lifecycle.beginProcessing(trx, locked, upload))).toBe(true);
  expect(commits).toBe(1);
  const stored = await row(id);
  expect(stored).toMatchObject({
    ...{ status: 'processing', size: 70, sha256: 'hash', source_key: sourceKey(workspaceId, id, 'xfr_1') },
  });
  expect(Math.abs(secondsFromNow(stored.command_due_at))).toBeLessThan(60);
  expect(await importRequests(id)).toEqual([null]);
  expect(await events()).toEqual([]);
});

test('an attempt has the next number, and only of a processing video', async () => {
  const begin = (id: string) => move(id, (trx, locked) => lifecycle.beginAttempt(trx, locked, 'next'));
  const [processing, failed] = [await video('processing'), await video('failed')];
  expect([await begin(processing), await begin(failed)]).toEqual([2, undefined]);
  expect(await row(processing)).toMatchObject({ attempt: 2, content_key: 'next' });
  expect(await row(failed)).toMatchObject({ status: 'failed', attempt: 0, content_key: null });
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
  const renditions = { variants: ['360p' as const], targetDuration: 6, bytes: 30, imageFolder: '' };
  const result = { manifest: sampleManifest(), renditions };
  await move(id, (trx, locked) => lifecycle.complete(trx, locked, result));
  const stored = await row(id);
  expect(stored).toMatchObject({ status: 'ready', progress: 100 });
  expect(secondsFromNow(stored.delete_source_at)).toBeGreaterThan(2.9 * 24 * 3600);
  expect(await outcomes(id)).toEqual(['completed']);
  expect(await purged()).toEqual([id]);
  expect(await events()).toMatchObject([{ type: 'video.ready', data: { id, status: 'ready' } }]);
});

describe('a failed attempt', () => {
  const failure = { code: 'storage_failed', message: 'No.', backoffSeconds: BACKOFF_SECONDS } as const;

  test('that was transient delays the next command', async () => {
    const id = await video('processing', { failed_attempts: 1 });
    const transient = { ...failure, kind: 'transient', outcome: 'lease_expired' } as const;
    expect(await move(id, (trx, locked) => lifecycle.failAttempt(trx, locked, transient))).toBe(false);
    const stored = await row(id);
    expect(stored).toMatchObject({ status: 'processing', failed_attempts: 2 });
    expect(stored.waiting_since).toEqual(stored.command_due_at);
    // The second failure doubles the delay.
    expect(Math.abs(secondsFromNow(stored.command_due_at) - 2 * BACKOFF_SECONDS)).toBeLessThan(60);
    expect([await outcomes(id), await purged(), await events()]).toEqual([['lease_expired'], [], []]);
  });

  test('that was handed back does not count, and makes the next command due', async () => {
    const id = await video('processing', { failed_attempts: 2 });
    const handedBack = { ...failure, kind: 'handed_back', outcome: 'handed_back' } as const;
    expect(await move(id, (trx, locked) => lifecycle.failAttempt(trx, locked, handedBack))).toBe(false);
    const stored = await row(id);
    expect(stored).toMatchObject({ status: 'processing', failed_attempts: 2 });
    expect(Math.abs(secondsFromNow(stored.command_due_at))).toBeLessThan(60);
    expect(await outcomes(id)).toEqual(['handed_back']);
  });

  test('that was permanent fails the video', async () => {
    const id = await video('processing', { keep_source_days: 30 });
    const permanent = { ...failure, kind: 'permanent', outcome: 'failed' } as const;
    expect(await move(id, (trx, locked) => lifecycle.failAttempt(trx, locked, permanent))).toBe(true);
    const stored = await row(id);
    expect(stored).toMatchObject({ status: 'failed', error_code: 'storage_failed', content_key: null });
    expect(stored.delete_source_at).not.toBeNull();
    expect([await outcomes(id), await purged()]).toEqual([['failed'], [id]]);
    expect(await events()).toMatchObject([
      { type: 'video.failed', data: { id, error: { code: 'storage_failed', message: 'No.' } } },
    ]);
  });
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
  const stored = await row(failed);
  expect(stored).toMatchObject({ status: 'processing', failed_attempts: 0, error_code: null });
  expect(stored.command_due_at).not.toBeNull();
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

test('objects of a tombstone are discarded; a video without a row has none', async () => {
  const id = await video('ready', { deleted_at: new Date(), content_key: null });
  for (const each of [id, newId('vid')]) await lifecycle.transaction((trx) => lifecycle.discard(trx, each));
  expect(await purged()).toEqual([id]);
});
