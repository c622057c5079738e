import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { MessageData } from '@framelane/contracts/messages';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { taskFolder } from '@framelane/object-store/object-keys';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { claimDerivation, makeDownload, tryClaimDerivation } from './support/derivations.ts';
import { type Claimed, tryOf } from './support/long-videos.ts';
import { sampleManifest } from './support/manifest.ts';

const FILE = Buffer.from('the whole file');

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, maintenanceSeconds: 1, purgeRepeatSeconds: 1 }), {
    presign: async (key) => `http://store.test/${key}`,
  });
});
afterAll(() => plane.stop());

const api = (method: 'get' | 'post' | 'patch' | 'delete', path: string, at = plane) =>
  request(at.url)[method](`/v1${path}`).set(at.credentials);
const ask = (videoId: string, files: readonly string[], at = plane) =>
  api('post', `/videos/${videoId}/downloads`, at).send({ files });
const list = async (videoId: string) => (await api('get', `/videos/${videoId}/downloads`)).body.data;
const file = (videoId: string, name: string, query = '') =>
  request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/downloads/${name}${query}`).buffer();

async function readyVideo(body: Record<string, unknown> = { filename: 'a.mp4' }): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket(body);
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.complete(videoId, attempt);
  return videoId;
}

const fail = (videoId: string, claimed: Claimed, failure: Partial<MessageData<'task.failed'>> = {}) =>
  plane.engine.report('task.failed', {
    ...tryOf(videoId, claimed),
    code: 'storage_failed',
    message: 'The object store could not be read or written. Retry the video later.',
    retryable: true,
    ...failure,
  });

const limitStoredBytes = (bytes: number) =>
  plane.db.insertInto('quotas').values({ workspace_id: plane.workspaceId, stored_bytes: bytes }).execute();

async function storedKeys(videoId: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of plane.objects.list(`hls/${plane.workspaceId}/${videoId}/`)) keys.push(key);
  return keys;
}

describe('a download of a ready video', () => {
  test('is prepared by an engine from the stored renditions, and can then be fetched', async () => {
    const videoId = await readyVideo({ filename: 'a.mp4', title: 'Summer' });
    const before = (await api('get', `/videos/${videoId}`)).body.storageBytes;
    const { status, body } = await ask(videoId, ['480p']);
    expect(status).toBe(202);
    const waiting = { file: '480p', status: 'preparing', url: null, bytes: null, error: null, readyAt: null };
    expect(body.data).toMatchObject([waiting]);
    await file(videoId, '480p.mp4').expect(404);

    const claimed = await claimDerivation(plane, videoId);
    expect(claimed).toMatchObject({
      work: { kind: 'download', name: '480p', renditions: ['480p', 'audio'], title: 'Summer', chapters: [] },
      tracks: [{ name: '480p', language: null, label: null }, { name: 'audio' }],
      duration: 20,
      startTimestamp: 1_026_000,
    });
    const { segments } = sampleManifest().renditions.find(({ name }) => name === '480p') ?? { segments: [] };
    const [video] = claimed.tracks;
    expect(video?.segmentBytes).toEqual(segments.map(({ bytes }) => bytes));
    expect(video?.places).toEqual([
      { firstSegment: 0, prefix: `hls/${plane.workspaceId}/${videoId}/a1/t0.1/` },
    ]);
    const sum = claimed.tracks.flatMap(({ segmentBytes }) => segmentBytes).reduce((a, b) => a + b, 0);
    expect(claimed.inputBytes).toBe(sum);
    expect((await tryClaimDerivation(plane, videoId)).body.code).toBe('task_not_claimable');
    await fail(videoId, claimed);

    await makeDownload(plane, videoId, FILE);
    const url = `http://framelane.test/v1/hls/${plane.workspaceId}/${videoId}/downloads/480p.mp4`;
    const ready = { file: '480p', status: 'ready', url, bytes: FILE.length, error: null };
    const { body: record } = await api('get', `/videos/${videoId}`);
    expect(record.downloads).toMatchObject([ready]);
    expect(record.storageBytes).toBe(before + FILE.length);
    const response = await file(videoId, '480p.mp4').expect(200);
    expect(response.body.toString()).toBe(FILE.toString());
    expect(response.headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-disposition': `attachment; filename="Summer.mp4"; filename*=UTF-8''Summer.mp4`,
      'cache-control': 'private, no-cache',
      'accept-ranges': 'bytes',
    });
    await file(videoId, '480p.mp4').set('If-None-Match', String(response.headers.etag)).expect(304);
    const part = await file(videoId, '480p.mp4').set('Range', 'bytes=4-8').expect(206);
    expect(part.body.toString()).toBe('whole');
  });

  test('has the chapters of the video', async () => {
    const videoId = await readyVideo();
    const chapters = [
      { start: 0, title: 'One' },
      { start: 4.5, title: 'Two' },
    ];
    await request(plane.url)
      .put(`/v1/videos/${videoId}/chapters`)
      .set(plane.credentials)
      .send({ chapters })
      .expect((response) => expect(response.status).toBeLessThan(300));
    await ask(videoId, ['audio']).expect(202);
    expect((await claimDerivation(plane, videoId)).work.chapters).toEqual(chapters);
  });

  test('exists once: who asks again gets it as it is', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['audio', '360p']).expect(202);
    await ask(videoId, ['audio', '480p']).expect(202);
    const names = [];
    for (let at = 0; at < 3; at += 1) {
      names.push((await claimDerivation(plane, videoId)).work.name);
    }
    expect(names).toEqual(['audio', '360p', '480p']);
    expect((await tryClaimDerivation(plane, videoId)).status).toBe(409);
  });

  test('of a rendition that the video does not have is refused, and nothing is prepared', async () => {
    const videoId = await readyVideo();
    const { status, body } = await ask(videoId, ['480p', '1080p']);
    expect([status, body.code]).toEqual([409, 'rendition_not_available']);
    expect(body.detail).toBe('This video has no 1080p rendition. It has 360p, 480p.');
    expect(await list(videoId)).toEqual([]);
  });

  test('that fails for good says so, harms nothing, and can be asked for again', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['highest']).expect(202);
    for (let tries = 0; tries < 3; tries += 1) await fail(videoId, await claimDerivation(plane, videoId));
    expect((await tryClaimDerivation(plane, videoId)).status).toBe(409);
    expect(await list(videoId)).toMatchObject([
      {
        file: 'highest',
        status: 'failed',
        url: null,
        error: {
          code: 'download_failed',
          message: 'The file could not be prepared. Ask for it again later.',
        },
      },
    ]);
    expect((await api('get', `/videos/${videoId}`)).body).toMatchObject({ status: 'ready', error: null });
    await ask(videoId, ['highest']).expect(202);
    expect(await list(videoId)).toMatchObject([{ status: 'preparing', error: null }]);
    await makeDownload(plane, videoId, FILE);
    expect(await list(videoId)).toMatchObject([{ status: 'ready' }]);
  });

  test('is deleted with its object, while it is prepared as well', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['480p', 'audio']).expect(202);
    await makeDownload(plane, videoId, FILE);
    expect((await storedKeys(videoId)).filter((key) => key.endsWith('/download.m4a'))).toHaveLength(1);
    const running = await claimDerivation(plane, videoId);
    for (const name of ['480p', 'audio'])
      await api('delete', `/videos/${videoId}/downloads/${name}`).expect(204);
    expect(await list(videoId)).toEqual([]);
    expect(await plane.engine.request(INTERNAL_PATHS.checkTask, tryOf(videoId, running))).toMatchObject({
      body: { current: false },
    });
    const { attempt, task, try: number } = running;
    const late = `hls/${plane.workspaceId}/${videoId}/a${attempt}/${taskFolder(task, number)}download.mp4`;
    await plane.objects.put(late, FILE, 'video/mp4');
    const result = { download: { name: '480p', bytes: FILE.length } } as const;
    await plane.engine.report('task.completed', { ...tryOf(videoId, running), result });
    expect(await list(videoId)).toEqual([]);
    await until(async () => (await storedKeys(videoId)).length === 0);
    const { status, body } = await api('delete', `/videos/${videoId}/downloads/480p`);
    expect([status, body.code]).toEqual([404, 'download_not_found']);
  });

  test('needs room in the quota', async () => {
    const videoId = await readyVideo();
    const { body: record } = await api('get', `/videos/${videoId}`);
    const usage = (await api('get', '/auth/usage')).body.limits.storedBytes.used;
    await limitStoredBytes(usage + 1);
    const { status, body } = await ask(videoId, ['audio']);
    await plane.db.deleteFrom('quotas').execute();
    expect([status, body.code, body.quota]).toEqual([403, 'quota_exceeded', 'storedBytes']);
    expect((await api('get', `/videos/${videoId}`)).body).toEqual(record);
  });

  test('reserves its bytes while it is prepared', async () => {
    const videoId = await readyVideo();
    const stored = async () => (await api('get', '/auth/usage')).body.limits.storedBytes;
    const { used, reserved } = await stored();
    await ask(videoId, ['audio']).expect(202);
    const bytes = (await stored()).reserved - reserved;
    expect(bytes).toBeGreaterThan(0);
    await limitStoredBytes(used + reserved + bytes + 1);
    const { body } = await ask(videoId, ['480p']);
    await plane.db.deleteFrom('quotas').execute();
    expect(body.code).toBe('quota_exceeded');
    await makeDownload(plane, videoId, FILE);
    expect((await stored()).reserved).toBe(reserved);
  });

  test('of a ticket fails if there is no room when the video becomes ready', async () => {
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', downloads: ['480p', 'audio'] });
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await limitStoredBytes(1);
    await plane.engine.complete(videoId, attempt);
    await plane.db.deleteFrom('quotas').execute();
    expect((await api('get', `/videos/${videoId}`)).body.status).toBe('ready');
    const failed = { status: 'failed', error: { code: 'quota_exceeded' } };
    expect(await list(videoId)).toMatchObject([failed, failed]);
    await ask(videoId, ['audio']).expect(202);
    await makeDownload(plane, videoId, FILE);
    expect(await list(videoId)).toMatchObject([failed, { file: 'audio', status: 'ready', error: null }]);
  });

  test('is made before larger ones, and after those that were deleted first', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['480p', '360p', 'highest', 'audio']).expect(202);
    for (const name of ['audio', '360p'])
      await api('delete', `/videos/${videoId}/downloads/${name}`).expect(204);
    const commands = () =>
      plane.db
        .selectFrom('tasks')
        .select(['work', 'input_bytes'])
        .where('video_id', '=', videoId)
        .where((eb) =>
          eb.or([eb('command_due_at', 'is not', null), eb('command_published_at', 'is not', null)]),
        )
        .execute();
    expect(await commands()).toHaveLength(2);
    await ask(videoId, ['audio']).expect(202);
    expect(await claimDerivation(plane, videoId)).toMatchObject({ work: { name: 'audio' } });
  });

  test('does not depend on the version of plans, nor on the source', async () => {
    const videoId = await readyVideo({ filename: 'a.mp4', keepSource: 'never' });
    expect((await api('get', `/videos/${videoId}`)).body.sourceFile.stored).toBe(false);
    await ask(videoId, ['480p']).expect(202);
    const { status } = await tryClaimDerivation(plane, videoId, PLAN_VERSION + 1);
    expect(status).toBe(200);
  });

  test('does not keep a source that is to be deleted, and outlives its deletion', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['480p']).expect(202);
    await api('patch', `/videos/${videoId}`).send({ keepSource: 'never' }).expect(200);
    expect((await api('get', `/videos/${videoId}`)).body.sourceFile.stored).toBe(false);
    await makeDownload(plane, videoId, FILE);
    expect(await list(videoId)).toMatchObject([{ status: 'ready' }]);
  });
});

