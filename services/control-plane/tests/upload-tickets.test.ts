import { buffer } from 'node:stream/consumers';
import { INTERNAL_PATHS, type RedeemTicketResponse } from '@framelane/contracts/internal-api';
import { transferFolder } from '@framelane/object-store/object-keys';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import type { SimulatedEngine } from './support/engine.ts';
import { SeparateControlPlane } from './support/separate-control-plane.ts';

const SHARE = { count: 30, bytes: 1_000_000_000 };
const MAX_GUESSES = 20;

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    maintenanceSeconds: 1,
    uploads: { maxBytes: 5_000_000, leaseSeconds: 60, maxHours: 2 },
    workspaceUploads: SHARE,
    rateLimits: { requestsPerMinute: 0, failuresPerMinute: MAX_GUESSES },
  }));
});
afterAll(() => plane.stop());

const post = (body: unknown) =>
  request(plane.url)
    .post('/v1/videos/upload-ticket')
    .set(plane.credentials)
    .send(body as object);

describe('requesting a ticket', () => {
  test('creates a video that waits for its upload', async () => {
    const response = await post({ filename: 'Summer holiday.final.MP4' });
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({
      videoId: expect.stringMatching(/^vid_[0-9a-z]{26}$/),
      uploadUrl: 'http://engine.framelane.test/upload',
      tusUrl: 'http://engine.framelane.test/files',
      uploadToken: expect.stringMatching(/^ut_[A-Za-z0-9]{32}$/),
      maxBytes: 5_000_000,
    });
    expect(Date.parse(response.body.expiresAt) - Date.now()).toBeGreaterThan(3_590_000);
    expect(response.headers.location).toBe(`http://framelane.test/v1/videos/${response.body.videoId}`);

    const video = await request(plane.url).get(`/v1/videos/${response.body.videoId}`).set(plane.credentials);
    expect(video.body).toMatchObject({
      status: 'uploading',
      title: 'Summer holiday.final',
      filename: 'Summer holiday.final.MP4',
      environment: 'live',
      playbackPolicy: 'public',
      metadata: {},
      tags: [],
      passthrough: null,
      size: null,
      progress: 0,
      error: null,
      expiresAt: response.body.expiresAt,
    });
    expect(video.body).not.toHaveProperty('hls');
    expect(video.body).not.toHaveProperty('variants');
  });

  test('accepts a lifetime, the largest size and every field that the owner may set', async () => {
    const chosen = {
      title: 'Été à Nîmes 🎬',
      metadata: { place: 'Nîmes' },
      tags: ['été'],
      passthrough: 'p',
      playbackPolicy: 'signed',
      allowedOrigins: ['https://example.com'],
      keepSource: 3,
    };
    const response = await post({ filename: 'a.mp4', ...chosen, expiresIn: 60, size: 5_000_000 });
    expect(Date.parse(response.body.expiresAt) - Date.now()).toBeLessThanOrEqual(60_000);
    const video = await request(plane.url).get(`/v1/videos/${response.body.videoId}`).set(plane.credentials);
    expect(video.body).toMatchObject(chosen);
  });

  test.each([
    ['no filename', {}, 'body/filename'],
    ['an empty filename', { filename: '' }, 'body/filename'],
    ['no extension', { filename: 'holiday' }, 'body/filename'],
    ['a path', { filename: '../etc/passwd.mp4' }, 'body/filename'],
    ['a backslash', { filename: 'c:\\a.mp4' }, 'body/filename'],
    ['a control character', { filename: 'a\u0000.mp4' }, 'body/filename'],
    ['half a character', { filename: 'a\ud83c.mp4' }, 'body/filename'],
    ['256 characters', { filename: `${'a'.repeat(252)}.mp4` }, 'body/filename'],
    ['a number', { filename: 5 }, 'body/filename'],
    ['a long title', { filename: 'a.mp4', title: 'x'.repeat(513) }, 'body/title'],
    ['a size of nothing', { filename: 'a.mp4', size: 0 }, 'body/size'],
    ['a lifetime of a second', { filename: 'a.mp4', expiresIn: 1 }, 'body/expiresIn'],
    ['a lifetime of a year', { filename: 'a.mp4', expiresIn: 31_536_000 }, 'body/expiresIn'],
  ])('400 naming the field: %s', async (_, body, field) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'validation_failed', errors: [{ field }] });
  });

  test('413 when the declared size exceeds the limit', async () => {
    const response = await post({ filename: 'a.mp4', size: 5_000_001 });
    expect(response.status).toBe(413);
    expect(response.body).toMatchObject({ code: 'file_too_large', maxBytes: 5_000_000 });
  });
});

