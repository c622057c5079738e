import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { attemptPrefix, segmentKey } from '@framelane/object-store/object-keys';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { storedSource } from '../src/artifacts/artifacts.service.ts';
import type { TimelineEntry } from '../src/videos/timeline.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { firstTry } from './support/engine.ts';
import { FOLDER, planOf, sampleManifest } from './support/manifest.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    maintenanceSeconds: 1,
    purgeRepeatSeconds: 1,
    uploads: { ...config.uploads, leaseSeconds: 3 },
  }));
  await plane.bus.consume('engine.commands', { prefetch: 10 }, async () => {});
});
afterAll(() => plane.stop());
afterEach(() => void jest.restoreAllMocks());

const retry = (videoId: string) =>
  request(plane.url).post(`/v1/videos/${videoId}/retry`).set(plane.credentials);
const record = async (videoId: string) =>
  (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;
const tryClaim = (videoId: string) =>
  plane.engine.request(INTERNAL_PATHS.claimTask, { videoId, command: 'plan', planVersion: PLAN_VERSION });

/** Reports that an attempt failed; permanently, unless `retryable`. */
const fail = (videoId: string, attempt: number, retryable = false) =>
  plane.engine.fail(videoId, attempt, {
    code: 'storage_failed',
    message: 'The storage was unavailable.',
    retryable,
  });

/** A segment of an attempt, as its engine stores it. */
async function storeSegment(videoId: string, attempt: number): Promise<string> {
  const key = segmentKey(
    { workspaceId: plane.workspaceId, videoId, attempt, folder: FOLDER },
    '360p',
    0,
    'ts',
  );
  await plane.objects.put(key, Buffer.from('x'), 'video/mp2t');
  return key;
}

/** An uploaded video whose file is stored, in its first attempt. */
async function claimedVideo(): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket();
  const { sourceKey } = await plane.engine.upload(uploadToken);
  await plane.objects.put(sourceKey, Buffer.from('source'), 'video/mp4');
  await plane.engine.claim(videoId);
  return videoId;
}

async function failedVideo(): Promise<string> {
  const videoId = await claimedVideo();
  await plane.engine.storePlan(videoId, 1, planOf(sampleManifest()));
  await plane.engine.progress(videoId, 1, 0.5);
  await fail(videoId, 1);
  return videoId;
}

