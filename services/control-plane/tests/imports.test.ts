import { readRanges } from '@framelane/address-guard/address-ranges';
import { IMPORT_FAILURES } from '@framelane/contracts/failures';
import { newId } from '@framelane/contracts/ids';
import {
  type ClaimedImport,
  type EndImportTryRequest,
  type ImportProgressRequest,
  INTERNAL_PATHS,
} from '@framelane/contracts/internal-api';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

const URL_WITH_SECRET = 'https://media.example.com:8443/masters/Summer%20holiday.mp4?signature=EXAMPLE#start';
const HEADERS = { Authorization: 'Bearer EXAMPLE' };

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    uploads: { ...config.uploads, maxBytes: 5_000_000 },
    workspaceUploads: { count: 2, bytes: 1_000_000_000 },
  }));
});
afterAll(() => plane.stop());
// Each test starts with an empty queue of imports.
afterEach(async () => {
  await plane.db.deleteFrom('imports').execute();
  await plane.db.deleteFrom('upload_tickets').execute();
});

const post = (body: object, headers: Record<string, string> = {}) =>
  request(plane.url)
    .post('/v1/videos/import')
    .set({ ...plane.credentials, ...headers })
    .send(body);

async function create(body: object = {}): Promise<string> {
  const response = await post({ url: URL_WITH_SECRET, headers: HEADERS, ...body });
  expect(response.status).toBe(202);
  return response.body.id;
}

