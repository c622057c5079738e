import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

const DAY_MS = 86_400_000;
const CONTENT = Buffer.from('0123456789abcdef');

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, stragglerSeconds: 3600 }));
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
  plane.engine.report('transcode.failed', {
    videoId,
    attempt,
    code: 'storage_failed',
    message: 'The storage was unavailable.',
    retryable: false,
  });

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

  test('is kept during a retry, and for its own time after it', async () => {
    const { videoId, sourceKey } = await failedVideo({ keepSource: 'never' });
    await age(videoId, 7);
    expect((await retry(videoId)).status).toBe(202);
    await plane.maintain('delete-due-sources');
    expect(await sourceFile(videoId)).toEqual({ stored: true, keptUntil: null, deletedAt: null });
    expect((await plane.engine.claim(videoId)).sourceKey).toBe(sourceKey);
    await fail(videoId, 2);
    expect((await sourceFile(videoId)).keptUntil).not.toBeNull();
    await retry(videoId);
    await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, 3);
    expect((await sourceFile(videoId)).stored).toBe(false);
  });
});

describe('PATCH of keepSource', () => {
  test('moves the time, and deletes at once what has passed', async () => {
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

  test('during a transcode applies when it ends', async () => {
    const { videoId, sourceKey } = await processingVideo();
    expect((await patch(videoId, 'never')).body.sourceFile.stored).toBe(true);
    expect(await isStored(sourceKey)).toBe(true);
    await plane.engine.complete(videoId, 1);
    expect((await sourceFile(videoId)).stored).toBe(false);
  });
});

test('a retry and the end of the days at the same time: one of them wins', async () => {
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
