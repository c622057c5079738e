import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import type { Permission } from '../src/db/schema.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { readSettings } from './support/settings.ts';
import { localWebhooks } from './support/webhooks.ts';

const DAY_MS = 86_400_000;
/** As many bytes as the simulated engine reports. */
const CONTENT = Buffer.alloc(1_000_000, '0123456789abcdef');

let plane: TestControlPlane;
/** The arguments of each presigned URL. */
const presigned: unknown[] = [];
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...localWebhooks(config), purgeRepeatSeconds: 3600 }), {
    presign: async (...request) => {
      presigned.push(request);
      return 'https://objects.example/source';
    },
  });
  await plane.bus.consume('engine.commands', { prefetch: 10 }, async () => {});
});
afterAll(() => plane.stop());

type KeepSource = 'always' | 'never' | number;
type Fields = { keepSource?: KeepSource; filename?: string };

const send = (method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object) =>
  request(plane.url)[method](`/v1/videos/${path}`).set(plane.credentials).send(body);
const record = async (videoId: string) => (await send('get', videoId)).body;
const sourceFile = async (videoId: string) => (await record(videoId)).sourceFile;
const patch = (videoId: string, keepSource: KeepSource) => send('patch', videoId, { keepSource });
const retry = (videoId: string) => send('post', `${videoId}/retry`);

/** A video whose file is stored, in its first attempt. */
async function processingVideo(fields: Fields = {}): Promise<{ videoId: string; sourceKey: string }> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'holiday.mp4', ...fields });
  const { sourceKey } = await plane.engine.upload(uploadToken);
  await plane.objects.put(sourceKey, CONTENT, 'application/octet-stream');
  await plane.engine.claim(videoId);
  return { videoId, sourceKey };
}

async function readyVideo(fields: Fields = {}) {
  const video = await processingVideo(fields);
  await plane.engine.complete(video.videoId, 1);
  return video;
}

async function failedVideo(fields: Fields = {}) {
  const video = await processingVideo(fields);
  await fail(video.videoId, 1);
  return video;
}

const fail = (videoId: string, attempt: number) =>
  plane.engine.fail(videoId, attempt, { code: 'storage_failed', message: 'The storage was unavailable.' });

/** Lets days pass for a video. */
async function age(videoId: string, days: number): Promise<void> {
  const earlier = (column: string) => sql<Date>`${sql.ref(column)} - make_interval(days => ${days})`;
  await plane.db
    .updateTable('videos')
    .set({
      ready_at: earlier('ready_at'),
      failed_at: earlier('failed_at'),
      delete_source_at: earlier('delete_source_at'),
    })
    .where('id', '=', videoId)
    .execute();
}

const isStored = async (sourceKey: string) => (await plane.objects.head(sourceKey)) !== null;
const purged = (sourceKey: string) => until(async () => !(await isStored(sourceKey)));

describe('keepSource', () => {
  test.each([
    ['always', 'always'],
    ['never', 'never'],
    [30, 30],
    [undefined, 'always'],
  ] as const)('%s is shown as %s', async (keepSource, shown) => {
    const { videoId } = await plane.ticket({ filename: 'a.mp4', ...(keepSource && { keepSource }) });
    expect(await record(videoId)).toMatchObject({
      keepSource: shown,
      sourceFile: { stored: false, keptUntil: null, deletedAt: null },
      retryable: false,
    });
  });

  test.each([0, 3651, 1.5, 'forever', null, '30'])('%j is refused', async (keepSource) => {
    const { videoId } = await plane.ticket();
    for (const response of [
      await send('post', 'upload-ticket', { filename: 'a.mp4', keepSource }),
      await send('patch', videoId, { keepSource }),
    ]) {
      expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
      expect(response.body.errors[0].field).toBe('body/keepSource');
    }
  });

  test('by default follows the setting of the installation', async () => {
    const another = await plane.startAnother({ sourceRetentionDays: 0 });
    const create = (body: object) =>
      request(another.url).post('/v1/videos/upload-ticket').set(plane.credentials).send(body);
    const byDefault = await create({ filename: 'a.mp4' });
    const byTicket = await create({ filename: 'a.mp4', keepSource: 'always' });
    expect((await record(byDefault.body.videoId)).keepSource).toBe('never');
    expect((await record(byTicket.body.videoId)).keepSource).toBe('always');
    await another.stop();
  });
});