describe('a download that fits on the disk of no engine', () => {
  const reportNoRoom = (videoId: string, inputBytes: number) =>
    plane.engine.request(INTERNAL_PATHS.reportNoRoom, { videoId, command: 'derive', inputBytes });
  const waitFor = (videoId: string, hours: number) =>
    plane.db
      .updateTable('tasks')
      .set({ due_at: sql<Date>`now() - make_interval(hours => ${hours}::int)` })
      .where('video_id', '=', videoId)
      .execute();
  const bytesOf = async (videoId: string, name: string) => {
    const rows = await plane.db
      .selectFrom('tasks')
      .select(['work', 'input_bytes'])
      .where('video_id', '=', videoId)
      .execute();
    return rows.find(({ work }) => work?.kind === 'download' && work.name === name)?.input_bytes ?? 0;
  };

  test('fails when it has waited for a day; smaller ones, and those of engines, go on', async () => {
    const videoId = await readyVideo();
    const { reserved } = (await api('get', '/auth/usage')).body.limits.storedBytes;
    await ask(videoId, ['480p', 'highest', '360p', 'audio']).expect(202);
    const bytes = await bytesOf(videoId, '480p');
    const running = await claimDerivation(plane, videoId);
    expect(running.work.name).toBe('audio');

    await waitFor(videoId, 23);
    expect(await reportNoRoom(videoId, 1)).toMatchObject({ status: 204 });
    expect((await list(videoId)).map(({ status }: { status: string }) => status)).toEqual(
      Array(4).fill('preparing'),
    );

    await waitFor(videoId, 25);
    await reportNoRoom(videoId, bytes);
    const tooLarge = { status: 'failed', error: { code: 'no_disk_space' } };
    const preparing = { status: 'preparing', error: null };
    expect(await list(videoId)).toMatchObject([
      { file: '360p', ...preparing },
      { file: '480p', ...tooLarge },
      { file: 'audio', ...preparing },
      { file: 'highest', ...tooLarge },
    ]);
    await reportNoRoom(videoId, 1);
    expect((await tryClaimDerivation(plane, videoId)).status).toBe(409);
    await plane.engine.report('task.completed', {
      ...tryOf(videoId, running),
      result: { download: { name: 'audio', bytes: FILE.length } },
    });
    expect(await list(videoId)).toMatchObject([tooLarge, tooLarge, { status: 'ready' }, tooLarge]);
    expect((await api('get', '/auth/usage')).body.limits.storedBytes.reserved).toBe(reserved);
    await ask(videoId, ['480p']).expect(202);
    await makeDownload(plane, videoId, FILE);
  });

  test('leaves commands to those that go on', async () => {
    const videoId = await readyVideo();
    // Two at a time have commands.
    await ask(videoId, ['360p', '480p']).expect(202);
    const bytes = await bytesOf(videoId, '360p');
    await waitFor(videoId, 25);
    await ask(videoId, ['highest']).expect(202);
    await reportNoRoom(videoId, bytes);
    const rows = await plane.db
      .selectFrom('tasks')
      .select(['work', 'command_due_at', 'command_published_at'])
      .where('video_id', '=', videoId)
      .execute();
    expect(rows).toMatchObject([{ work: { name: 'highest' } }]);
    expect(rows[0]?.command_due_at ?? rows[0]?.command_published_at).not.toBeNull();
  });

  test('of an unknown video changes nothing', async () => {
    expect(await reportNoRoom('vid_00000000000000000000000000', 1)).toMatchObject({ status: 204 });
  });
});

