import { newId } from '@framelane/contracts/ids';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { QuotasService } from '../src/quotas/quotas.service.ts';
import type { Limits, Quotas } from '../src/quotas/quotas.ts';
import { lockVideo, turnIntoTombstone } from '../src/videos/video-lifecycle.store.ts';
import { MOVES } from '../src/videos/video-moves.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { insertWorkspace } from './support/database.ts';
import { sampleManifest } from './support/manifest.ts';
import { SeparateControlPlane } from './support/separate-control-plane.ts';

const MAX_BYTES = 5_000_000;
/** Bytes that the form around a file can add to the Content-Length. */
const FORM_BYTES = 64 * 1024;
const FILENAME = { filename: 'a.mp4' };

/** Segments and images of a video that the simulated engine completes. */
const RENDITION_BYTES = sampleManifest()
  .renditions.flatMap((rendition) => rendition.segments)
  .reduce((sum, { bytes }) => sum + bytes, 100_000);

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    uploads: { maxBytes: MAX_BYTES, leaseSeconds: 60, maxHours: 168 },
  }));
});
afterAll(() => plane.stop());

type Headers = Record<string, string>;

async function newKey(workspaceId: string, environment: 'live' | 'test'): Promise<Headers> {
  const secret = newApiKeySecret(environment);
  await createFullKey(plane.db, { workspaceId, name: 'Test', secret });
  return { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId };
}

/** A new workspace with these quotas. */
async function workspace(quotas: Partial<Quotas>) {
  const id = await insertWorkspace(plane.db);
  const headers = await newKey(id, 'live');
  const service = new QuotasService({ db: plane.db });
  const set = (changes: Partial<Quotas>) => service.set(id, changes);
  await set(quotas);
  const ticket = (body: object = {}, more: Headers = {}) =>
    request(plane.url)
      .post('/v1/videos/upload-ticket')
      .set({ ...headers, ...more })
      .send({ ...FILENAME, ...body });
  return {
    id,
    headers,
    set,
    ticket,
    /** A ticket that must be granted. */
    granted: async (body: object = {}): Promise<{ videoId: string; uploadToken: string }> =>
      (await ticket(body).expect(201)).body,
    limits: async (): Promise<Limits> =>
      (await request(plane.url).get('/v1/auth/usage').set(headers).expect(200)).body.limits,
    remove: (videoId: string) => request(plane.url).delete(`/v1/videos/${videoId}`).set(headers).expect(204),
    retry: (videoId: string, more: Headers = {}) =>
      request(plane.url)
        .post(`/v1/videos/${videoId}/retry`)
        .set({ ...headers, ...more }),
  };
}

/** Repeats a request while the service is unavailable: on a slow machine, many requests wait too long for the lock of the quotas. */
const whenAvailable = <T extends { status: number }>(send: () => PromiseLike<T>): Promise<T> =>
  until(async () => {
    const response = await send();
    return response.status !== 503 && response;
  });

const redeem = (token: string, contentLength: number | null = null) =>
  plane.engine.request(INTERNAL_PATHS.redeemTicket, { token, contentLength, clientAddress: null });

const release = (videoId: string, transferId: unknown) =>
  plane.engine.request(INTERNAL_PATHS.releaseTransfer, { videoId, transferId });

const createResumable = (token: string, length: number) =>
  plane.engine.request(INTERNAL_PATHS.createResumable, { token, length, metadata: '', clientAddress: null });

/** Redeems a token, and reports that the file has arrived. */
async function upload(token: string, bytes: number): Promise<void> {
  const { status, body } = await redeem(token, bytes);
  expect([status, body.code]).toEqual([200, undefined]);
  const { videoId, transferId } = body as { videoId: string; transferId: string };
  await plane.engine.report('upload.completed', { videoId, transferId, bytes, sha256: 'ab'.repeat(32) });
}

async function failTranscode(videoId: string): Promise<void> {
  const { attempt } = await plane.engine.claim(videoId);
  const failure = { code: 'transcode_failed', message: 'It did not work.', retryable: false } as const;
  await plane.engine.fail(videoId, attempt, { ...failure });
}