describe('SOURCE_RETENTION_DAYS', () => {
  const read = (days: string) =>
    readSettings({
      SOURCE_RETENTION_DAYS: days,
    }).sourceRetentionDays;

  test.each([
    ['', null],
    ['0', 0],
    ['3650', 3650],
  ])('%j is %s', (text, days) => {
    expect(read(text)).toBe(days);
  });

  test.each(['3651', '-1', 'always'])('%j is refused', (text) => {
    expect(() => read(text)).toThrow(/^SOURCE_RETENTION_DAYS: must be a whole number/);
  });
});

describe('the source of a ready video', () => {
  test('is kept by default', async () => {
    const { videoId, sourceKey } = await readyVideo();
    await age(videoId, 10_000);
    await plane.maintain('delete-due-sources');
    expect(await sourceFile(videoId)).toEqual({ stored: true, keptUntil: null, deletedAt: null });
    expect(await isStored(sourceKey)).toBe(true);
  });

  test('with never, is deleted in the transaction that makes the video ready', async () => {
    const { videoId, sourceKey } = await readyVideo({ keepSource: 'never' });
    const video = await record(videoId);
    expect(video).toMatchObject({ status: 'ready', size: 1_000_000, retryable: false });
    expect(video.sourceFile).toEqual({ stored: false, keptUntil: null, deletedAt: video.readyAt });
    const kept = await record((await readyVideo()).videoId);
    expect(video.storageBytes).toBe(kept.storageBytes - 1_000_000);
    await purged(sourceKey);
    expect((await record(videoId)).hls).toBeDefined();
  });

  test('with days, is deleted when they have passed', async () => {
    const { videoId, sourceKey } = await readyVideo({ keepSource: 3 });
    const { readyAt, storageBytes, sourceFile: before } = await record(videoId);
    const keptUntil = new Date(Date.parse(readyAt) + 3 * DAY_MS).toISOString();
    expect(before).toEqual({ stored: true, keptUntil, deletedAt: null });
    const usage = async () =>
      (await request(plane.url).get('/v1/auth/usage').set(plane.credentials)).body.storageBytes;
    const used = await usage();

    await age(videoId, 2);
    await plane.maintain('delete-due-sources');
    expect(await isStored(sourceKey)).toBe(true);
    await age(videoId, 1);
    await plane.maintain('delete-due-sources');
    expect(await record(videoId)).toMatchObject({
      status: 'ready',
      storageBytes: storageBytes - 1_000_000,
      sourceFile: { stored: false, keptUntil: null, deletedAt: expect.any(String) },
    });
    expect(await usage()).toBe(used - 1_000_000);
    await purged(sourceKey);
  });

  test('is deleted by one of several control planes, and counted once', async () => {
    const { videoId } = await readyVideo({ keepSource: 1 });
    const { storageBytes } = await record(videoId);
    await age(videoId, 1);
    const another = await plane.startAnother();
    await Promise.all([plane, another, plane].map((each) => each.maintain('delete-due-sources')));
    expect((await record(videoId)).storageBytes).toBe(storageBytes - 1_000_000);
    await another.stop();
  });
});

describe('the source of a failed video', () => {
  test.each([
    ['never', 7],
    [3, 7],
    [30, 30],
  ] as const)('with %s, is kept for %d days', async (keepSource, days) => {
    const { videoId, sourceKey } = await failedVideo({ keepSource });
    const { sourceFile: before, updatedAt, retryable } = await record(videoId);
    const keptUntil = new Date(Date.parse(updatedAt) + days * DAY_MS).toISOString();
    expect([before, retryable]).toEqual([{ stored: true, keptUntil, deletedAt: null }, true]);
    await age(videoId, days);
    await plane.maintain('delete-due-sources');
    expect(await record(videoId)).toMatchObject({
      status: 'failed',
      storageBytes: 0,
      retryable: false,
      sourceFile: { stored: false },
    });
    await purged(sourceKey);
    const refused = await retry(videoId);
    expect([refused.status, refused.body.code]).toEqual([409, 'source_not_available']);
  });

  test('is kept during a retry, and for the full period after it', async () => {
    const { videoId, sourceKey } = await failedVideo({ keepSource: 'never' });
    await age(videoId, 7);
    expect((await retry(videoId)).status).toBe(202);
    await plane.maintain('delete-due-sources');
    expect(await sourceFile(videoId)).toEqual({ stored: true, keptUntil: null, deletedAt: null });
    expect((await plane.engine.claim(videoId)).sourceKey).toBe(sourceKey);
    await fail(videoId, 2);
    const { sourceFile: afterwards, updatedAt } = await record(videoId);
    expect(Date.parse(afterwards.keptUntil)).toBe(Date.parse(updatedAt) + 7 * DAY_MS);
    await retry(videoId);
    await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, 3);
    expect((await sourceFile(videoId)).stored).toBe(false);
  });
});