const record = async (videoId: string) =>
  (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;

const row = (videoId: string) =>
  plane.db.selectFrom('imports').selectAll().where('video_id', '=', videoId).executeTakeFirst();

async function claim(claimId?: string): Promise<ClaimedImport | null> {
  const { status, body } = await plane.engine.request(INTERNAL_PATHS.claimImport, { claimId });
  expect(status).toBe(200);
  return body.import as ClaimedImport | null;
}

/** How many videos have failed with a code. */
async function countFailed(code: string): Promise<number> {
  const { series } = await PrometheusText.scrape(`${plane.engine.internalUrl}/metrics`);
  return series.get(`framelane_videos_finished_total{outcome="failed",code="${code}"}`) ?? 0;
}

/** Claims an import. Throws if none is due. */
async function claimDue(): Promise<ClaimedImport> {
  const claimed = await claim();
  if (claimed === null) throw new Error('No import is due');
  return claimed;
}

/** Credentials of another workspace. */
async function credentialsElsewhere(): Promise<Record<string, string>> {
  const workspaceId = newId('ws');
  const secret = newApiKeySecret('live');
  await plane.db.insertInto('workspaces').values({ id: workspaceId, name: 'Other' }).execute();
  await createFullKey(plane.db, { workspaceId, name: 'Test', secret });
  return { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId };
}

async function progress(
  { videoId, transferId }: ClaimedImport,
  values: Partial<ImportProgressRequest> = {},
): Promise<boolean> {
  const body = {
    videoId,
    transferId,
    bytes: 1,
    totalBytes: null,
    tries: 0,
    failure: null,
    nextTryInSeconds: null,
  };
  const response = await plane.engine.request(INTERNAL_PATHS.importProgress, { ...body, ...values });
  expect(response.status).toBe(200);
  return response.body.current as boolean;
}

async function endTry(
  { videoId, transferId }: ClaimedImport,
  values: Partial<EndImportTryRequest>,
): Promise<void> {
  const end = { videoId, transferId, tries: 1, failure: null, retryInSeconds: 0, startedOver: false };
  const { status } = await plane.engine.request(INTERNAL_PATHS.endImportTry, { ...end, ...values });
  expect(status).toBe(204);
}

const complete = ({ videoId, transferId }: ClaimedImport) =>
  plane.engine.request(INTERNAL_PATHS.completeTransfer, {
    videoId,
    transferId,
    bytes: 1_000_000,
    sha256: 'ab'.repeat(32),
  });

describe('requesting an import', () => {
  test('creates a video that waits for its file, and shows neither the query nor the headers', async () => {
    const response = await post({ url: URL_WITH_SECRET, headers: HEADERS, tags: ['a'], passthrough: 'p' });
    expect(response.status).toBe(202);
    expect(response.headers.location).toBe(`http://framelane.test/v1/videos/${response.body.id}`);
    expect(response.body).toMatchObject({
      status: 'uploading',
      title: 'Summer holiday',
      filename: 'Summer holiday.mp4',
      tags: ['a'],
      passthrough: 'p',
      import: {
        url: 'https://media.example.com:8443/masters/Summer%20holiday.mp4',
        bytes: 0,
        totalBytes: null,
        tries: 0,
        nextTryAt: null,
        failure: null,
      },
    });
    expect(Date.parse(response.body.expiresAt) - Date.now()).toBeGreaterThan(86_390_000);
    expect(await record(response.body.id)).toEqual(response.body);
    const listed = await request(plane.url).get('/v1/videos?limit=1').set(plane.credentials);
    expect(listed.body.data).toEqual([response.body]);
    const stored = await row(response.body.id);
    expect(JSON.stringify(stored)).not.toContain('EXAMPLE');
    // Otherwise the ticket would end the import before its deadline.
    const ticket = await plane.db
      .selectFrom('upload_tickets')
      .select('expires_at')
      .where('video_id', '=', response.body.id)
      .executeTakeFirst();
    expect(Number(ticket?.expires_at)).toBeGreaterThan(Number(stored?.deadline));
  });

  test('calls the file "import" if the URL has no valid file name', async () => {
    for (const path of ['%2e%2e%2fpasswd', `${'a'.repeat(252)}.mp4`]) {
      const { body } = await post({ url: `https://media.example.com/${path}`, title: 'T' });
      expect(body).toMatchObject({ filename: 'import', title: 'T' });
    }
  });

  test('takes a name from the URL that has more UTF-16 units than characters', async () => {
    const name = `${'🎬'.repeat(150)}.mp4`;
    const { body } = await post({ url: `https://media.example.com/${encodeURIComponent(name)}` });
    expect(body).toMatchObject({ filename: name });
  });

  test('an uploaded video has no import', async () => {
    const { videoId } = await plane.ticket();
    expect((await record(videoId)).import).toBeNull();
  });

  test.each([
    [{ url: 'ftp://media.example.com/a.mp4' }, 'url'],
    [{ url: 'https://user:EXAMPLE@media.example.com/a.mp4' }, 'url'],
    [{ url: 'https://media.example.com:0/a.mp4' }, 'url'],
    [{ url: 'https://' }, 'url'],
    [{ url: 'http://127.0.0.1/a.mp4' }, 'url'],
    [{ url: 'https://2130706433/a.mp4' }, 'url'],
    [{ url: 'http://0177.1/a.mp4' }, 'url'],
    [{ url: 'http://[::ffff:a9fe:a9fe]/a.mp4' }, 'url'],
    [{ url: 'http://LOCALHOST./a.mp4' }, 'url'],
    [{ url: '/a.mp4' }, 'url'],
    [{}, 'url'],
    [{ url: URL_WITH_SECRET, headers: { Host: 'inside' } }, 'headers/Host'],
    [{ url: URL_WITH_SECRET, headers: { rAnGe: 'bytes=0-' } }, 'headers/rAnGe'],
    [{ url: URL_WITH_SECRET, headers: { 'Transfer-Encoding': 'chunked' } }, 'headers/Transfer-Encoding'],
    [{ url: URL_WITH_SECRET, headers: { 'Content-Length': '5' } }, 'headers/Content-Length'],
    [{ url: URL_WITH_SECRET, headers: { 'Proxy-Authorization': 'x' } }, 'headers/Proxy-Authorization'],
    [{ url: URL_WITH_SECRET, headers: { 'If-Range': 'x' } }, 'headers/If-Range'],
    [{ url: URL_WITH_SECRET, headers: { 'Accept-Encoding': 'gzip' } }, 'headers/Accept-Encoding'],
    [{ url: URL_WITH_SECRET, headers: { 'X-A': '1', 'x-a': '2' } }, 'headers/x-a'],
    [{ url: URL_WITH_SECRET, headers: { 'X-A': 'a\r\nHost: inside' } }, 'headers'],
    [{ url: URL_WITH_SECRET, headers: { 'X A': 'a' } }, 'headers'],
  ])('%j is refused', async (body, field) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(response.body.code).toBe('validation_failed');
    expect(response.body.errors[0].field).toContain(`body/${field}`);
    expect(response.text).not.toContain('EXAMPLE');
  });

  test('a refused address is named, and one that the operator allows is accepted', async () => {
    const refused = await post({ url: 'http://10.0.0.1/a.mp4' });
    expect(refused.body.errors).toEqual([
      { field: 'body/url', code: 'url', message: 'must have a public address' },
    ]);
    const allowedRanges = readRanges('10.0.0.0/8') ?? [];
    const imports = { timeoutSeconds: 60, allowedRanges };
    const another = await plane.startAnother({ imports });
    const { status } = await request(another.url)
      .post('/v1/videos/import')
      .set(plane.credentials)
      .send({ url: 'http://0xa.1/a.mp4' });
    expect(status).toBe(202);
  });

  test('with an Idempotency-Key a retry creates no second video', async () => {
    const body = { url: URL_WITH_SECRET, headers: HEADERS };
    const [first, second] = [
      await post(body, { 'idempotency-key': 'import-1' }),
      await post(body, { 'idempotency-key': 'import-1' }),
    ];
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotency-replayed']).toBe('true');
    const other = await post({ ...body, title: 'Other' }, { 'idempotency-key': 'import-1' });
    expect(other.status).toBe(422);
    expect(await claim()).not.toBeNull();
    expect(await claim()).toBeNull();
  });

  test('needs the permission for upload tickets', async () => {
    const { body: key } = await request(plane.url)
      .post('/v1/api-keys')
      .set(plane.credentials)
      .send({ name: 'Reader', permissions: ['videos:read'] });
    const response = await post({ url: URL_WITH_SECRET }, { authorization: `Bearer ${key.secret}` });
    expect(response.body.code).toBe('insufficient_permissions');
  });
});