/** Lets the ticket of a video expire. Maintenance has not seen it yet. */
async function expire(videoId: string): Promise<void> {
  await plane.db
    .updateTable('upload_tickets')
    .set({ expires_at: sql`now()` })
    .where('video_id', '=', videoId)
    .execute();
}

async function countTranscoded(workspaceId: string, transcoded_ms: number, day: string): Promise<void> {
  await plane.db
    .insertInto('usage_daily')
    .values({ workspace_id: workspaceId, environment: 'live', day, transcoded_ms })
    .execute();
}

const today = () => new Date().toISOString().slice(0, 10);

/** What a refusal says. */
const exceeded = (quota: keyof Quotas, limit: number, used: number | null, requested: number | null) => ({
  status: 403,
  body: { code: 'quota_exceeded', quota, limit, used, requested },
});

describe('50 tickets at once', () => {
  test.each([
    ['stored bytes', { storedBytes: 10_000 }, { size: 1_000 }, 10],
    ['videos', { videos: 10 }, {}, 10],
    ['uploads', { uploads: 7 }, {}, 7],
  ] as const)('do not exceed the quota of %s', async (_, quotas, body, count) => {
    const { id, ticket, limits } = await workspace(quotas);
    const responses = await Promise.all(Array.from({ length: 50 }, () => whenAvailable(() => ticket(body))));
    const statuses = Map.groupBy(responses, ({ status }) => status);
    expect([statuses.get(201)?.length, statuses.get(403)?.length]).toEqual([count, 50 - count]);
    const videos = await plane.db.selectFrom('videos').select('id').where('workspace_id', '=', id).execute();
    expect(videos).toHaveLength(count);
    expect((await limits()).uploads.used).toBe(count);
  });

  test('do not exceed the quota when one of two control planes is killed, and no ticket is incomplete', async () => {
    const { id, headers, ticket } = await workspace({ storedBytes: 40_000 });
    const body = { ...FILENAME, size: 1_000 };
    const other = await SeparateControlPlane.start(plane.databaseUrl);
    const first = Promise.withResolvers<void>();
    const all = Promise.allSettled([
      ...Array.from({ length: 25 }, async () => {
        await request(other.url).post('/v1/videos/upload-ticket').set(headers).send(body);
        first.resolve();
      }),
      ...Array.from({ length: 25 }, () => ticket({ size: 1_000 })),
    ]);
    await first.promise;
    await other.kill();
    await all;
    await until(async () => (await ticket({ size: 1_000 })).status === 403);
    const tickets = await plane.db
      .selectFrom('videos')
      .leftJoin('upload_tickets', 'video_id', 'id')
      .select('reserved_bytes')
      .where('workspace_id', '=', id)
      .execute();
    expect(tickets).toEqual(Array(40).fill({ reserved_bytes: 1_000 }));
  });

  test.each([
    ['uploads', redeem],
    ['resumable uploads', createResumable],
  ])('without a size do not exceed the quota when their %s begin', async (_, begin) => {
    const { granted, limits } = await workspace({ storedBytes: 10_000 });
    const tickets = [];
    for (let number = 0; number < 50; number += 1) tickets.push(await granted());
    const responses = await Promise.all(
      tickets.map(({ uploadToken }) => whenAvailable(() => begin(uploadToken, 1_000))),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(responses.filter(({ body }) => body.code === 'quota_exceeded')).toHaveLength(40);
    expect((await limits()).storedBytes).toEqual({ limit: 10_000, used: 0, reserved: 10_000 });
  });
});

describe('at the limit of a quota', () => {
  test('a file may use all remaining bytes, and the next byte is refused', async () => {
    const { ticket, granted } = await workspace({ storedBytes: 3_000 });
    const { uploadToken } = await granted({ size: 1_000 });
    await upload(uploadToken, 1_000);
    expect(await ticket({ size: 2_001 })).toMatchObject(exceeded('storedBytes', 3_000, 1_000, 2_001));
    await granted({ size: 2_000 });
    expect(await ticket({ size: 1 })).toMatchObject(exceeded('storedBytes', 3_000, 3_000, 1));
    expect(await ticket()).toMatchObject(exceeded('storedBytes', 3_000, 3_000, null));
  });

  test('renditions may exceed the stored bytes; then the next ticket is refused', async () => {
    const { ticket, granted, limits, remove } = await workspace({ storedBytes: 1_000 });
    const { videoId, uploadToken } = await granted({ size: 999 });
    await upload(uploadToken, 999);
    await granted();
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt);
    const used = 999 + RENDITION_BYTES;
    expect((await limits()).storedBytes.used).toBe(used);
    expect(await ticket()).toMatchObject(exceeded('storedBytes', 1_000, used, null));
    await remove(videoId);
    await granted();
  });

  test('a source that is not kept frees its bytes at once', async () => {
    const { granted, limits } = await workspace({ storedBytes: 1_000_000_000 });
    const { videoId, uploadToken } = await granted({ size: 1_000, keepSource: 'never' });
    await upload(uploadToken, 1_000);
    expect((await limits()).storedBytes.used).toBe(1_000);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt);
    expect((await limits()).storedBytes.used).toBe(RENDITION_BYTES);
  });

  test('the number of videos counts those in any state', async () => {
    const { ticket, granted, remove } = await workspace({ videos: 2 });
    const { videoId, uploadToken } = await granted();
    await upload(uploadToken, 1_000);
    await failTranscode(videoId);
    const other = await granted();
    expect(await ticket()).toMatchObject(exceeded('videos', 2, 2, 1));
    await remove(videoId);
    await granted();
    expect((await ticket()).status).toBe(403);
    await remove(other.videoId);
    await granted();
  });

  test('the minutes of this month count, until they are used up', async () => {
    const { id, ticket, granted, limits } = await workspace({ transcodedMinutes: 10 });
    const lastMonth = new Date();
    lastMonth.setUTCDate(0);
    await countTranscoded(id, 600_000, lastMonth.toISOString().slice(0, 10));
    await countTranscoded(id, 599_900, today());
    await granted();
    expect((await limits()).transcodedMinutes).toEqual({ limit: 10, used: 9.998 });
    await plane.db
      .updateTable('usage_daily')
      .set({ transcoded_ms: 600_000 })
      .where('workspace_id', '=', id)
      .execute();
    expect(await ticket()).toMatchObject(exceeded('transcodedMinutes', 10, 10, null));
  });

  test('a file has at most the size of the quota, and of the installation', async () => {
    const { ticket, granted, set } = await workspace({ fileBytes: 2_000_000 });
    const { body } = await ticket().expect(201);
    expect(body.maxBytes).toBe(2_000_000);
    expect(await ticket({ size: 2_000_001 })).toMatchObject(
      exceeded('fileBytes', 2_000_000, null, 2_000_001),
    );
    expect((await ticket({ size: 2_000_000 }).expect(201)).body.maxBytes).toBe(2_000_000);
    expect(await ticket({ size: MAX_BYTES + 1 })).toMatchObject({
      status: 413,
      body: { code: 'file_too_large', maxBytes: MAX_BYTES },
    });

    const { uploadToken } = await granted();
    const refused = await redeem(uploadToken, 2_000_001 + FORM_BYTES);
    expect(refused).toMatchObject(exceeded('fileBytes', 2_000_000, null, 2_000_001));
    expect(await redeem(uploadToken, 2_000_000 + FORM_BYTES)).toMatchObject({
      status: 200,
      body: { maxBytes: 2_000_000 },
    });

    await set({ fileBytes: 2 * MAX_BYTES });
    expect((await ticket()).body.maxBytes).toBe(MAX_BYTES);
  });

  test('both environments count together, and other workspaces do not', async () => {
    const { id, granted, limits } = await workspace({ videos: 2 });
    const other = await workspace({ videos: 1 });
    await other.granted();
    const tester = await newKey(id, 'test');
    await request(plane.url).post('/v1/videos/upload-ticket').set(tester).send(FILENAME).expect(201);
    await granted();
    const refused = await request(plane.url).post('/v1/videos/upload-ticket').set(tester).send(FILENAME);
    expect(refused).toMatchObject(exceeded('videos', 2, 2, 1));
    expect((await limits()).videos).toEqual({ limit: 2, used: 2 });
  });
});

