import { newId } from '@framelane/contracts/ids';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { sourceKey, transferFolder } from '@framelane/object-store/object-keys';
import type { Checkpoint } from '@framelane/object-store/object-store';
import { Random, testSeed } from '@framelane/test-kit/random';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { QuotasService } from '../src/quotas/quotas.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { insertWorkspace } from './support/database.ts';

const MAX_BYTES = 5_000_000;
const HOUR_MS = 3_600_000;
const MAX_HOURS = 2;
const SHARE = { count: 30, bytes: 1_000_000_000 };
const LENGTH = 1_000_000;

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    maintenanceSeconds: 3600,
    testVideoHours: 1,
    uploads: { maxBytes: MAX_BYTES, leaseSeconds: 60, maxHours: MAX_HOURS },
    workspaceUploads: SHARE,
  }));
});
afterAll(() => plane.stop());

type Reply = { status: number; body: Record<string, unknown> };
type Ids = { videoId: string; transferId: string; epoch: number };

let token: string;
let videoId: string;
beforeEach(async () => {
  ({ videoId, uploadToken: token } = await plane.ticket());
});

const create = (metadata = 'filename YQ==', length = LENGTH, uploadToken = token): Promise<Reply> =>
  plane.engine.request(INTERNAL_PATHS.createResumable, {
    token: uploadToken,
    length,
    metadata,
    clientAddress: null,
  });
const open = (
  transferId: string,
  epoch: number | null = null,
  uploadToken = token,
  claimId?: string,
): Promise<Reply> =>
  plane.engine.request(INTERNAL_PATHS.openResumable, {
    token: uploadToken,
    transferId,
    epoch,
    clientAddress: null,
    claimId,
  });
const save = (ids: Ids, durableBytes = 0): Promise<Reply> =>
  plane.engine.request(INTERNAL_PATHS.saveResumable, { ...ids, checkpoint: checkpoint(durableBytes) });
const check = async (ids: Partial<Ids>): Promise<unknown> =>
  (await plane.engine.request(INTERNAL_PATHS.checkTransfer, ids)).body.current;
const release = (ids: Partial<Ids>): Promise<Reply> =>
  plane.engine.request(INTERNAL_PATHS.releaseTransfer, { ...ids });
const complete = (ids: Partial<Ids>, bytes = LENGTH): Promise<Reply> =>
  plane.engine.request(INTERNAL_PATHS.completeTransfer, { ...ids, bytes, sha256: null });
const terminate = (transferId: string): Promise<Reply> =>
  plane.engine.request(INTERNAL_PATHS.terminateResumable, { token, transferId, clientAddress: null });
const redeem = (uploadToken = token, claimId?: string): Promise<Reply> =>
  plane.engine.request(INTERNAL_PATHS.redeemTicket, {
    token: uploadToken,
    contentLength: LENGTH,
    clientAddress: null,
    claimId,
  });

const checkpoint = (durableBytes: number): Checkpoint => ({
  id: 'm1',
  durableBytes,
  tail: [],
  laterBytesUntrusted: false,
});
const codeOf = ({ status, body }: Reply) => [status, body.code];

/** Creates an upload and opens it. */
async function begun(metadata?: string): Promise<Ids> {
  const { transferId } = (await create(metadata)).body as { transferId: string };
  return opened(transferId);
}

async function opened(transferId: string): Promise<Ids> {
  const { status, body } = await open(transferId);
  expect([status, body.status]).toEqual([200, 'open']);
  return { videoId, transferId, epoch: Number(body.epoch) };
}

async function paused(): Promise<Ids> {
  const ids = await begun();
  await save(ids, 10);
  await release(ids);
  return ids;
}

const video = async (id = videoId) =>
  (await request(plane.url).get(`/v1/videos/${id}`).set(plane.credentials)).body;
const remove = (id = videoId) =>
  request(plane.url).delete(`/v1/videos/${id}`).set(plane.credentials).expect(204);

/** Changes the ticket, for example to let time pass. */
const changeTicket = (assignments: string) =>
  sql`update upload_tickets set ${sql.raw(assignments)} where video_id = ${videoId}`.execute(plane.db);

const ticketRow = () =>
  plane.db.selectFrom('upload_tickets').selectAll().where('video_id', '=', videoId).executeTakeFirstOrThrow();