describe('PATCH of keepSource', () => {
  test('changes the time of deletion, and deletes at once if that has passed', async () => {
    const { videoId, sourceKey } = await readyVideo();
    await age(videoId, 5);
    const { readyAt } = await record(videoId);
    const later = await patch(videoId, 6);
    expect(later.body).toMatchObject({
      keepSource: 6,
      sourceFile: { stored: true, keptUntil: new Date(Date.parse(readyAt) + 6 * DAY_MS).toISOString() },
    });
    expect((await patch(videoId, 'always')).body.sourceFile.keptUntil).toBeNull();
    const { storageBytes } = await record(videoId);
    const dropped = await patch(videoId, 5);
    expect(dropped.body).toMatchObject({
      keepSource: 5,
      storageBytes: storageBytes - 1_000_000,
      sourceFile: { stored: false, keptUntil: null, deletedAt: expect.any(String) },
    });
    await purged(sourceKey);
  });

  test('does not bring back a deleted source', async () => {
    const { videoId } = await readyVideo({ keepSource: 'never' });
    const response = await patch(videoId, 'always');
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      keepSource: 'always',
      sourceFile: { stored: false, keptUntil: null, deletedAt: expect.any(String) },
    });
  });

  test('during a transcode applies when the transcode ends', async () => {
    const { videoId, sourceKey } = await processingVideo();
    expect((await patch(videoId, 'never')).body.sourceFile.stored).toBe(true);
    expect(await isStored(sourceKey)).toBe(true);
    await plane.engine.complete(videoId, 1);
    expect((await sourceFile(videoId)).stored).toBe(false);
  });
});

/** A key with these permissions. */
async function credentialsWith(...permissions: Permission[]) {
  const { body } = await request(plane.url)
    .post('/v1/api-keys')
    .set(plane.credentials)
    .send({ name: 'Limited', permissions });
  return { ...plane.credentials, authorization: `Bearer ${body.secret}` };
}