describe('downloads that are asked for with the video', () => {
  test('are prepared when it is ready; those that it cannot have fail', async () => {
    const downloads = ['highest', '1080p', 'audio'];
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', downloads });
    expect(await list(videoId)).toHaveLength(3);
    await plane.engine.upload(uploadToken);
    expect((await tryClaimDerivation(plane, videoId)).status).toBe(409);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt);
    const claimed = [await claimDerivation(plane, videoId), await claimDerivation(plane, videoId)];
    expect(claimed.map(({ work }) => work.renditions)).toEqual([['audio'], ['480p', 'audio']]);
    const failed = (await list(videoId)).find((each: { file: string }) => each.file === '1080p');
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'rendition_not_available' } });
  });

  test('of a failed video have failed until it is retried', async () => {
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', downloads: ['480p'] });
    const { sourceKey } = await plane.engine.upload(uploadToken);
    await plane.objects.put(sourceKey, Buffer.alloc(1), 'video/mp4');
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'transcode_failed' });
    const failed = { status: 'failed', error: { code: 'video_failed' } };
    expect(await list(videoId)).toMatchObject([failed]);
    for (const name of ['480p', 'audio'])
      expect((await ask(videoId, [name])).body).toMatchObject({ status: 409, code: 'video_failed' });
    expect(await list(videoId)).toMatchObject([failed]);
    await api('post', `/videos/${videoId}/retry`).expect(202);
    expect(await list(videoId)).toMatchObject([{ status: 'preparing', error: null }]);
    const next = await plane.engine.claim(videoId);
    await plane.engine.report('task.failed', {
      ...tryOf(videoId, next),
      code: 'transcode_failed',
      message: 'No.',
      retryable: false,
    });
  });

  test('may be asked for until the video is ready, and are forgotten with it', async () => {
    const { videoId } = await plane.ticket({ filename: 'a.mp4' });
    await ask(videoId, ['1080p']).expect(202);
    await api('delete', `/videos/${videoId}`).expect(204);
    expect(
      await plane.db.selectFrom('downloads').selectAll().where('video_id', '=', videoId).execute(),
    ).toEqual([]);
  });
});