describe('the reservation of a ticket', () => {
  const NOTHING = { limit: 1_000, used: 0, reserved: 0 };

  test('is the declared size, which the file cannot exceed', async () => {
    const { granted, limits } = await workspace({ storedBytes: 1_000 });
    const { uploadToken } = await granted({ size: 400 });
    expect((await limits()).storedBytes).toEqual({ ...NOTHING, reserved: 400 });
    expect(await redeem(uploadToken, 401 + FORM_BYTES)).toMatchObject({
      status: 413,
      body: { code: 'file_too_large', maxBytes: 400 },
    });
    expect(await redeem(uploadToken, 400 + FORM_BYTES)).toMatchObject({
      status: 200,
      body: { maxBytes: 400 },
    });
    expect((await limits()).storedBytes).toEqual({ ...NOTHING, reserved: 400 });
  });

  test('without a declared size is made by each transfer, for the size that it announces', async () => {
    const { granted, limits } = await workspace({ storedBytes: 1_000 });
    const { videoId, uploadToken } = await granted();
    expect((await limits()).storedBytes).toEqual(NOTHING);
    const empty = await redeem(uploadToken, 0);
    expect(empty).toMatchObject({ status: 200, body: { maxBytes: 1 } });
    await release(videoId, empty.body.transferId);
    const first = await redeem(uploadToken, 600);
    expect(first).toMatchObject({ status: 200, body: { maxBytes: 600 } });
    expect((await limits()).storedBytes).toEqual({ ...NOTHING, reserved: 600 });
    await release(videoId, first.body.transferId);
    expect(await redeem(uploadToken, 1_001)).toMatchObject(exceeded('storedBytes', 1_000, 0, 1_001));
    expect((await limits()).storedBytes).toEqual({ ...NOTHING, reserved: 600 });
    expect((await redeem(uploadToken, 1_000)).status).toBe(200);
  });

  test('of a resumable upload is its length, until the next transfer replaces it', async () => {
    const { granted, limits, set } = await workspace({ storedBytes: 1_000 });
    const { videoId, uploadToken } = await granted();
    expect(await createResumable(uploadToken, 1_001)).toMatchObject(exceeded('storedBytes', 1_000, 0, 1_001));
    expect((await createResumable(uploadToken, 900)).status).toBe(200);
    expect((await createResumable(uploadToken, 900)).status).toBe(200);
    expect((await limits()).storedBytes).toEqual({ ...NOTHING, reserved: 900 });
    expect((await createResumable(uploadToken, 1_000)).status).toBe(200);
    const { transferId } = (await redeem(uploadToken, 800)).body;
    expect((await limits()).storedBytes).toEqual({ ...NOTHING, reserved: 800 });
    await release(videoId, transferId);
    await set({ fileBytes: 700 });
    expect(await createResumable(uploadToken, 701)).toMatchObject(exceeded('fileBytes', 700, null, 701));
  });

  test('without any size is the largest file', async () => {
    const { granted, set } = await workspace({ storedBytes: MAX_BYTES - 1 });
    const { uploadToken } = await granted();
    expect(await redeem(uploadToken)).toMatchObject(exceeded('storedBytes', MAX_BYTES - 1, 0, MAX_BYTES));
    await set({ fileBytes: 2_000 });
    expect(await redeem(uploadToken)).toMatchObject({ status: 200, body: { maxBytes: 2_000 } });
  });

  test('is made without quotas as well, so that it counts once they are set', async () => {
    const { granted, set } = await workspace({ storedBytes: null });
    await granted({ size: 300 });
    await redeem((await granted()).uploadToken, 500);
    expect((await set({ storedBytes: 1 })).storedBytes).toEqual({ limit: 1, used: 0, reserved: 800 });
  });

  test('becomes the bytes of the file that arrived', async () => {
    const { granted, limits } = await workspace({ storedBytes: 1_000 });
    const { uploadToken } = await granted({ size: 1_000 });
    await upload(uploadToken, 700);
    expect(await limits()).toMatchObject({
      storedBytes: { limit: 1_000, used: 700, reserved: 0 },
      uploads: { limit: null, used: 0 },
    });
  });

  test('ends with its video, and at once when the ticket expires', async () => {
    const { granted, ticket, remove, limits } = await workspace({ storedBytes: 1_000, uploads: 1 });
    const deleted = await granted({ size: 1_000 });
    expect(await ticket({ size: 1 })).toMatchObject(exceeded('uploads', 1, 1, 1));
    await remove(deleted.videoId);
    const expired = await granted({ size: 1_000 });
    await expire(expired.videoId);
    expect(await limits()).toMatchObject({ storedBytes: NOTHING, uploads: { used: 0 } });
    await granted({ size: 1_000 });
  });

  test('does not deadlock with the deletion of the video', async () => {
    const { granted } = await workspace({ storedBytes: null });
    const { videoId, uploadToken } = await granted();
    const { redeemed } = await plane.db.transaction().execute(async (trx) => {
      await lockVideo(trx, videoId);
      const redeemed = redeem(uploadToken, 100);
      const waiting = sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await until(async () => (await waiting.execute(plane.db)).rows.length > 0);
      await turnIntoTombstone(trx, videoId, MOVES.delete);
      return { redeemed };
    });
    expect(await redeemed).toMatchObject({ status: 401, body: { code: 'upload_token_invalid' } });
  });

  test('of an expired ticket lasts as long as its transfer, and ends when the video fails', async () => {
    const { granted, limits } = await workspace({ storedBytes: 1_000 });
    const { videoId, uploadToken } = await granted({ size: 1_000 });
    await redeem(uploadToken);
    await expire(videoId);
    expect((await limits()).storedBytes.reserved).toBe(1_000);
    await plane.db
      .updateTable('upload_tickets')
      .set({ transfer_id: null, lease_expires_at: null })
      .where('video_id', '=', videoId)
      .execute();
    await plane.maintain('expire-tickets');
    await until(async () => (await limits()).storedBytes.reserved === 0);
    await plane.db
      .updateTable('upload_tickets')
      .set({ expires_at: sql`now() + interval '1 hour'` })
      .where('video_id', '=', videoId)
      .execute();
    expect((await limits()).storedBytes).toEqual(NOTHING);
  });
});