describe('GET /videos/:id/source', () => {
  const get = (videoId: string, headers: Record<string, string> = {}) =>
    request(plane.url)
      .get(`/v1/videos/${videoId}/source`)
      .set({ ...plane.credentials, ...headers })
      .responseType('blob');

  test.each([
    ['processing', processingVideo],
    ['ready', readyVideo],
    ['failed', failedVideo],
  ])('returns the file of a video that is %s', async (_, create) => {
    const { videoId } = await create({ filename: 'naïve "holiday".mov' });
    const response = await get(videoId);
    expect(response.status).toBe(200);
    expect(CONTENT.equals(response.body)).toBe(true);
    expect(response.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '1000000',
      'content-disposition': `attachment; filename="na_ve _holiday_.mov"; filename*=UTF-8''na%C3%AFve%20%22holiday%22.mov`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[\w-]+"$/),
    });
    expect(response.headers).not.toHaveProperty('access-control-allow-origin');
    const head = await request(plane.url).head(`/v1/videos/${videoId}/source`).set(plane.credentials);
    const without = ({
      date: _date,
      ratelimit: _limit,
      'x-request-id': _id,
      ...headers
    }: typeof head.headers) => headers;
    expect([head.status, without(head.headers)]).toEqual([200, without(response.headers)]);
  });

  test('returns the requested bytes, so that a download can be resumed', async () => {
    const { videoId } = await readyVideo();
    const { headers } = await get(videoId, { range: 'bytes=0-0' });
    const etag = headers.etag ?? '';
    const rest = await get(videoId, { range: 'bytes=999990-', 'if-range': etag });
    expect([rest.status, rest.headers['content-range']]).toEqual([206, 'bytes 999990-999999/1000000']);
    expect(CONTENT.subarray(999_990).equals(rest.body)).toBe(true);
    expect((await get(videoId, { range: 'bytes=-3' })).body).toHaveLength(3);
    expect((await get(videoId, { range: 'bytes=5-', 'if-range': '"other"' })).body).toHaveLength(1_000_000);
    // Adjacent ranges are one range. Several ranges would need a multipart response, so they get the whole file.
    expect((await get(videoId, { range: 'bytes=0-1,2-4' })).body).toHaveLength(5);
    expect((await get(videoId, { range: 'bytes=0-1,4-5' })).status).toBe(200);
    const beyond = await get(videoId, { range: 'bytes=1000000-' });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */1000000']);
    expect((await get(videoId, { 'if-none-match': etag })).status).toBe(304);
    expect((await get((await readyVideo()).videoId, { 'if-none-match': etag })).status).toBe(200);
  });

  test('is 404 without a source', async () => {
    const { videoId: uploading } = await plane.ticket();
    const { videoId: dropped } = await readyVideo({ keepSource: 'never' });
    const { videoId: lost, sourceKey } = await readyVideo();
    await plane.objects.deletePrefix(sourceKey.replace(/[^/]+$/, ''));
    for (const videoId of [uploading, dropped, lost]) {
      const response = await send('get', `${videoId}/source`);
      expect([response.status, response.body.code]).toEqual([404, 'source_not_found']);
    }
    const { deletedAt } = await sourceFile(dropped);
    expect((await send('get', `${dropped}/source`)).body.detail).toContain(deletedAt);
    const unknown = await send('get', 'vid_01m7y5g5zqfqetgq1je8rn7s3t/source');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'video_not_found']);
  });

  test('needs both permissions for videos', async () => {
    const { videoId } = await readyVideo();
    for (const permission of ['videos:read', 'videos:write'] as const) {
      const response = await get(videoId, await credentialsWith(permission));
      expect(response.status).toBe(403);
    }
    expect((await get(videoId, await credentialsWith('videos:read', 'videos:write'))).status).toBe(200);
  });

  test('does not count as bandwidth', async () => {
    const another = await plane.startAnother();
    const { videoId } = await readyVideo();
    const usage = async () => (await request(plane.url).get('/v1/auth/usage').set(plane.credentials)).body;
    const before = (await usage()).bandwidthBytes;
    await request(another.url).get(`/v1/videos/${videoId}/source`).set(plane.credentials);
    // The stop stores the counted bytes.
    await another.stop();
    expect((await usage()).bandwidthBytes).toBe(before);
  });

  test('redirects to the object store if segments are redirected too', async () => {
    const { videoId, sourceKey } = await readyVideo({ filename: 'holiday.mov' });
    const redirecting = await plane.startAnother({ playback: { mode: 'redirect', cdnUrl: undefined } });
    const path = `${redirecting.url}/v1/videos/${videoId}/source`;
    const headers = { ...plane.credentials, range: 'bytes=0-9' };
    const response = await fetch(path, { headers, redirect: 'manual' });
    expect([
      response.status,
      response.headers.get('location'),
      response.headers.get('cache-control'),
    ]).toEqual([302, 'https://objects.example/source', 'private, no-store']);
    expect(presigned).toEqual([
      [
        sourceKey,
        3600,
        {
          contentType: 'application/octet-stream',
          contentDisposition: `attachment; filename="holiday.mov"; filename*=UTF-8''holiday.mov`,
          cacheControl: 'private, no-store',
        },
      ],
    ]);
    const head = await fetch(path, { method: 'HEAD', headers: plane.credentials });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '1000000']);
    await patch(videoId, 'never');
    expect((await fetch(path, { headers, redirect: 'manual' })).status).toBe(404);
    await redirecting.stop();
  });
});