const uploadsOf = (id = videoId) =>
  plane.db.selectFrom('resumable_uploads').selectAll().where('video_id', '=', id).execute();

/** Waits until `count` statements wait for a lock of this database. */
const blocked = (count: number) =>
  until(async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(plane.db);
    return rows.length >= count;
  });

describe('creating', () => {
  test('returns the same upload for the same file, also for concurrent requests', async () => {
    const [first, second] = await Promise.all([create(), create()]);
    expect(first).toEqual({
      status: 200,
      body: {
        transferId: expect.stringMatching(/^xfr_/),
        url: `http://engine.framelane.test/files/${first.body.transferId}`,
        expiresAt: (await video()).expiresAt,
      },
    });
    expect(second).toEqual(first);
    const ids = await opened(String(first.body.transferId));
    await save(ids, 500);
    expect(await create()).toMatchObject({ status: 200, body: { transferId: ids.transferId } });
    expect(await open(ids.transferId)).toMatchObject({
      body: { length: LENGTH, metadata: 'filename YQ==', epoch: 2, checkpoint: checkpoint(500) },
    });
  });

  test.each([
    ['another name', 'filename Yg==', LENGTH],
    ['another size', 'filename YQ==', LENGTH + 1],
  ])('supersedes a paused upload of a file with %s', async (_name, metadata, length) => {
    const first = await paused();
    const second = String((await create(metadata, length)).body.transferId);
    expect(second).not.toBe(first.transferId);
    expect(codeOf(await open(first.transferId))).toEqual([410, 'upload_ended']);
    expect(codeOf(await save(first))).toEqual([409, 'transfer_lost']);
    expect(codeOf(await complete(first))).toEqual([409, 'upload_cancelled']);
    expect(await complete(await opened(second), length)).toMatchObject({ status: 204 });
    expect(await video()).toMatchObject({ size: length });
  });

  test('does not supersede an upload that an engine has open', async () => {
    const ids = await begun();
    expect(codeOf(await create('filename Yg=='))).toEqual([409, 'upload_in_progress']);
    expect(await save(ids)).toMatchObject({ status: 200 });
  });

  test('of several files at once leaves one upload', async () => {
    const created = await Promise.all(['YQ==', 'Yg==', 'Yw=='].map((name) => create(`filename ${name}`)));
    expect(created.map(({ status }) => status)).toEqual([200, 200, 200]);
    const rows = await uploadsOf();
    expect(rows.filter(({ ended_at }) => ended_at === null)).toHaveLength(1);
    expect(rows.filter(({ end_reason }) => end_reason === 'superseded')).toHaveLength(2);
  });

  test('is refused for a larger file than the ticket allows, or without a usable ticket', async () => {
    expect(codeOf(await create('', MAX_BYTES + 1))).toEqual([413, 'file_too_large']);
    const declared = await plane.ticket({ filename: 'a.mp4', size: 100 });
    expect(await create('', 101, declared.uploadToken)).toMatchObject({
      status: 413,
      body: { code: 'file_too_large', maxBytes: 100 },
    });
    expect(await create('', 100, declared.uploadToken)).toMatchObject({ status: 200 });
    expect(codeOf(await create('', 1, 'ut_unknown'))).toEqual([401, 'upload_token_invalid']);
    await complete(await begun());
    expect(codeOf(await create())).toEqual([401, 'upload_token_used']);
  });
});

test('a ticket has a limit of uploads, and the same file again is no other upload', async () => {
  await begun();
  await changeTicket('transfer_id = null, lease_expires_at = null');
  await sql`insert into resumable_uploads (transfer_id, video_id, length, metadata, ended_at, end_reason)
    select 'xfr_' || ${videoId} || n, ${videoId}, 1, '', now(), 'superseded'
    from generate_series(1, 99) n`.execute(plane.db);
  expect(codeOf(await create('filename Yg=='))).toEqual([403, 'upload_token_exhausted']);
  expect(await create()).toMatchObject({ status: 200 });
});