describe('a refusal', () => {
  test('creates nothing, and the same Idempotency-Key works once there is room', async () => {
    const { id, ticket, granted, remove } = await workspace({ videos: 1 });
    const { videoId } = await granted();
    const key = { 'idempotency-key': newId('req') };
    for (const _ of [1, 2]) {
      const refused = await ticket({}, key);
      expect(refused).toMatchObject(exceeded('videos', 1, 1, 1));
      expect(refused.headers).not.toHaveProperty('idempotency-replayed');
    }
    const videos = () => plane.db.selectFrom('videos').select('id').where('workspace_id', '=', id).execute();
    expect(await videos()).toEqual([{ id: videoId }]);
    await remove(videoId);
    const created = await ticket({}, key).expect(201);
    expect((await ticket({}, key).expect(201)).body.videoId).toBe(created.body.videoId);
  });

  test('of a transfer leaves the token valid and holds no lease', async () => {
    const { granted, set } = await workspace({ storedBytes: 100 });
    const { uploadToken } = await granted();
    expect(await redeem(uploadToken, 101)).toMatchObject(exceeded('storedBytes', 100, 0, 101));
    await set({ storedBytes: null });
    expect((await redeem(uploadToken, 101)).status).toBe(200);
  });

  test('of a retry has only one cause, used-up minutes, and leaves the video failed', async () => {
    const { id, headers, granted, retry } = await workspace({
      transcodedMinutes: 1,
      storedBytes: 1,
      videos: 1,
    });
    const { videoId, uploadToken } = await granted();
    const { body } = await redeem(uploadToken, 1);
    const sourceKey = String(body.sourceKey);
    const transferId = String(body.transferId);
    await plane.objects.put(sourceKey, Buffer.from('x'), 'video/mp4');
    await plane.engine.report('upload.completed', { videoId, transferId, bytes: 1, sha256: 'ab'.repeat(32) });
    await failTranscode(videoId);
    await countTranscoded(id, 60_000, today());
    const key = { 'idempotency-key': newId('req') };
    expect(await retry(videoId, key)).toMatchObject(exceeded('transcodedMinutes', 1, 1, null));
    const video = await request(plane.url).get(`/v1/videos/${videoId}`).set(headers);
    expect(video.body.status).toBe('failed');
    await plane.db.deleteFrom('usage_daily').where('workspace_id', '=', id).execute();
    expect((await retry(videoId, key)).status).toBe(202);
  });
});