describe('POST /videos/:id/retry', () => {
  test('processes a failed video again, with the next attempt number', async () => {
    const videoId = await failedVideo();
    // Until the video is ready, its progress is a fraction of 99.
    expect(await record(videoId)).toMatchObject({ status: 'failed', progress: 49 });

    const response = await retry(videoId);
    expect(response.status).toBe(202);
    expect(response.body).toMatchObject({ id: videoId, status: 'processing', error: null, progress: 0 });
    expect(await record(videoId)).toEqual(response.body);

    expect((await plane.engine.claim(videoId)).attempt).toBe(2);
    await plane.engine.complete(videoId, 2);
    expect(await record(videoId)).toMatchObject({ status: 'ready', progress: 100, error: null });
  });

  test('allows three failed attempts again', async () => {
    const videoId = await claimedVideo();
    for (const attempt of [1, 2, 3]) {
      if (attempt > 1) await plane.engine.claim(videoId);
      await fail(videoId, attempt, true);
    }
    expect((await record(videoId)).status).toBe('failed');
    expect((await retry(videoId)).status).toBe(202);
    for (const attempt of [4, 5, 6]) {
      expect((await plane.engine.claim(videoId)).attempt).toBe(attempt);
      expect((await record(videoId)).status).toBe('processing');
      await fail(videoId, attempt, true);
    }
    expect(await record(videoId)).toMatchObject({ status: 'failed', error: { code: 'storage_failed' } });
    expect((await retry(videoId)).status).toBe(202);
  });

  test('late reports of the failed attempt change nothing', async () => {
    const videoId = await failedVideo();
    const retried = (await retry(videoId)).body;
    await plane.engine.complete(videoId, 1);
    await fail(videoId, 1);
    await plane.engine.progress(videoId, 1, 0.9);
    expect(await record(videoId)).toEqual(retried);
    const current = await plane.engine.request(INTERNAL_PATHS.checkTask, firstTry(videoId, 1));
    expect(current.body).toEqual({ current: false });
  });

  test('one of ten concurrent retries succeeds', async () => {
    const videoId = await failedVideo();
    const responses = await Promise.all(Array.from({ length: 10 }, () => retry(videoId)));
    expect(responses.filter(({ status }) => status === 202)).toHaveLength(1);
    const refused = responses.filter(({ status }) => status !== 202);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array(9).fill([409, 'video_not_failed']),
    );
    const claims = await Promise.all([tryClaim(videoId), tryClaim(videoId)]);
    expect(claims.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test.each(['uploading', 'processing', 'ready'])('409 while the video is %s', async (status) => {
    const { videoId, uploadToken } = await plane.ticket();
    if (status !== 'uploading') await plane.engine.upload(uploadToken);
    if (status === 'ready') {
      await plane.engine.claim(videoId);
      await plane.engine.complete(videoId, 1);
    }
    const response = await retry(videoId);
    expect([response.status, response.body.code]).toEqual([409, 'video_not_failed']);
    expect((await record(videoId)).status).toBe(status);
  });

  test('409 when no file was uploaded; a late upload changes nothing', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const { transferId, sourceKey } = await plane.engine.redeem(uploadToken);
    const past = new Date(Date.now() - 1000);
    await plane.db
      .updateTable('upload_tickets')
      .set({ expires_at: past, lease_expires_at: past })
      .where('video_id', '=', videoId)
      .execute();
    await until(async () => (await record(videoId)).status === 'failed');
    await plane.objects.put(sourceKey, Buffer.from('late'), 'video/mp4');
    const response = await retry(videoId);
    expect([response.status, response.body.code]).toEqual([409, 'source_not_available']);
    await plane.engine.report('upload.completed', {
      videoId,
      transferId,
      bytes: 5,
      sha256: 'cd'.repeat(32),
    });
    expect(await record(videoId)).toMatchObject({ status: 'failed', error: { code: 'upload_expired' } });
  });

  test('409 when the source is missing in the storage', async () => {
    const videoId = await failedVideo();
    await plane.objects.deletePrefix(`sources/${plane.workspaceId}/${videoId}/`);
    const response = await retry(videoId);
    expect([response.status, response.body.code]).toEqual([409, 'source_not_available']);
    expect((await record(videoId)).status).toBe('failed');
  });

  test('503 while the storage is unavailable', async () => {
    const videoId = await failedVideo();
    jest.spyOn(plane.objects, 'head').mockRejectedValueOnce(new Error('connect ECONNREFUSED'));
    const response = await retry(videoId);
    expect([response.status, response.body.code]).toEqual([503, 'unavailable']);
    expect(response.headers['retry-after']).toBe('5');
    expect((await retry(videoId)).status).toBe(202);
  });

  test('404 for a deleted video, also after a retry at the same time as the deletion', async () => {
    const videoId = await failedVideo();
    const remove = () => request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials);
    const [retried, deleted] = await Promise.all([retry(videoId), remove()]);
    expect([202, 404]).toContain(retried.status);
    expect(deleted.status).toBe(204);
    expect((await retry(videoId)).body.code).toBe('video_not_found');
    expect((await tryClaim(videoId)).status).toBe(409);
  });
});