async function expireLease(videoId: string): Promise<void> {
  await plane.db
    .updateTable('upload_tickets')
    .set({ lease_expires_at: new Date(Date.now() - 1000) })
    .where('video_id', '=', videoId)
    .execute();
}

/** When the lease of a ticket expires, in milliseconds. */
async function leaseEnd(videoId: string): Promise<number> {
  const ticket = plane.db.selectFrom('upload_tickets').select('lease_expires_at');
  const { lease_expires_at } = await ticket.where('video_id', '=', videoId).executeTakeFirstOrThrow();
  return lease_expires_at?.getTime() ?? 0;
}

describe('redeeming a token', () => {
  const progress = ({ videoId, transferId }: { videoId: string; transferId: string }) =>
    plane.engine.report('upload.progress', { videoId, transferId });
  const redeem = (token: string, contentLength: number | null = null, claimId?: string) =>
    plane.engine.request(INTERNAL_PATHS.redeemTicket, { token, contentLength, clientAddress: null, claimId });

  test('again with the same claim, because the response was lost, gets the same transfer', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const [first, repeated] = await Promise.all([1, 2].map(() => redeem(uploadToken, 1000, 'c1')));
    expect(first?.status).toBe(200);
    expect(repeated).toEqual(first);
    expect(await redeem(uploadToken, 1000, 'c1')).toEqual(first);
    expect((await redeem(uploadToken, 1000, 'c2')).status).toBe(409);
    expect((await redeem(uploadToken, 1000)).status).toBe(409);
    const { transferId } = first?.body ?? {};
    await plane.engine.request(INTERNAL_PATHS.releaseTransfer, { videoId, transferId });
    // A late repeat leases the ticket to nobody.
    expect((await redeem(uploadToken, 1000, 'c1')).status).toBe(409);
    expect((await redeem(uploadToken, 1000, 'c2')).status).toBe(200);
  });

  test('one of ten concurrent transfers gets the lease', async () => {
    const { uploadToken } = await plane.ticket();
    const responses = await Promise.all(Array.from({ length: 10 }, () => redeem(uploadToken)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = responses.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array(9).fill([409, 'upload_in_progress']),
    );
  });

  test('a released token can be redeemed again, a used one cannot', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const first = await plane.engine.redeem(uploadToken);
    await plane.engine.request(INTERNAL_PATHS.releaseTransfer, {
      videoId,
      transferId: first.transferId,
    });
    const second = await plane.engine.upload(uploadToken);
    expect(second.transferId).not.toBe(first.transferId);
    const replay = await redeem(uploadToken);
    expect([replay.status, replay.body.code]).toEqual([401, 'upload_token_used']);
  });

  test('a token that is used while its redemption waits is refused', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const { transferId } = await plane.engine.redeem(uploadToken);
    await expireLease(videoId);
    const { redeemed } = await plane.db.transaction().execute(async (trx) => {
      await sql`select from workspaces where id = ${plane.workspaceId} for no key update`.execute(trx);
      const redeemed = redeem(uploadToken);
      await until(async () => {
        const { rows } = await sql`
          select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(plane.db);
        return rows.length > 0;
      });
      const upload = { videoId, transferId, bytes: 5, sha256: '11'.repeat(32) };
      await plane.engine.report('upload.completed', upload);
      return { redeemed };
    });
    const { status, body } = await redeemed;
    expect([status, body.code]).toEqual([401, 'upload_token_used']);
  });

  test('progress renews the lease of its own transfer only, until the token is used', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const older = await plane.engine.redeem(uploadToken);
    const leased = await leaseEnd(videoId);
    await progress(older);
    expect(await leaseEnd(videoId)).toBeGreaterThan(leased);

    await expireLease(videoId);
    const { transferId } = await plane.engine.redeem(uploadToken);
    const successor = { videoId, transferId };
    const redeemed = await leaseEnd(videoId);
    await progress(older);
    expect(await leaseEnd(videoId)).toBe(redeemed);
    const file = { bytes: 5, sha256: '11'.repeat(32) };
    await plane.engine.report('upload.completed', { ...successor, ...file });
    await progress(successor);
    expect(await leaseEnd(videoId)).toBe(redeemed);
  });

  test('the release of an older transfer does not affect the current one', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const older = await plane.engine.redeem(uploadToken);
    await plane.engine.report('upload.aborted', { videoId, transferId: older.transferId });
    await plane.engine.redeem(uploadToken);
    await plane.engine.request(INTERNAL_PATHS.releaseTransfer, {
      videoId,
      transferId: older.transferId,
    });
    expect((await redeem(uploadToken)).body.code).toBe('upload_in_progress');
  });

  test('a late transfer cannot change the file that its successor registered', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const store = async (transfer: RedeemTicketResponse, content: string) => {
      await plane.objects.put(transfer.sourceKey, Buffer.from(content), 'video/mp4');
    };
    const complete = ({ transferId }: RedeemTicketResponse, sha256: string) =>
      plane.engine.report('upload.completed', {
        videoId,
        transferId,
        bytes: 5,
        sha256: sha256.repeat(32),
      });
    const late = await plane.engine.redeem(uploadToken);
    await expireLease(videoId);
    const successor = await plane.engine.redeem(uploadToken);
    await store(successor, 'mine!');
    await complete(successor, 'aa');
    await store(late, 'late!');
    await complete(late, 'bb');

    const video = await plane.db
      .selectFrom('videos')
      .innerJoin('artifacts', 'artifacts.video_id', 'videos.id')
      .select(['status', 'sha256', 'folder'])
      .where('id', '=', videoId)
      .executeTakeFirstOrThrow();
    const registered = { sha256: 'aa'.repeat(32), folder: transferFolder(successor.transferId) };
    expect(video).toEqual({ status: 'processing', ...registered });
    expect((await plane.engine.claim(videoId)).sourceKey).toBe(successor.sourceKey);
    await until(async () => (await plane.objects.head(late.sourceKey)) === null);
    const { body } = await plane.objects.get(successor.sourceKey);
    expect((await buffer(body)).toString()).toBe('mine!');
  });

  test('a ticket with an expired lease can be redeemed again; the late completion changes nothing', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const silent = await plane.engine.redeem(uploadToken);
    await expireLease(videoId);
    const present = await plane.engine.redeem(uploadToken);
    await plane.engine.report('upload.completed', {
      videoId,
      transferId: silent.transferId,
      bytes: 5,
      sha256: '00'.repeat(32),
    });
    const video = await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials);
    expect(video.body.status).toBe('uploading');
    const current = await plane.engine.request(INTERNAL_PATHS.checkTransfer, {
      videoId,
      transferId: present.transferId,
    });
    expect(current.body).toEqual({ current: true });
    const obsolete = await plane.engine.request(INTERNAL_PATHS.checkTransfer, {
      videoId,
      transferId: silent.transferId,
    });
    expect(obsolete.body).toEqual({ current: false });
  });

  test.each(['ut_unknown', '', 'ü', `ut_${'A'.repeat(32)}`])(
    '401 for the unknown token "%s"',
    async (token) => {
      const response = await redeem(token);
      expect([response.status, response.body.code]).toEqual([401, 'upload_token_invalid']);
    },
  );

  test('413 for a Content-Length over the limit, and the token can be used again', async () => {
    const { uploadToken } = await plane.ticket();
    const refused = await redeem(uploadToken, 6_000_000);
    expect(refused.status).toBe(413);
    expect(refused.body).toMatchObject({ code: 'file_too_large', maxBytes: 5_000_000 });
    // A multipart body is a little larger than its file.
    expect((await redeem(uploadToken, 5_000_000 + 64 * 1024)).status).toBe(200);
  });

  test('401 once the video is deleted', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect((await redeem(uploadToken)).body.code).toBe('upload_token_invalid');
  });

  test('401 without the service secret', async () => {
    const response = await fetch(`${plane.engine.internalUrl}${INTERNAL_PATHS.redeemTicket}`, {
      method: 'POST',
    });
    expect(response.status).toBe(401);
  });
});

test('a ticket that expires unused fails its video', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.db
    .updateTable('upload_tickets')
    .set({ expires_at: new Date(Date.now() - 1000) })
    .where('video_id', '=', videoId)
    .execute();
  const response = await plane.engine.request(INTERNAL_PATHS.redeemTicket, {
    token: uploadToken,
    contentLength: null,
    clientAddress: null,
  });
  expect([response.status, response.body.code]).toEqual([401, 'upload_token_expired']);
  const video = await until(async () => {
    const { body } = await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials);
    return body.status === 'failed' && body;
  });
  expect(video.error).toEqual({ code: 'upload_expired', message: expect.any(String) });
  expect(video.expiresAt).toBeNull();
});

describe('the uploads of a workspace', () => {
  /** Ends all uploads and starts another control plane with these limits. Resolves with an engine of it. */
  async function engineWithLimits(workspaceUploads: typeof SHARE): Promise<SimulatedEngine> {
    await plane.db.updateTable('upload_tickets').set({ transfer_id: null, lease_expires_at: null }).execute();
    const other = await plane.startAnother({ workspaceUploads });
    return plane.engineAt(other.internalUrl);
  }
  const tokens = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await plane.ticket()).uploadToken));
  const redeemBy = (engine: SimulatedEngine, token = '', contentLength: number | null = 1000) =>
    engine.request(INTERNAL_PATHS.redeemTicket, { token, contentLength, clientAddress: null });
  const TOO_MANY = { status: 429, body: { code: 'too_many_uploads' } };

  test('never exceed the limit in number, and the end of one allows the next', async () => {
    const engine = await engineWithLimits({ count: 3, bytes: SHARE.bytes });
    const responses = await Promise.all((await tokens(8)).map((token) => redeemBy(engine, token)));
    const leased = responses.filter(({ status }) => status === 200);
    expect(leased).toHaveLength(3);
    expect(responses.filter(({ body }) => body.code === 'too_many_uploads')).toHaveLength(5);

    const [next] = await tokens(1);
    expect(await redeemBy(engine, next)).toMatchObject(TOO_MANY);
    await engine.request(INTERNAL_PATHS.releaseTransfer, { ...leased[0]?.body });
    expect((await redeemBy(engine, next)).status).toBe(200);
  });

  test('never exceed the limit in bytes, but a single one is always accepted', async () => {
    const engine = await engineWithLimits({ count: 100, bytes: 2_500_000 });
    const [first, second, third, chunked] = await tokens(4);
    const alone = await redeemBy(engine, chunked, null);
    expect(alone.status).toBe(200);
    expect(await redeemBy(engine, first, 1)).toMatchObject(TOO_MANY);
    await engine.request(INTERNAL_PATHS.releaseTransfer, { ...alone.body });
    expect((await redeemBy(engine, first, 2_000_000)).status).toBe(200);
    expect(await redeemBy(engine, second, 500_001)).toMatchObject(TOO_MANY);
    expect((await redeemBy(engine, third, 500_000)).status).toBe(200);
  });
});

test('too many unknown tokens get 429; valid tokens from the same address work', async () => {
  const guess = (token: string, clientAddress: string | null) =>
    plane.engine.request(INTERNAL_PATHS.redeemTicket, { token, contentLength: null, clientAddress });
  const codes: unknown[] = [];
  for (let count = 0; count <= MAX_GUESSES; count += 1) {
    codes.push((await guess(`ut_guess${count}`, '2001:db8::1')).body.code);
  }
  expect(codes).toEqual([...Array(MAX_GUESSES).fill('upload_token_invalid'), 'rate_limited']);
  expect(await guess('ut_guess', '2001:db8::2')).toMatchObject({ status: 429 });
  expect(await guess('ut_guess', '2001:db8:0:1::1')).toMatchObject({ status: 401 });
  const { uploadToken } = await plane.ticket();
  expect((await guess(uploadToken, '2001:db8::1')).status).toBe(200);
});

describe('completing a transfer', () => {
  const FILE = { bytes: 5, sha256: '11'.repeat(32) };
  const statusOf = async (videoId: string) =>
    (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body.status;

  async function begin() {
    const { videoId, uploadToken } = await plane.ticket();
    const { transferId } = await plane.engine.redeem(uploadToken);
    const upload = { videoId, transferId, ...FILE };
    return {
      videoId,
      uploadToken,
      upload,
      complete: () => plane.engine.request(INTERNAL_PATHS.completeTransfer, upload),
    };
  }

  test('is idempotent, by request and by event', async () => {
    const { videoId, upload, complete } = await begin();
    const responses = await Promise.all([
      complete(),
      complete(),
      plane.engine.report('upload.completed', upload),
    ]);
    expect(responses.slice(0, 2)).toEqual(Array(2).fill({ status: 204, body: {} }));
    expect(await statusOf(videoId)).toBe('processing');
    const { attempt } = await plane.engine.claim(videoId);
    expect(attempt).toBe(1);
    await plane.engine.complete(videoId, attempt);
    await plane.engine.request(INTERNAL_PATHS.releaseTransfer, { ...upload });
    expect((await complete()).status).toBe(204);
    expect(await statusOf(videoId)).toBe('ready');
  });

  test('is refused after its lease and its ticket expired and the video failed', async () => {
    const { videoId, upload, complete } = await begin();
    await plane.db
      .updateTable('upload_tickets')
      .set({ expires_at: sql`now()`, lease_expires_at: sql`now()` })
      .where('video_id', '=', videoId)
      .execute();
    await plane.db
      .updateTable('videos')
      .set({ status: 'failed', error_code: 'upload_expired', error_message: 'Expired.' })
      .where('id', '=', videoId)
      .execute();
    const current = await plane.engine.request(INTERNAL_PATHS.checkTransfer, upload);
    expect(current.body).toEqual({ current: false });
    expect(await complete()).toMatchObject({ status: 401, body: { code: 'upload_token_expired' } });
    expect(await statusOf(videoId)).toBe('failed');
  });

  test('is refused once the video is deleted', async () => {
    const { videoId, complete } = await begin();
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect(await complete()).toMatchObject({ status: 409, body: { code: 'upload_cancelled' } });
  });

  test('is refused once another transfer holds the ticket', async () => {
    const { videoId, uploadToken, upload, complete } = await begin();
    await plane.engine.request(INTERNAL_PATHS.releaseTransfer, { ...upload });
    await plane.engine.redeem(uploadToken);
    expect(await complete()).toMatchObject({ status: 409, body: { code: 'upload_cancelled' } });
    expect(await statusOf(videoId)).toBe('uploading');
  });
});

describe('a control plane whose clock is wrong', () => {
  test.each([-3600, 3600])('by %d seconds issues and redeems tickets like the others', async (offset) => {
    const shifted = await SeparateControlPlane.start(plane.databaseUrl, {
      CLOCK_OFFSET_SECONDS: String(offset),
    });
    try {
      const body = { filename: 'a.mp4', expiresIn: 60 };
      const issued = await request(shifted.url)
        .post('/v1/videos/upload-ticket')
        .set(plane.credentials)
        .send(body);
      const left = Date.parse(issued.body.expiresAt) - Date.now();
      expect(left).toBeGreaterThan(50_000);
      expect(left).toBeLessThanOrEqual(60_000);
      const engine = plane.engineAt(shifted.internalUrl);
      const redeem = (by: SimulatedEngine, token: string) =>
        by.request(INTERNAL_PATHS.redeemTicket, { token, contentLength: null, clientAddress: null });
      expect((await redeem(plane.engine, issued.body.uploadToken)).status).toBe(200);
      const { videoId, uploadToken } = await plane.ticket(body);
      expect((await redeem(engine, uploadToken)).status).toBe(200);
      // The lease is valid for both control planes.
      const again = await redeem(engine, uploadToken);
      expect([again.status, again.body.code]).toEqual([409, 'upload_in_progress']);
      await plane.db
        .updateTable('upload_tickets')
        .set({ expires_at: sql`now()`, lease_expires_at: sql`now()` })
        .where('video_id', '=', videoId)
        .execute();
      const expired = await redeem(engine, uploadToken);
      expect([expired.status, expired.body.code]).toEqual([401, 'upload_token_expired']);
    } finally {
      await shifted.kill();
    }
  });
});

test('completing an upload a second time, with other values, changes nothing', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  const { transferId } = await plane.engine.upload(uploadToken);
  const again = { videoId, transferId, bytes: 7, sha256: '11'.repeat(32) };
  await plane.engine.report('upload.completed', again);
  const { body } = await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials);
  expect(body).toMatchObject({ status: 'processing', size: 1_000_000, storageBytes: 1_000_000 });
});

test('no ticket contains its token as text', async () => {
  const { uploadToken } = await plane.ticket();
  const rows = await plane.db.selectFrom('upload_tickets').selectAll().execute();
  expect(JSON.stringify(rows)).not.toContain(uploadToken.slice(3));
});