describe('the events of downloads', () => {
  beforeAll(async () => {
    const events = ['video.ready', 'video.failed', 'video.download.ready', 'video.download.failed'];
    await api('post', '/webhooks').send({ url: 'https://example.com/hook', events }).expect(201);
    await api('post', '/webhooks').send({ url: 'https://example.com/default' }).expect(201);
  });

  /** The events of a video in the order in which they were recorded, each with its download. */
  async function eventsOf(videoId: string) {
    const rows = await plane.db
      .selectFrom('webhook_events')
      .innerJoin('webhook_deliveries', 'event_id', 'webhook_events.id')
      .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'endpoint_id')
      .select(['type', 'payload'])
      .where('url', '=', 'https://example.com/hook')
      .orderBy('webhook_events.id')
      .execute();
    return rows
      .map(({ type, payload }) => ({ type, data: JSON.parse(String(payload)).data }))
      .filter(({ data }) => data.id === videoId);
  }

  const briefly = async (videoId: string) =>
    (await eventsOf(videoId)).map(({ type, data: { download } }) =>
      [type, download?.file, download?.error?.code].filter(Boolean).join(' '),
    );

  test('one for each file, once, with the download as its record has it', async () => {
    const videoId = await readyVideo({ filename: 'a.mp4', title: 'Summer' });
    await ask(videoId, ['audio', '480p']).expect(202);
    await makeDownload(plane, videoId, FILE);
    const claimed = await claimDerivation(plane, videoId);
    await fail(videoId, claimed, { retryable: false });
    // A late report of the same try.
    await fail(videoId, claimed, { retryable: false });
    expect(await briefly(videoId)).toEqual([
      'video.ready',
      'video.download.ready audio',
      'video.download.failed 480p download_failed',
    ]);
    const [, ready, failed] = await eventsOf(videoId);
    const [failedRecord, readyRecord] = await list(videoId);
    expect(ready?.data).toEqual({ id: videoId, title: 'Summer', download: readyRecord });
    expect(failed?.data).toEqual({ id: videoId, title: 'Summer', download: failedRecord });

    await ask(videoId, ['480p']).expect(202);
    await makeDownload(plane, videoId, FILE);
    expect((await briefly(videoId)).slice(3)).toEqual(['video.download.ready 480p']);
  });

  test('go only to endpoints whose events name them', async () => {
    const { rows } = await sql<{ types: string[] }>`
      select array_agg(distinct type) as types from webhook_deliveries
      join webhook_events on webhook_events.id = event_id
      join webhook_endpoints on webhook_endpoints.id = endpoint_id
      where url = 'https://example.com/default'`.execute(plane.db);
    expect(rows).toEqual([{ types: ['video.ready'] }]);
  });

  test('follow that of the video, also for files that it cannot have', async () => {
    const downloads = ['1080p', 'audio'];
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', downloads });
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt);
    expect(await briefly(videoId)).toEqual([
      'video.ready',
      'video.download.failed 1080p rendition_not_available',
    ]);
  });

  test('say that the video has failed, each time that it does', async () => {
    const downloads = ['480p', 'audio'];
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', downloads });
    const { sourceKey } = await plane.engine.upload(uploadToken);
    await plane.objects.put(sourceKey, Buffer.alloc(1), 'video/mp4');
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'transcode_failed' });
    const failed = [
      'video.failed',
      'video.download.failed 480p video_failed',
      'video.download.failed audio video_failed',
    ];
    expect(await briefly(videoId)).toEqual(failed);
    await api('post', `/videos/${videoId}/retry`).expect(202);
    await api('delete', `/videos/${videoId}/downloads/audio`).expect(204);
    const next = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, next.attempt, { code: 'transcode_failed' });
    expect((await briefly(videoId)).slice(3)).toEqual(failed.slice(0, 2));
  });

  test('do not come for a file that is deleted while it is prepared', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['audio']).expect(202);
    const claimed = await claimDerivation(plane, videoId);
    await api('delete', `/videos/${videoId}/downloads/audio`).expect(204);
    const result = { download: { name: 'audio', bytes: FILE.length } } as const;
    await plane.engine.report('task.completed', { ...tryOf(videoId, claimed), result });
    expect(await briefly(videoId)).toEqual(['video.ready']);
  });
});

describe('a download of a signed video', () => {
  test('needs a token that allows downloads, or a key', async () => {
    const videoId = await readyVideo({ filename: 'a.mp4', playbackPolicy: 'signed' });
    await ask(videoId, ['audio']).expect(202);
    await makeDownload(plane, videoId, FILE);
    const token = async (body: object) =>
      `?token=${(await api('post', `/videos/${videoId}/playback-tokens`).send(body)).body.token}`;
    const refused = await file(videoId, 'audio.m4a');
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([401, 'playback_token_required']);
    const withoutDownloads = await file(videoId, 'audio.m4a', await token({}));
    expect([withoutDownloads.status, JSON.parse(withoutDownloads.text).code]).toEqual([
      403,
      'downloads_not_allowed',
    ]);
    const response = await file(videoId, 'audio.m4a', await token({ allowDownloads: true })).expect(200);
    expect(response.headers['content-type']).toBe('audio/mp4');
    await file(videoId, 'audio.m4a').set(plane.credentials).expect(200);
    const playlist = await request(plane.url).get(
      `/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8${await token({ allowDownloads: true })}`,
    );
    expect(playlist.status).toBe(200);
  });
});