describe('an epoch', () => {
  test('begins when another engine opens the upload, and the earlier one changes nothing', async () => {
    const old = await begun();
    await save(old, 100);
    expect(await open(old.transferId, old.epoch)).toMatchObject({ body: { epoch: old.epoch } });
    const current = await opened(old.transferId);
    expect(current.epoch).toBe(old.epoch + 1);
    await save(current, 200);

    expect(codeOf(await save(old, 150))).toEqual([409, 'transfer_lost']);
    expect(await check(old)).toBe(false);
    expect(codeOf(await complete(old))).toEqual([409, 'upload_cancelled']);
    await release(old);
    await plane.engine.report('upload.progress', old);
    await plane.engine.report('upload.aborted', { ...old });
    await plane.engine.report('upload.completed', { ...old, bytes: LENGTH, sha256: null });

    expect(await check(current)).toBe(true);
    expect(await video()).toMatchObject({ status: 'uploading' });
    expect(await open(old.transferId, current.epoch)).toMatchObject({
      body: { epoch: current.epoch, checkpoint: checkpoint(200) },
    });
    expect(await complete(current)).toMatchObject({ status: 204 });
  });

  test.each([
    ['a checkpoint', save, [409, 'transfer_lost']],
    ['a release', release, [204, undefined]],
    ['a completion', complete, [409, 'upload_cancelled']],
  ])(
    'ends while %s of it waits for the ticket; the waiting request then changes nothing',
    async (_name, report, outcome) => {
      const old = await begun();
      await save(old, 100);
      const { late } = await plane.db.transaction().execute(async (trx) => {
        await sql`select from upload_tickets where video_id = ${videoId} for update`.execute(trx);
        const late = report(old);
        await blocked(1);
        await sql`update resumable_uploads set epoch = epoch + 1
          where transfer_id = ${old.transferId}`.execute(trx);
        await sql`update upload_tickets set announced_bytes = 1 where video_id = ${videoId}`.execute(trx);
        return { late };
      });
      expect(codeOf(await late)).toEqual(outcome);
      const current = { ...old, epoch: old.epoch + 1 };
      expect(await check(current)).toBe(true);
      expect(await open(old.transferId, current.epoch)).toMatchObject({
        body: { epoch: current.epoch, checkpoint: checkpoint(100) },
      });
    },
  );

  test('begins once for a claim that is repeated, because its response was lost', async () => {
    const { transferId } = (await create()).body as { transferId: string };
    const replies = await Promise.all([1, 2].map(() => open(transferId, null, token, 'c1')));
    expect(replies.map(({ body }) => body.epoch)).toEqual([1, 1]);
    // The engine that has it open confirms it, and another one takes it over.
    expect((await open(transferId, 1)).body.epoch).toBe(1);
    expect((await open(transferId, null, token, 'c1')).body.epoch).toBe(1);
    expect((await open(transferId, null, token, 'c2')).body.epoch).toBe(2);
    expect((await open(transferId)).body.epoch).toBe(3);
  });

  test('is unique, however many engines open the upload at once', async () => {
    const { transferId } = (await create()).body as { transferId: string };
    const replies = await Promise.all(Array.from({ length: 10 }, () => open(transferId)));
    expect(replies.map(({ body }) => body.epoch).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
  });
});

describe('a form and a resumable upload of one ticket', () => {
  test('a form is refused while an engine has the upload open, and supersedes a paused one', async () => {
    const ids = await begun();
    expect(codeOf(await redeem())).toEqual([409, 'upload_in_progress']);
    await release(ids);
    const form = await redeem();
    expect(form.status).toBe(200);
    expect(codeOf(await open(ids.transferId))).toEqual([410, 'upload_ended']);
    expect(codeOf(await save(ids))).toEqual([409, 'transfer_lost']);
    expect(codeOf(await create())).toEqual([409, 'upload_in_progress']);

    await release(form.body as Partial<Ids>);
    const next = await begun();
    expect(next.transferId).not.toBe(ids.transferId);
    expect(await complete(next)).toMatchObject({ status: 204 });
    expect(codeOf(await redeem())).toEqual([401, 'upload_token_used']);
  });

  test('a form that completes after its lease expired ends the upload that was created meanwhile', async () => {
    const form = (await redeem()).body as Partial<Ids>;
    await changeTicket('lease_expires_at = now()');
    const { transferId } = (await create()).body as { transferId: string };
    expect(
      await complete({ videoId: form.videoId as string, transferId: form.transferId as string }),
    ).toMatchObject({ status: 204 });
    expect(codeOf(await open(transferId))).toEqual([410, 'upload_ended']);
    expect(await uploadsOf()).toEqual([expect.objectContaining({ end_reason: 'superseded' })]);
  });

  test('a late repeat of the claim of a form changes nothing of the upload that has the ticket', async () => {
    const form = (await redeem(token, 'c1')).body as Partial<Ids>;
    await release(form);
    const { transferId } = (await create('', 10)).body as { transferId: string };
    await opened(transferId);
    const before = await ticketRow();
    expect(codeOf(await redeem(token, 'c1'))).toEqual([409, 'upload_in_progress']);
    expect(await ticketRow()).toEqual(before);
    expect(before).toMatchObject({ transfer_id: transferId, reserved_bytes: 10 });
  });

  test('register exactly one file, in any order of requests', async () => {
    const random = new Random(testSeed());
    const tickets = await Promise.all(Array.from({ length: 12 }, () => plane.ticket()));
    const registered = await Promise.all(
      tickets.map(async (ticket) => {
        const form = () => sendForm(ticket, random.fraction() < 0.3);
        const resumable = (metadata: string) => sendResumable(ticket, metadata, random.fraction() < 0.4);
        const attempts = Array.from({ length: 8 }, () =>
          random.pick([form, () => resumable('filename YQ=='), () => resumable('filename Yg==')]),
        );
        const accepted = await Promise.all(attempts.map((attempt) => attempt()));
        // Completes the ticket if no attempt has completed it.
        await sql`update upload_tickets set lease_expires_at = now()
          where video_id = ${ticket.videoId} and transfer_id is not null`.execute(plane.db);
        accepted.push(await sendForm(ticket, false));
        return { id: ticket.videoId, accepted: new Set(accepted.filter((each) => each !== undefined)) };
      }),
    );
    for (const { id, accepted } of registered) {
      expect(accepted.size).toBe(1);
      const sources = plane.db.selectFrom('artifacts').select(['kind', 'folder']).where('video_id', '=', id);
      expect(await sources.execute()).toEqual([
        { kind: 'source', folder: transferFolder([...accepted].join()) },
      ]);
    }
  });
});

type Ticket = { videoId: string; uploadToken: string };

/**
 * Resolves with the transfer if its file was registered. With `isReleased` the transfer ends first, so its
 * file is refused.
 */
async function sendForm(ticket: Ticket, isReleased: boolean): Promise<string | undefined> {
  const { transferId } = (await redeem(ticket.uploadToken)).body;
  if (transferId === undefined) return undefined;
  return finish({ videoId: ticket.videoId, transferId: String(transferId) }, isReleased);
}

async function sendResumable(
  { videoId: id, uploadToken }: Ticket,
  metadata: string,
  isReleased: boolean,
): Promise<string | undefined> {
  const { transferId } = (await create(metadata, LENGTH, uploadToken)).body;
  if (transferId === undefined) return undefined;
  const { epoch } = (await open(String(transferId), null, uploadToken)).body;
  if (epoch === undefined) return undefined;
  const ids = { videoId: id, transferId: String(transferId), epoch: Number(epoch) };
  await save(ids, 1);
  return finish(ids, isReleased);
}

async function finish(ids: Partial<Ids>, isReleased: boolean): Promise<string | undefined> {
  if (isReleased) await release(ids);
  return (await complete(ids)).status === 204 ? ids.transferId : undefined;
}

describe('the ticket', () => {
  const expiryOf = async () => Date.parse((await video()).expiresAt);

  test('is extended by progress, and not by a creation or an opening', async () => {
    await changeTicket(`expires_at = now() + interval '1 minute'`);
    const before = await expiryOf();
    const ids = await begun();
    await open(ids.transferId, ids.epoch);
    expect(await expiryOf()).toBe(before);

    const { body } = await save(ids, 10);
    const extended = await expiryOf();
    expect(body.expiresAt).toBe(new Date(extended).toISOString());
    expect(extended - Date.now()).toBeGreaterThan(0.9 * HOUR_MS);
    expect(extended - Date.now()).toBeLessThanOrEqual(HOUR_MS + 1000);

    await changeTicket(`expires_at = now() + interval '1 minute'`);
    const expiring = await expiryOf();
    // Without new bytes, an upload renews only its lease.
    await plane.engine.report('upload.progress', ids);
    expect(await expiryOf()).toBe(expiring);
    await plane.engine.report('upload.progress', { ...ids, extendsTicket: true });
    expect(await expiryOf()).toBeGreaterThanOrEqual(extended);
  });

  test('is not extended beyond the maximum, and never shortened', async () => {
    const { latest_expires_at } = await plane.db
      .selectFrom('upload_tickets')
      .select('latest_expires_at')
      .where('video_id', '=', videoId)
      .executeTakeFirstOrThrow();
    expect(Number(latest_expires_at) - Date.now()).toBeGreaterThan((MAX_HOURS - 0.1) * HOUR_MS);
    const ids = await begun();
    await changeTicket(
      `latest_expires_at = now() + interval '10 minutes', expires_at = now() + interval '5 minutes'`,
    );
    await save(ids);
    expect(await expiryOf()).toBeLessThanOrEqual(Date.now() + HOUR_MS / 6);
    expect(await expiryOf()).toBeGreaterThan(Date.now() + HOUR_MS / 7);
    await changeTicket(`expires_at = now() + interval '90 minutes'`);
    await save(ids);
    expect(await expiryOf()).toBeGreaterThan(Date.now() + 1.4 * HOUR_MS);
  });

  test('of a test key is not extended beyond the life of its video', async () => {
    const secret = newApiKeySecret('test');
    await createFullKey(plane.db, { workspaceId: plane.workspaceId, name: 'Test', secret });
    const { body } = await request(plane.url)
      .post('/v1/videos/upload-ticket')
      .set({ ...plane.credentials, authorization: `Bearer ${secret}` })
      .send({ filename: 'a.mp4', expiresIn: 60 })
      .expect(201);
    ({ videoId, uploadToken: token } = body);
    const ids = await begun();
    await changeTicket('extension_seconds = 100000');
    const { expiresAt } = (await save(ids)).body;
    const left = Date.parse(String(expiresAt)) - Date.now();
    expect(left).toBeGreaterThan(0.9 * HOUR_MS);
    expect(left).toBeLessThanOrEqual(HOUR_MS);
  });

  test('expires although its upload is unfinished: the video fails, and what was stored is purged', async () => {
    const ids = await paused();
    const key = sourceKey(plane.workspaceId, videoId, ids.transferId);
    const begunAt = await plane.objects.beginResumable(key);
    const writer = await plane.objects.resume(key, begunAt, LENGTH);
    await writer.write(Buffer.alloc(10));
    await writer.close();
    await changeTicket('expires_at = now()');
    expect(codeOf(await open(ids.transferId))).toEqual([410, 'upload_ended']);
    expect(codeOf(await create())).toEqual([401, 'upload_token_expired']);
    expect(codeOf(await save(ids))).toEqual([409, 'transfer_lost']);

    await plane.maintain('expire-tickets');
    expect(await video()).toMatchObject({ status: 'failed', error: { code: 'upload_expired' } });
    expect(codeOf(await open(ids.transferId))).toEqual([410, 'upload_ended']);
    await until(async () => {
      const found = await plane.objects.resume(key, begunAt, LENGTH).catch(() => null);
      await found?.close();
      return found === null;
    });
  });

  test('keeps its upload when its token is replaced', async () => {
    const headers = { ...plane.credentials, 'idempotency-key': newId('evt') };
    const post = () =>
      request(plane.url)
        .post('/v1/videos/upload-ticket')
        .set(headers)
        .send({ filename: 'a.mp4' })
        .expect(201);
    const first = (await post()).body;
    ({ videoId, uploadToken: token } = first);
    const ids = await paused();
    token = (await post()).body.uploadToken;
    expect(codeOf(await open(ids.transferId, null, first.uploadToken))).toEqual([
      401,
      'upload_token_invalid',
    ]);
    expect((await create()).body.transferId).toBe(ids.transferId);
    expect(await complete(await opened(ids.transferId))).toMatchObject({ status: 204 });
  });

  test('of another video does not find the upload', async () => {
    const ids = await begun();
    const { uploadToken } = await plane.ticket();
    expect(codeOf(await open(ids.transferId, null, uploadToken))).toEqual([404, 'upload_not_found']);
  });
});

describe('an upload ends', () => {
  test('completed: once, and every later request says so', async () => {
    const ids = await begun();
    expect(await complete(ids)).toMatchObject({ status: 204 });
    expect(await complete(ids)).toMatchObject({ status: 204 });
    expect(await open(ids.transferId)).toEqual({
      status: 200,
      body: { status: 'complete', length: LENGTH, metadata: 'filename YQ==' },
    });
    expect(codeOf(await terminate(ids.transferId))).toEqual([403, 'upload_complete']);
    expect(codeOf(await save(ids))).toEqual([409, 'transfer_lost']);
    await release(ids);
    expect(await video()).toMatchObject({ status: 'processing', size: LENGTH, expiresAt: null });
  });

  test('completed by the event, which repeats, after its engine was killed', async () => {
    const ids = await begun();
    for (let times = 0; times < 2; times += 1)
      await plane.engine.report('upload.completed', { ...ids, bytes: LENGTH, sha256: null });
    expect(await open(ids.transferId)).toMatchObject({ body: { status: 'complete' } });
  });

  test('terminated: the response has the checkpoint, and the ticket can be used again', async () => {
    const ids = await begun();
    await save(ids, 300);
    expect(await terminate(ids.transferId)).toEqual({
      status: 200,
      body: {
        sourceKey: sourceKey(plane.workspaceId, videoId, ids.transferId),
        checkpoint: checkpoint(300),
      },
    });
    expect(codeOf(await terminate(ids.transferId))).toEqual([410, 'upload_ended']);
    expect(codeOf(await save(ids))).toEqual([409, 'transfer_lost']);
    expect(codeOf(await complete(ids))).toEqual([409, 'upload_cancelled']);
    const next = await begun();
    expect(next.transferId).not.toBe(ids.transferId);
    expect(await complete(next)).toMatchObject({ status: 204 });
  });

  test('with its video, and its row is deleted', async () => {
    const ids = await begun();
    await remove();
    expect(codeOf(await open(ids.transferId))).toEqual([401, 'upload_token_invalid']);
    expect(codeOf(await save(ids))).toEqual([409, 'transfer_lost']);
    expect(await check(ids)).toBe(false);
    expect(codeOf(await complete(ids))).toEqual([409, 'upload_cancelled']);
    expect(codeOf(await terminate(ids.transferId))).toEqual([401, 'upload_token_invalid']);
    expect(await uploadsOf()).toEqual([]);
  });
});

test('the cleanup of stale uploads keeps an upload that may continue, and aborts ended ones', async () => {
  const superseded = await paused();
  const current = await begun('filename Yg==');
  await release(current);
  ({ videoId, uploadToken: token } = await plane.ticket());
  const terminated = await paused();
  await terminate(terminated.transferId);
  ({ videoId, uploadToken: token } = await plane.ticket());
  const ofDeletedVideo = await paused();
  await remove();

  const keyOf = (ids: Ids) => sourceKey(plane.workspaceId, ids.videoId, ids.transferId);
  const checkpoints = new Map<string, Checkpoint>();
  for (const key of [superseded, current, terminated, ofDeletedVideo].map(keyOf))
    checkpoints.set(key, await plane.objects.beginResumable(key));
  const abort = plane.objects.abortStaleUploads.bind(plane.objects);
  // As if the files were 49 hours old.
  plane.objects.abortStaleUploads = (before, isLive) =>
    abort(new Date(before.getTime() + 49 * HOUR_MS), isLive);
  await plane.maintain('abort-stale-uploads');
  plane.objects.abortStaleUploads = abort;
  const left: string[] = [];
  for (const [key, begunAt] of checkpoints) {
    const writer = await plane.objects.resume(key, begunAt, LENGTH).catch(() => null);
    if (writer !== null) left.push(key);
    await writer?.close();
  }
  expect(left).toEqual([keyOf(current)]);
});

describe('a workspace', () => {
  async function inWorkspace(quotas: Parameters<QuotasService['set']>[1]) {
    const id = await insertWorkspace(plane.db);
    const secret = newApiKeySecret('live');
    await createFullKey(plane.db, { workspaceId: id, name: 'Test', secret });
    await new QuotasService({ db: plane.db }).set(id, quotas);
    const headers = { authorization: `Bearer ${secret}`, 'x-svc-workspace': id };
    return async (size?: number): Promise<{ videoId: string; uploadToken: string }> =>
      (
        await request(plane.url)
          .post('/v1/videos/upload-ticket')
          .set(headers)
          .send({ filename: 'a.mp4', size })
          .expect(201)
      ).body;
  }

  /** Performs `work` while the object store removes nothing. */
  async function withoutRemovals(work: () => Promise<void>): Promise<void> {
    const abort = plane.objects.abortUploads;
    plane.objects.abortUploads = () => Promise.reject(new Error('unavailable'));
    try {
      await work();
    } finally {
      plane.objects.abortUploads = abort;
      // The failed purges are retried at once.
      await plane.db.updateTable('object_purges').set({ claimed_until: null }).execute();
    }
  }

  const reservedNow = async () => {
    const { workspace_id } = await plane.db
      .selectFrom('videos')
      .select('workspace_id')
      .where('id', '=', videoId)
      .executeTakeFirstOrThrow();
    return (await new QuotasService({ db: plane.db }).limits(workspace_id)).storedBytes;
  };

  test('has a limit of open uploads, and paused uploads do not count', async () => {
    const ticket = await inWorkspace({ storedBytes: null });
    const tickets = await Promise.all(Array.from({ length: SHARE.count + 5 }, () => ticket()));
    const created = await Promise.all(
      tickets.map(async (each) => ({
        ...each,
        transferId: String((await create('', LENGTH, each.uploadToken)).body.transferId),
      })),
    );
    const replies = await Promise.all(
      created.map(({ transferId, uploadToken }) => open(transferId, null, uploadToken)),
    );
    const refused = created.filter((_, index) => replies[index]?.status === 429);
    expect(refused).toHaveLength(5);
    expect(replies.find(({ status }) => status === 429)?.body.code).toBe('too_many_uploads');
    // An upload that is already open counts once.
    const holder = created.findIndex((_, index) => replies[index]?.status === 200);
    const { transferId, uploadToken, videoId: heldId } = created[holder] as (typeof created)[number];
    expect(await open(transferId, null, uploadToken)).toMatchObject({ status: 200, body: { epoch: 2 } });
    await release({ videoId: heldId, transferId, epoch: 2 });
    const [next, last] = refused as [(typeof created)[number], (typeof created)[number]];
    expect(await open(next.transferId, null, next.uploadToken)).toMatchObject({ status: 200 });
    // An upload whose lease has expired does not count. Opening it again needs a free place.
    await sql`update upload_tickets set lease_expires_at = now() where video_id = ${next.videoId}`.execute(
      plane.db,
    );
    expect(await open(last.transferId, null, last.uploadToken)).toMatchObject({ status: 200 });
    expect(await open(next.transferId, null, next.uploadToken)).toMatchObject({ status: 429 });
  });

  test('does not exceed a quota by superseding uploads: they count until they are purged', async () => {
    const ticket = await inWorkspace({ storedBytes: 1.2 * LENGTH });
    ({ videoId, uploadToken: token } = await ticket());
    const keys: string[] = [];
    /** The uploads of which something is stored. */
    const stored = async () => {
      const found: string[] = [];
      for (const key of keys) {
        const writer = await plane.objects.resume(key, checkpoint(0), LENGTH).catch(() => null);
        if (writer !== null) found.push(key);
        await writer?.close();
      }
      return found;
    };
    for (let round = 1; round <= 6; round += 1) {
      const transferId = await until(async () => {
        const reply = await create(`filename ${round}`);
        expect([200, 503]).toContain(reply.status);
        return reply.status === 200 && String(reply.body.transferId);
      });
      const { sourceKey: key, epoch } = (await open(transferId)).body;
      await plane.objects.beginResumable(String(key));
      keys.push(String(key));
      await save({ videoId, transferId, epoch: Number(epoch) }, LENGTH);
      await release({ videoId, transferId, epoch: Number(epoch) });
      // The one before waits for its purge.
      expect((await stored()).length).toBeLessThanOrEqual(2);
    }
    await until(async () => (await stored()).length === 1);
    expect(await stored()).toEqual(keys.slice(-1));
    await until(async () => (await create('filename 7')).status === 200);
  });

  test('cannot upload while bytes of ended uploads exceed its quota', async () => {
    const ticket = await inWorkspace({ storedBytes: 2 * LENGTH });
    ({ videoId, uploadToken: token } = await ticket());
    const other = await ticket();
    await paused();
    await withoutRemovals(async () => {
      expect(await create('filename Yg==')).toMatchObject({ status: 200 });
      const refused = await create('', LENGTH, other.uploadToken);
      expect(codeOf(refused)).toEqual([503, 'unavailable']);
      expect(codeOf(await redeem(other.uploadToken))).toEqual([503, 'unavailable']);
    });
  });

  test.each([
    ['with', LENGTH],
    ['without', undefined],
  ])(
    'can replace an upload once until it is purged, with a ticket %s a size; repeating the claim is no other upload',
    async (_, size) => {
      const ticket = await inWorkspace({ storedBytes: 1.2 * LENGTH });
      ({ videoId, uploadToken: token } = await ticket(size));
      await paused();
      await withoutRemovals(async () => {
        const form = await redeem(token, 'c1');
        expect(form.status).toBe(200);
        expect(await redeem(token, 'c1')).toEqual(form);
        await release(form.body as Partial<Ids>);
        expect(codeOf(await create())).toEqual([503, 'unavailable']);
        expect(codeOf(await redeem(token, 'c2'))).toEqual([503, 'unavailable']);
      });
      await until(async () => (await create()).status === 200);
    },
  );

  test('has the bytes of a replaced upload counted after a form has completed its video', async () => {
    const ticket = await inWorkspace({ storedBytes: 2 * LENGTH });
    ({ videoId, uploadToken: token } = await ticket());
    await paused();
    await withoutRemovals(async () => {
      const form = (await redeem()).body as Ids;
      expect(await complete({ videoId, transferId: form.transferId }, 1)).toMatchObject({ status: 204 });
      expect(await reservedNow()).toMatchObject({ used: 1, reserved: LENGTH });
    });
    await until(async () => (await reservedNow()).reserved === 0);
  });

  test('has the bytes of a lost form counted from the creation of the next upload until they are purged', async () => {
    const ticket = await inWorkspace({ storedBytes: 2 * LENGTH });
    ({ videoId, uploadToken: token } = await ticket());
    await redeem();
    await changeTicket('lease_expires_at = now()');
    const { transferId } = (await create('', 1)).body as { transferId: string };
    // The form may still complete.
    expect((await reservedNow()).reserved).toBe(LENGTH);
    await withoutRemovals(async () => {
      await open(transferId);
      expect((await reservedNow()).reserved).toBe(LENGTH + 1);
    });
    await until(async () => (await reservedNow()).reserved === 1);
  });

  test('has what a lost engine has stored of a resumable upload purged before it no longer counts', async () => {
    const ticket = await inWorkspace({ storedBytes: 3 * LENGTH });
    ({ videoId, uploadToken: token } = await ticket());
    const ids = await begun();
    const key = sourceKey(String((await open(ids.transferId)).body.workspaceId), ids.videoId, ids.transferId);
    const begunAt = await plane.objects.beginResumable(key);
    await save({ ...ids, epoch: 2 }, 10);
    await changeTicket('lease_expires_at = now()');
    await create('filename Yg==');
    await until(async () => (await reservedNow()).reserved === LENGTH);
    await expect(plane.objects.resume(key, begunAt, LENGTH)).rejects.toThrow();
  });

  test('does not exceed a quota with 50 creations at once', async () => {
    const ticket = await inWorkspace({ storedBytes: 10 * LENGTH });
    const tickets = await Promise.all(Array.from({ length: 50 }, () => ticket()));
    const replies = await Promise.all(
      tickets.map(({ uploadToken }) => create('filename YQ==', LENGTH, uploadToken)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    for (const refused of replies.filter(({ status }) => status !== 200))
      expect(codeOf(refused)).toEqual([403, 'quota_exceeded']);
    // The same file again reserves nothing.
    const index = replies.findIndex(({ status }) => status === 200);
    expect(await create('filename YQ==', LENGTH, tickets[index]?.uploadToken)).toMatchObject({ status: 200 });
  });
});