describe('an import', () => {
  test('is claimed once, reports progress, and completes like an upload', async () => {
    const videoId = await create();
    const claimed = await claimDue();
    expect(claimed).toMatchObject({
      videoId,
      url: URL_WITH_SECRET.replace('#start', ''),
      headers: HEADERS,
      maxBytes: 5_000_000,
      tries: 0,
      startedOver: false,
    });
    expect(await claim()).toBeNull();
    expect(await progress(claimed, { bytes: 500, totalBytes: 1_000_000 })).toBe(true);
    expect((await record(videoId)).import).toMatchObject({ bytes: 500, totalBytes: 1_000_000 });

    expect((await complete(claimed)).status).toBe(204);
    expect(await record(videoId)).toMatchObject({
      status: 'processing',
      size: 1_000_000,
      import: { bytes: 1_000_000 },
    });
    expect(await row(videoId)).toMatchObject({ request: null, due_at: null, claimed_until: null });
    expect(await progress(claimed)).toBe(false);
    // The same completion again.
    expect((await complete(claimed)).status).toBe(204);
    await endTry(claimed, { failure: 'import_not_found', retryInSeconds: null });
    expect(await record(videoId)).toMatchObject({ status: 'processing' });
  });

  test('is retried after a pause, which the record shows', async () => {
    const videoId = await create();
    const claimed = await claimDue();
    const failedBefore = await countFailed('import_server_failed');
    await endTry(claimed, { failure: 'import_server_failed', retryInSeconds: 30, startedOver: true });
    expect(await countFailed('import_server_failed')).toBe(failedBefore);
    const { import: shown, status } = await record(videoId);
    expect([status, shown]).toMatchObject(['uploading', { tries: 1, failure: 'import_server_failed' }]);
    expect(Date.parse(shown.nextTryAt) - Date.now()).toBeGreaterThan(25_000);
    expect(await claim()).toBeNull();
    await plane.db.updateTable('imports').set({ due_at: new Date() }).execute();
    const second = await claimDue();
    expect(second).toMatchObject({ tries: 1, startedOver: true });
    await progress(second, { tries: 1 });
    expect((await record(videoId)).import).toMatchObject({
      tries: 1,
      nextTryAt: null,
      failure: 'import_server_failed',
    });
  });

  test('shows the pause of an engine that waits', async () => {
    const videoId = await create();
    const claimed = await claimDue();
    await progress(claimed, { tries: 2, failure: 'import_incomplete', nextTryInSeconds: 20 });
    const { import: shown } = await record(videoId);
    expect(shown).toMatchObject({ tries: 2, failure: 'import_incomplete' });
    expect(Date.parse(shown.nextTryAt) - Date.now()).toBeGreaterThan(15_000);
  });

  test.each(Object.entries(IMPORT_FAILURES))('%s fails the video', async (code, message) => {
    const videoId = await create();
    const failedBefore = await countFailed(code);
    await endTry(await claimDue(), { failure: code as keyof typeof IMPORT_FAILURES, retryInSeconds: null });
    expect(await countFailed(code)).toBe(failedBefore + 1);
    expect(await record(videoId)).toMatchObject({ status: 'failed', error: { code, message } });
    expect(await row(videoId)).toMatchObject({ request: null, due_at: null });
    const retried = await request(plane.url).post(`/v1/videos/${videoId}/retry`).set(plane.credentials);
    expect(retried.body.code).toBe('source_not_available');
  });

  test('that is handed back is due at once, with a new transfer; the old one changes nothing', async () => {
    const videoId = await create();
    const first = await claimDue();
    await endTry(first, { tries: 0 });
    expect((await record(videoId)).import.nextTryAt).toBeNull();
    const second = await claimDue();
    expect(second.transferId).not.toBe(first.transferId);
    expect(second.tries).toBe(0);
    expect(await progress(first)).toBe(false);
    await endTry(first, { failure: 'import_not_found', retryInSeconds: null });
    expect((await complete(first)).body.code).toBe('upload_cancelled');
    expect((await record(videoId)).status).toBe('uploading');
    expect((await complete(second)).status).toBe(204);
  });

  test('is not claimed again during the lease grace of a new control plane, even if its lease has expired', async () => {
    await create();
    const first = await claimDue();
    await plane.db.updateTable('imports').set({ claimed_until: sql`now()` }).execute();
    const another = await plane.startAnother({ maintenanceSeconds: 3600 });
    const engine = plane.engineAt(another.internalUrl);
    // A new control plane ends no lease at first: the engine may have been unable to renew its lease.
    expect((await engine.request(INTERNAL_PATHS.claimImport, {})).body.import).toBeNull();
    await another.stop();
    expect(await progress(first)).toBe(true);
  });

  test('is claimed again at once after a restart of a single node', async () => {
    await create();
    const first = await claimDue();
    await plane.startAnotherAsSingleNode();
    const second = await claimDue();
    expect(second.transferId).not.toBe(first.transferId);
    expect(await progress(first)).toBe(false);
  });

  test('ends when the video is deleted', async () => {
    const videoId = await create();
    const claimed = await claimDue();
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect(await row(videoId)).toBeUndefined();
    expect(await progress(claimed)).toBe(false);
    expect((await complete(claimed)).body.code).toBe('upload_cancelled');
    await endTry(claimed, { failure: 'import_not_found', retryInSeconds: null });
    expect(await claim()).toBeNull();
  });

  test('fails at its deadline and not before, claimed or not', async () => {
    const [running, waiting] = [await create(), await create()];
    const claimed = [await claimDue(), await claimDue()].find(({ videoId }) => videoId === waiting);
    await endTry(claimed as ClaimedImport, { retryInSeconds: 3600 });
    await plane.db.updateTable('imports').set({ deadline: sql`now()` }).execute();
    expect(await claim()).toBeNull();
    const later = await create();
    await plane.maintain('expire-imports', 'expire-tickets');
    expect((await record(later)).status).toBe('uploading');
    for (const videoId of [running, waiting]) {
      expect(await record(videoId)).toMatchObject({ status: 'failed', error: { code: 'import_timed_out' } });
    }
  });

  test('waits while the workspace has too many uploads in progress, and does not block an import of another workspace', async () => {
    await Promise.all([create(), create(), create()]);
    const [first, second] = [await claimDue(), await claimDue()];
    const { body: next } = await post({ url: URL_WITH_SECRET }, await credentialsElsewhere());
    expect((await claimDue()).videoId).toBe(next.id);
    expect(await claim()).toBeNull();
    const postponed = await plane.db
      .selectFrom('imports')
      .selectAll()
      .where('claimed_until', 'is', null)
      .executeTakeFirstOrThrow();
    expect(Number(postponed.due_at) - Date.now()).toBeGreaterThan(5_000);
    await complete(first);
    await plane.db
      .updateTable('imports')
      .set({ due_at: new Date() })
      .where('request', 'is not', null)
      .execute();
    expect((await claimDue()).videoId).toBe(postponed.video_id);
    expect(second.videoId).not.toBe(postponed.video_id);
  });

  test('that waits for room in its workspace takes no slot from other workspaces, however many wait', async () => {
    const elsewhere = await credentialsElsewhere();
    const { body: running } = await post({ url: URL_WITH_SECRET }, elsewhere);
    expect((await claimDue()).videoId).toBe(running.id);
    // Forms use up the uploads of the workspace, so that it has no running import.
    for (let n = 0; n < 2; n += 1) await plane.engine.redeem((await plane.ticket()).uploadToken);
    for (let n = 0; n < 12; n += 1) await create();
    const workspaceId = elsewhere['x-svc-workspace'];
    const { body } = await plane.engine.request(INTERNAL_PATHS.checkImports, { workspaceId });
    expect(body.waiting).toBe(false);
    const { body: next } = await post({ url: URL_WITH_SECRET }, elsewhere);
    expect((await claimDue()).videoId).toBe(next.id);
  });

  test('whose claim is repeated, because its response was lost, has the same transfer', async () => {
    await create();
    await create();
    const [first, repeated] = await Promise.all([claim('c1'), claim('c1')]);
    const { secondsLeft: _, ...facts } = first as ClaimedImport;
    expect(repeated).toMatchObject(facts);
    expect(await claim('c1')).toMatchObject(facts);
    expect(await progress(first as ClaimedImport)).toBe(true);
    await endTry(first as ClaimedImport, { failure: null, retryInSeconds: 60 });
    expect(await claim('c1')).toBeNull();
    expect((await claim('c2'))?.videoId).not.toBe(facts.videoId);
  });

  test('is claimed for the workspace with the fewest running imports first, also by engines that claim at once', async () => {
    const own = [await create(), await create(), await create()];
    const elsewhere = await credentialsElsewhere();
    const { body: last } = await post({ url: URL_WITH_SECRET }, elsewhere);
    expect(own).toContain((await claimDue()).videoId);
    const both = await Promise.all([claimDue(), claimDue()]);
    expect(both.map(({ videoId }) => videoId)).toContain(last.id);
  });

  test('waits: the response says so if its workspace has fewer running imports', async () => {
    const waits = async (workspaceId: string) =>
      (await plane.engine.request(INTERNAL_PATHS.checkImports, { workspaceId })).body.waiting;
    await create();
    await create();
    const { workspaceId } = await claimDue();
    expect(await waits(workspaceId)).toBe(false);
    const elsewhere = await credentialsElsewhere();
    await post({ url: URL_WITH_SECRET }, elsewhere);
    expect(await waits(workspaceId)).toBe(true);
    expect(await waits(elsewhere['x-svc-workspace'] as string)).toBe(false);
    await claimDue();
    expect(await waits(workspaceId)).toBe(false);
  });

  test('fails when the quota has no room for the file, and is refused when it has no room for a video', async () => {
    const videoId = await create();
    await plane.db
      .insertInto('quotas')
      .values({ workspace_id: plane.workspaceId, stored_bytes: 5 })
      .execute();
    expect(await claim()).toBeNull();
    expect(await record(videoId)).toMatchObject({
      status: 'failed',
      error: { code: 'import_quota_exceeded' },
    });
    await plane.db.updateTable('quotas').set({ stored_bytes: null, videos: 0 }).execute();
    expect((await post({ url: URL_WITH_SECRET })).body.code).toBe('quota_exceeded');
    await plane.db.deleteFrom('quotas').execute();
  });

  test('that fails for want of room leaves its claim to an import of another workspace', async () => {
    const videoId = await create();
    const { body: next } = await post({ url: URL_WITH_SECRET }, await credentialsElsewhere());
    await sql`update imports set due_at = now() - interval '1 hour' where video_id = ${videoId}`.execute(
      plane.db,
    );
    await plane.db
      .insertInto('quotas')
      .values({ workspace_id: plane.workspaceId, stored_bytes: 5 })
      .execute();
    try {
      const claimed = await claim('c1');
      expect(claimed?.videoId).toBe(next.id);
      expect(await record(videoId)).toMatchObject({ error: { code: 'import_quota_exceeded' } });
      expect(await row(videoId)).toMatchObject({ claim_id: null, due_at: null });
      const { secondsLeft: _, ...facts } = claimed as ClaimedImport;
      expect(await claim('c1')).toMatchObject(facts);
    } finally {
      await plane.db.deleteFrom('quotas').execute();
    }
  });

  test('several engines claim different imports, and each reports its own progress', async () => {
    await Promise.all([create(), create()]);
    const claims = await Promise.all([claim(), claim(), claim(), claim()]);
    const claimed = claims.filter((each) => each !== null);
    expect([claimed.length, new Set(claimed.map(({ videoId }) => videoId)).size]).toEqual([2, 2]);
    for (const [index, each] of claimed.entries())
      expect(await progress(each, { bytes: 10 + index })).toBe(true);
    const shown = await Promise.all(claimed.map(async ({ videoId }) => (await record(videoId)).import.bytes));
    expect(shown).toEqual([10, 11]);
  });
});