describe('purges', () => {
  test('after a failure delete the objects of the attempts and keep the source', async () => {
    const videoId = await claimedVideo();
    const source = await storedSource(plane.db, { id: videoId, workspace_id: plane.workspaceId });
    const segment = await storeSegment(videoId, 1);
    await fail(videoId, 1);
    await until(async () => (await plane.objects.head(segment)) === null);
    expect(await plane.objects.head(source?.key ?? '')).not.toBeNull();
  });

  test('of a failed video do not delete the objects of a retry', async () => {
    const videoId = await claimedVideo();
    const oldSegment = await storeSegment(videoId, 1);

    // The purge has read the failed row and is about to delete; it continues once the retried video is ready.
    const { promise: mayDelete, resolve: letDelete } = Promise.withResolvers<void>();
    const reached: string[] = [];
    const deletePrefix = plane.objects.deletePrefix.bind(plane.objects);
    const held = jest.spyOn(plane.objects, 'deletePrefix').mockImplementation(async (prefix) => {
      if (prefix.includes(videoId)) {
        reached.push(prefix);
        await mayDelete;
      }
      return deletePrefix(prefix);
    });
    await fail(videoId, 1);
    await until(async () => reached.length > 0);

    expect((await retry(videoId)).status).toBe(202);
    await plane.engine.claim(videoId);
    const newSegment = await storeSegment(videoId, 2);
    await plane.engine.complete(videoId, 2);
    letDelete();

    await until(async () => (await plane.objects.head(oldSegment)) === null);
    // All passes of both purges: after the failure and after the completion.
    await until(async () => (await pendingPurges(videoId)) === 0);
    expect(await plane.objects.head(newSegment)).not.toBeNull();
    const removed = held.mock.calls.map(([prefix]) => prefix).filter((prefix) => prefix.includes(videoId));
    expect(new Set(removed)).toEqual(new Set([attemptPrefix(plane.workspaceId, videoId, 1)]));
  });

  async function pendingPurges(videoId: string): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*) from object_purges where video_id = ${videoId}
    `.execute(plane.db);
    return rows[0]?.count ?? 0;
  }
});

describe('the timeline', () => {
  const timeline = (videoId: string, headers = plane.credentials) =>
    request(plane.url).get(`/v1/videos/${videoId}/timeline`).set(headers);
  const steps = async (videoId: string) =>
    (await timeline(videoId)).body.data.map(({ type, attempt }: TimelineEntry) =>
      attempt === null ? type : `${type} ${attempt.number} ${attempt.outcome}`,
    );

  test('lists every attempt across a retry with its outcome, but not the cause of a failure', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    expect(await steps(videoId)).toEqual(['created']);
    const { sourceKey } = await plane.engine.upload(uploadToken);
    await plane.objects.put(sourceKey, Buffer.from('source'), 'video/mp4');
    expect(await steps(videoId)).toEqual(['created', 'uploaded', 'waiting']);
    await plane.engine.claim(videoId);
    expect(await steps(videoId)).toEqual(['created', 'uploaded', 'attempt 1 running']);
    await fail(videoId, 1);
    const failed = await timeline(videoId);
    expect(failed.body.data.at(-1)).toMatchObject({ type: 'failed', attempt: null });
    expect(failed.text).not.toContain('storage');

    await retry(videoId);
    expect(await steps(videoId)).toEqual(['created', 'uploaded', 'attempt 1 failed', 'retried', 'waiting']);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt, sampleManifest());
    await request(plane.url).delete(`/v1/videos/${videoId}/source`).set(plane.credentials);
    expect(await steps(videoId)).toEqual([
      'created',
      'uploaded',
      'attempt 1 failed',
      'retried',
      'attempt 2 completed',
      'ready',
      'source_deleted',
    ]);
    const { data } = (await timeline(videoId)).body;
    const times = data.map(({ at }: TimelineEntry) => at);
    expect(times).toEqual(times.toSorted());
    expect(data[4].attempt.endedAt).toBe(data[5].at);
  });

  test('has the latest 100 retries', async () => {
    const videoId = await failedVideo();
    await sql`update videos set retried_at = array(
      select now() - make_interval(mins => 100 - n) from generate_series(1, 100) n order by n) where id = ${videoId}`.execute(
      plane.db,
    );
    const before = (await timeline(videoId)).body.data.filter(
      ({ type }: TimelineEntry) => type === 'retried',
    );
    await retry(videoId);
    const after = (await timeline(videoId)).body.data.filter(({ type }: TimelineEntry) => type === 'retried');
    expect(after).toHaveLength(100);
    expect(after.slice(0, -1)).toEqual(before.slice(1));
  });

  test('needs videos:read, and is gone with its video', async () => {
    const videoId = await failedVideo();
    const writer = newApiKeySecret('live');
    await createFullKey(plane.db, { workspaceId: plane.workspaceId, name: 'Writer', secret: writer });
    await plane.db
      .updateTable('api_keys')
      .set({ permissions: ['videos:write'] })
      .where('name', '=', 'Writer')
      .execute();
    const headers = { ...plane.credentials, authorization: `Bearer ${writer}` };
    expect((await timeline(videoId, headers)).body.code).toBe('insufficient_permissions');

    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials);
    expect((await timeline(videoId)).body.code).toBe('video_not_found');
  });
});