describe('DELETE /videos/:id/source', () => {
  const drop = (videoId: string) => send('delete', `${videoId}/source`);

  test.each([
    ['ready', readyVideo],
    ['failed', failedVideo],
  ])('deletes the source of a video that is %s, once', async (status, create) => {
    const { videoId, sourceKey } = await create({ keepSource: 30 });
    const { storageBytes } = await record(videoId);
    expect((await drop(videoId)).status).toBe(204);
    const after = await record(videoId);
    expect(after).toMatchObject({
      status,
      size: 1_000_000,
      storageBytes: storageBytes - 1_000_000,
      retryable: false,
      sourceFile: { stored: false, keptUntil: null, deletedAt: expect.any(String) },
    });
    await purged(sourceKey);
    expect((await drop(videoId)).status).toBe(204);
    expect(await record(videoId)).toEqual(after);
  });

  test('is 409 while the source is uploaded or transcoded, and stops neither', async () => {
    const { videoId: uploading, uploadToken } = await plane.ticket();
    const { videoId: processing, sourceKey } = await processingVideo();
    const { videoId: retried } = await failedVideo();
    await retry(retried);
    for (const videoId of [uploading, processing, retried]) {
      const response = await drop(videoId);
      expect([response.status, response.body.code]).toEqual([409, 'source_in_use']);
    }
    await plane.engine.complete(processing, 1);
    expect(await isStored(sourceKey)).toBe(true);
    expect((await plane.engine.upload(uploadToken)).videoId).toBe(uploading);
  });

  test('of a video without a file changes nothing', async () => {
    const { videoId } = await plane.ticket();
    await plane.db
      .updateTable('upload_tickets')
      .set({ expires_at: new Date(0) })
      .where('video_id', '=', videoId)
      .execute();
    await plane.maintain('expire-tickets');
    const before = await until(async () => {
      const video = await record(videoId);
      return video.status === 'failed' && video;
    });
    expect((await drop(videoId)).status).toBe(204);
    expect(await record(videoId)).toEqual(before);
  });

  test('needs videos:write, and a video that exists', async () => {
    const { videoId } = await readyVideo();
    const path = `${plane.url}/v1/videos/${videoId}/source`;
    const refused = await fetch(path, { method: 'DELETE', headers: await credentialsWith('videos:read') });
    expect(refused.status).toBe(403);
    expect((await drop('vid_01m7y5g5zqfqetgq1je8rn7s3t')).body.code).toBe('video_not_found');
    expect((await sourceFile(videoId)).stored).toBe(true);
  });

  test('at the same time as a retry: one of them wins', async () => {
    for (let round = 0; round < 12; round += 1) {
      const { videoId, sourceKey } = await failedVideo();
      const [dropped, retried] = await Promise.all([drop(videoId), retry(videoId)]);
      const { status, sourceFile: file } = await record(videoId);
      const outcome = [dropped.status, retried.status, retried.body.code ?? null, status, file.stored];
      expect([
        [204, 409, 'source_not_available', 'failed', false],
        [409, 202, null, 'processing', true],
      ]).toContainEqual(outcome);
      if (file.stored) expect(await isStored(sourceKey)).toBe(true);
    }
  });
});

test('the webhook event of a video says whether its source is stored', async () => {
  const eventOf = async (videoId: string) => {
    const { payload } = await plane.db
      .selectFrom('webhook_events')
      .select('payload')
      .where('payload', 'like', `%${videoId}%`)
      .executeTakeFirstOrThrow();
    return JSON.parse(payload).data;
  };
  await request(plane.url).post('/v1/webhooks').set(plane.credentials).send({ url: 'http://127.0.0.1:9/' });
  const ready = await readyVideo({ keepSource: 'never' });
  expect(await eventOf(ready.videoId)).toMatchObject({ sourceFile: { stored: false }, retryable: false });
  const failed = await failedVideo({ keepSource: 3 });
  expect(await eventOf(failed.videoId)).toMatchObject({ sourceFile: { stored: true }, retryable: true });
});

test('a retry at the same time as the scheduled deletion of the source: one of them wins', async () => {
  const outcomes = new Set<string>();
  for (let round = 0; round < 12; round += 1) {
    const { videoId, sourceKey } = await failedVideo({ keepSource: 'never' });
    await age(videoId, 7);
    const [response] = await Promise.all([retry(videoId), plane.maintain('delete-due-sources')]);
    const video = await record(videoId);
    outcomes.add(`${response.status} ${video.status} ${video.sourceFile.stored}`);
    if (response.status === 202) {
      // The attempt finds the file.
      await plane.engine.claim(videoId);
      expect(await isStored(sourceKey)).toBe(true);
    }
  }
  for (const outcome of outcomes) expect(['202 processing true', '409 failed false']).toContain(outcome);
});
