import { newId } from '@framelane/contracts/ids';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { MessageData } from '@framelane/contracts/messages';
import type { TranscriptResult } from '@framelane/contracts/outputs/transcript';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { claimTranscript, tryClaimDerivation } from './support/derivations.ts';
import { type Claimed, tryOf } from './support/long-videos.ts';
import { sampleManifest } from './support/manifest.ts';

const WEBVTT = 'WEBVTT\n\n00:00:00.500 --> 00:00:02.000\nGood morning.\n';
const OF_PERSON = 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nBy hand.\n';

let plane: TestControlPlane;
let without: { url: string };
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, maintenanceSeconds: 1, hasRecognizer: true }));
  without = await plane.startAnother({ hasRecognizer: false });
});
afterAll(() => plane.stop());

const api = (
  method: 'get' | 'post' | 'put' | 'patch' | 'delete',
  path: string,
  at: { url: string } = plane,
) => request(at.url)[method](`/v1${path}`).set(plane.credentials);
const ask = (videoId: string, autoCaptions: unknown, at: { url: string } = plane) =>
  api('post', `/videos/${videoId}/captions/generate`, at).send({ autoCaptions });
const record = async (videoId: string) => (await api('get', `/videos/${videoId}`)).body;
const states = async (videoId: string) => (await record(videoId)).autoCaptions;
const setCaptions = (videoId: string, language: string) =>
  api('put', `/videos/${videoId}/captions/${language}`).type('text/vtt').send(OF_PERSON);
const fileOf = async (videoId: string, language: string) =>
  (await api('get', `/videos/${videoId}/captions/${language}`)).text;

async function readyVideo(body: Record<string, unknown> = { filename: 'a.mp4' }): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket(body);
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.complete(videoId, attempt);
  return videoId;
}

/** The languages of the audio of a video, in the order of its renditions. */
const setAudio = (videoId: string, language: string | null) =>
  plane.db
    .updateTable('renditions')
    .set({ language })
    .where('video_id', '=', videoId)
    .where('name', '=', 'audio')
    .execute();

const report = (videoId: string, claimed: Claimed, result: Partial<TranscriptResult> = {}) =>
  plane.engine.report('task.completed', {
    ...tryOf(videoId, claimed),
    result: { transcript: { requested: '', language: 'en', webvtt: WEBVTT, seconds: 4, ...result } },
  });

const fail = (videoId: string, claimed: Claimed, failure: Partial<MessageData<'task.failed'>> = {}) =>
  plane.engine.report('task.failed', {
    ...tryOf(videoId, claimed),
    code: 'transcode_failed',
    message: 'The speech could not be recognised.',
    retryable: true,
    ...failure,
  });

describe('captions of a ready video', () => {
  test('are not made again in a language that was detected, until they are deleted', async () => {
    const videoId = await readyVideo();
    await ask(videoId, true).expect(202);
    await report(videoId, await claimTranscript(plane, videoId));
    await api('patch', `/videos/${videoId}/captions/en`).send({ label: 'My label' }).expect(200);
    const { body } = await ask(videoId, ['en']).expect(202);
    expect(body.data).toMatchObject([{ requestedLanguage: null, language: 'en', status: 'ready' }]);
    expect((await tryClaimDerivation(plane, videoId, PLAN_VERSION, 'transcribe')).status).toBe(409);
    await api('delete', `/videos/${videoId}/captions/en`).expect(204);
    const again = (await ask(videoId, ['en']).expect(202)).body;
    expect(again.data).toMatchObject([{ requestedLanguage: 'en', status: 'preparing' }]);
  });

  test('are asked for in at most 16 languages', async () => {
    const videoId = await readyVideo();
    const tags = (from: number) => Array.from({ length: 8 }, (_, at) => `en-x-a${from + at}`);
    for (const from of [0, 8]) await ask(videoId, tags(from)).expect(202);
    const { status, body } = await ask(videoId, ['en-x-more']);
    expect([status, body.code]).toEqual([409, 'captions_limit_reached']);
    expect(await states(videoId)).toHaveLength(16);
    await ask(videoId, tags(4)).expect(202);
  });

  test('are made by an engine from the stored audio, and say that a machine has made them', async () => {
    const videoId = await readyVideo();
    const { status, body } = await ask(videoId, true);
    expect(status).toBe(202);
    expect(body.data).toMatchObject([
      { requestedLanguage: null, language: null, status: 'preparing', error: null, readyAt: null },
    ]);
    expect((await tryClaimDerivation(plane, videoId)).status).toBe(409);
    const claimed = await claimTranscript(plane, videoId);
    expect(claimed).toMatchObject({
      work: { kind: 'transcript', requested: '', rendition: 'audio' },
      tracks: [{ name: 'audio' }],
    });
    const before = (await record(videoId)).storageBytes;
    await report(videoId, claimed);
    const after = await record(videoId);
    const captions = {
      language: 'en',
      label: 'English (auto-generated)',
      origin: 'machine',
      default: false,
      cues: 1,
    };
    expect(after).toMatchObject({
      captions: [captions],
      autoCaptions: [
        { requestedLanguage: null, language: 'en', status: 'ready', readyAt: expect.any(String) },
      ],
      storageBytes: before + WEBVTT.length,
    });
    expect(await fileOf(videoId, 'en')).toBe(WEBVTT);
    const master = await request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8`);
    expect(master.text).toContain('NAME="English (auto-generated)"');
  });

  test('exist once: who asks again gets them as they are, until they are deleted', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['EN']).expect(202);
    await ask(videoId, ['en']).expect(202);
    await report(videoId, await claimTranscript(plane, videoId), { requested: 'en' });
    await ask(videoId, ['en']).expect(202);
    expect((await tryClaimDerivation(plane, videoId, PLAN_VERSION, 'transcribe')).status).toBe(409);
    await api('delete', `/videos/${videoId}/captions/en`).expect(204);
    expect(await states(videoId)).toEqual([]);
    await ask(videoId, ['en']).expect(202);
    expect((await claimTranscript(plane, videoId)).work.requested).toBe('en');
  });

  test('of a person stay as they are', async () => {
    const videoId = await readyVideo();
    await setCaptions(videoId, 'en').expect(201);
    const { status, body } = await ask(videoId, ['de', 'en']);
    expect([status, body.code]).toEqual([409, 'captions_exist']);
    expect(await states(videoId)).toEqual([]);
    await ask(videoId, true).expect(202);
    await report(videoId, await claimTranscript(plane, videoId));
    expect(await states(videoId)).toMatchObject([{ status: 'failed', error: { code: 'captions_exist' } }]);
    expect(await fileOf(videoId, 'en')).toBe(OF_PERSON);
  });

  test('of a person stay as they are if they came while others were made', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['en']).expect(202);
    const claimed = await claimTranscript(plane, videoId);
    await setCaptions(videoId, 'en').expect(201);
    await report(videoId, claimed, { requested: 'en' });
    expect(await states(videoId)).toMatchObject([{ status: 'failed', error: { code: 'captions_exist' } }]);
    expect((await record(videoId)).captions).toMatchObject([{ origin: 'person' }]);
  });

  test('become those of a person who replaces them; another label or default changes nothing', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['en']).expect(202);
    await report(videoId, await claimTranscript(plane, videoId), { requested: 'en' });
    await api('patch', `/videos/${videoId}/captions/en`).send({ default: true, label: 'Mine' }).expect(200);
    expect((await record(videoId)).captions).toMatchObject([{ origin: 'machine', label: 'Mine' }]);
    await setCaptions(videoId, 'en').expect(200);
    expect(await record(videoId)).toMatchObject({ captions: [{ origin: 'person' }], autoCaptions: [] });
    expect((await ask(videoId, ['en'])).status).toBe(409);
  });

  test('are made of the audio in their language', async () => {
    const videoId = await readyVideo();
    await setAudio(videoId, 'de-AT');
    const { status, body } = await ask(videoId, ['fr']);
    expect([status, body.code]).toEqual([409, 'audio_not_available']);
    expect(body.detail).toBe('This video has no audio in fr. It has de-AT.');
    expect(await states(videoId)).toEqual([]);
    await ask(videoId, ['de']).expect(202);
    expect((await claimTranscript(plane, videoId)).work).toMatchObject({
      requested: 'de',
      rendition: 'audio',
    });
  });

  test.each([
    [{ webvtt: '' }, 'no_speech'],
    [{ webvtt: 'nonsense' }, 'transcription_failed'],
    [{ webvtt: 'WEBVTT\n\n00:00:99.000 --> 00:00:01.000\nx\n' }, 'transcription_failed'],
  ])('%j are not stored: %s', async (result, code) => {
    const videoId = await readyVideo();
    await ask(videoId, true).expect(202);
    await report(videoId, await claimTranscript(plane, videoId), result);
    expect(await record(videoId)).toMatchObject({
      status: 'ready',
      captions: [],
      autoCaptions: [{ status: 'failed', error: { code } }],
    });
  });

  test.each([
    ['transcode_failed', 'transcription_failed'],
    ['transcode_timeout', 'transcription_timeout'],
  ] as const)(
    'that fail for good with %s say so, harm nothing, and can be asked for again',
    async (code, expected) => {
      const videoId = await readyVideo();
      await ask(videoId, true).expect(202);
      for (let tries = 0; tries < 3; tries += 1)
        await fail(videoId, await claimTranscript(plane, videoId), { code });
      expect(await record(videoId)).toMatchObject({
        status: 'ready',
        error: null,
        autoCaptions: [{ status: 'failed', error: { code: expected } }],
      });
      await ask(videoId, true).expect(202);
      expect(await states(videoId)).toMatchObject([{ status: 'preparing', error: null }]);
      await report(videoId, await claimTranscript(plane, videoId));
      expect(await states(videoId)).toMatchObject([{ status: 'ready', error: null }]);
    },
  );

  test('are sent to the webhooks that ask for it', async () => {
    const hook = (events: string[]) =>
      api('post', '/webhooks').send({ url: 'https://example.com/hook', events });
    await hook(['video.captions.ready']).expect(201);
    await api('post', '/webhooks').send({ url: 'https://example.com/default' }).expect(201);
    const videoId = await readyVideo({ filename: 'a.mp4', title: 'Talk' });
    await ask(videoId, true).expect(202);
    await report(videoId, await claimTranscript(plane, videoId));
    const events = await plane.db
      .selectFrom('webhook_deliveries')
      .innerJoin('webhook_events', 'webhook_events.id', 'event_id')
      .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'endpoint_id')
      .select(['payload', 'url'])
      .where('type', '=', 'video.captions.ready')
      .execute();
    expect(events.map(({ url }) => url)).toEqual(['https://example.com/hook']);
    expect(JSON.parse(String(events[0]?.payload)).data).toMatchObject({
      id: videoId,
      title: 'Talk',
      captions: { language: 'en', origin: 'machine' },
    });
  });

  test('of a video that is deleted meanwhile are not made', async () => {
    const videoId = await readyVideo();
    await ask(videoId, true).expect(202);
    const claimed = await claimTranscript(plane, videoId);
    await api('delete', `/videos/${videoId}`).expect(204);
    expect(await plane.engine.request(INTERNAL_PATHS.checkTask, tryOf(videoId, claimed))).toMatchObject({
      body: { current: false },
    });
    await report(videoId, claimed);
    const left = await plane.db
      .selectFrom('auto_captions')
      .selectAll()
      .where('video_id', '=', videoId)
      .execute();
    expect(left).toEqual([]);
  });

  test('need room in the quota', async () => {
    const videoId = await readyVideo();
    const usage = (await api('get', '/auth/usage')).body.limits.storedBytes.used;
    await plane.db
      .insertInto('quotas')
      .values({ workspace_id: plane.workspaceId, stored_bytes: usage + 1 })
      .execute();
    const { status, body } = await ask(videoId, true);
    await plane.db.deleteFrom('quotas').execute();
    expect([status, body.code]).toEqual([403, 'quota_exceeded']);
    expect(await states(videoId)).toEqual([]);
  });
});

describe('a request for captions can be withdrawn', () => {
  const withdraw = (videoId: string, language: string) =>
    api('delete', `/videos/${videoId}/captions/${language}`);

  test('while they are made: the engine stops, and its result is ignored', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['en', 'en-x-a']).expect(202);
    const claimed = await claimTranscript(plane, videoId);
    expect(claimed.work.requested).toBe('en');
    await withdraw(videoId, 'en').expect(204);
    const check = await plane.engine.request(INTERNAL_PATHS.checkTask, tryOf(videoId, claimed));
    expect(check).toMatchObject({ body: { current: false } });
    await report(videoId, claimed, { requested: 'en' });
    await fail(videoId, claimed);
    expect(await record(videoId)).toMatchObject({
      captions: [],
      autoCaptions: [{ requestedLanguage: 'en-x-a', status: 'preparing' }],
    });
    expect((await claimTranscript(plane, videoId)).work.requested).toBe('en-x-a');
    const { status, body } = await withdraw(videoId, 'en');
    expect([status, body.code]).toEqual([404, 'captions_not_found']);
  });

  test('as und if its language is to be detected', async () => {
    const videoId = await readyVideo();
    await ask(videoId, true).expect(202);
    const claimed = await claimTranscript(plane, videoId);
    await withdraw(videoId, 'und').expect(204);
    await report(videoId, claimed);
    expect(await record(videoId)).toMatchObject({ captions: [], autoCaptions: [] });
    await ask(videoId, true).expect(202);
    await report(videoId, await claimTranscript(plane, videoId));
    await withdraw(videoId, 'und').expect(404);
    const made = { captions: [{ language: 'en' }], autoCaptions: [{ language: 'en', status: 'ready' }] };
    expect(await record(videoId)).toMatchObject(made);
  });

  test('before the video is ready', async () => {
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', autoCaptions: ['en'] });
    await withdraw(videoId, 'EN').expect(204);
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt);
    expect(await record(videoId)).toMatchObject({ status: 'ready', autoCaptions: [] });
    expect((await tryClaimDerivation(plane, videoId, PLAN_VERSION, 'transcribe')).status).toBe(409);
  });

  test('after it has failed', async () => {
    const videoId = await readyVideo();
    await ask(videoId, ['en']).expect(202);
    await fail(videoId, await claimTranscript(plane, videoId), { retryable: false });
    expect(await states(videoId)).toMatchObject([{ status: 'failed' }]);
    await withdraw(videoId, 'en').expect(204);
    expect(await states(videoId)).toEqual([]);
  });
});

describe('captions that are asked for with the video', () => {
  const limitStoredBytes = async (more: number) => {
    const { used } = (await api('get', '/auth/usage')).body.limits.storedBytes;
    await plane.db
      .insertInto('quotas')
      .values({ workspace_id: plane.workspaceId, stored_bytes: used + more })
      .execute();
  };
  const QUOTA_EXCEEDED = { status: 'failed', error: { code: 'quota_exceeded' } };

  test('fail if there is no room when the video becomes ready, and can be asked for again', async () => {
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', autoCaptions: true });
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await limitStoredBytes(0);
    await plane.engine.complete(videoId, attempt);
    await plane.db.deleteFrom('quotas').execute();
    expect(await record(videoId)).toMatchObject({ status: 'ready', autoCaptions: [QUOTA_EXCEEDED] });
    expect((await tryClaimDerivation(plane, videoId, PLAN_VERSION, 'transcribe')).status).toBe(409);
    await ask(videoId, true).expect(202);
    await report(videoId, await claimTranscript(plane, videoId));
    expect(await states(videoId)).toMatchObject([{ status: 'ready', error: null }]);
  });

  test('are made in as many languages as there is room for', async () => {
    const { videoId, uploadToken } = await plane.ticket({
      filename: 'a.mp4',
      autoCaptions: ['en', 'en-x-a'],
    });
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    const made = sampleManifest();
    const { renditions, poster, storyboard } = made;
    const sizes = [...renditions.flatMap(({ segments }) => segments), poster, storyboard];
    const stored = sizes.reduce((sum, file) => sum + (file?.bytes ?? 0), 0);
    // 50 bytes for each of the 20 seconds.
    await limitStoredBytes(stored + 1999);
    // The video is a part of a long file.
    await plane.engine.complete(videoId, attempt, { ...made, source: { ...made.source, duration: 7200 } });
    await plane.db.deleteFrom('quotas').execute();
    expect(await states(videoId)).toMatchObject([{ status: 'preparing' }, QUOTA_EXCEEDED]);
  });

  test('fail if there is no room for what was made', async () => {
    const videoId = await readyVideo();
    await ask(videoId, true).expect(202);
    const claimed = await claimTranscript(plane, videoId);
    await limitStoredBytes(WEBVTT.length - 1);
    await report(videoId, claimed);
    await plane.db.deleteFrom('quotas').execute();
    expect(await record(videoId)).toMatchObject({ captions: [], autoCaptions: [QUOTA_EXCEEDED] });
  });

  test('are made when it is ready; those that cannot be made fail', async () => {
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', autoCaptions: ['en', 'de'] });
    expect(await states(videoId)).toHaveLength(2);
    await setCaptions(videoId, 'de').expect(201);
    await plane.engine.upload(uploadToken);
    expect((await tryClaimDerivation(plane, videoId, PLAN_VERSION, 'transcribe')).status).toBe(409);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt);
    expect(await states(videoId)).toMatchObject([
      { requestedLanguage: 'de', status: 'failed', error: { code: 'captions_exist' } },
      { requestedLanguage: 'en', status: 'preparing' },
    ]);
    expect((await claimTranscript(plane, videoId)).work.requested).toBe('en');
  });

  test('of an import, and of a failed video', async () => {
    const imported = await api('post', '/videos/import').send({
      url: 'https://example.com/a.mp4',
      autoCaptions: true,
    });
    expect(imported.body.autoCaptions).toMatchObject([{ requestedLanguage: null, status: 'preparing' }]);
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', autoCaptions: true });
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'transcode_failed' });
    const failed = { requestedLanguage: null, status: 'failed', error: { code: 'video_failed' } };
    expect(await states(videoId)).toMatchObject([failed]);
    for (const choice of [true, ['de']])
      expect((await ask(videoId, choice)).body).toMatchObject({ status: 409, code: 'video_failed' });
    expect(await states(videoId)).toMatchObject([failed]);
  });
});

describe('a request is refused', () => {
  test('without a recogniser, and says what to set', async () => {
    const videoId = await readyVideo();
    const expected = [409, 'auto_captions_not_configured', expect.stringContaining('RECOGNIZER_URL')];
    for (const response of [
      await ask(videoId, true, without),
      await api('post', '/videos/upload-ticket', without).send({ filename: 'a.mp4', autoCaptions: ['en'] }),
      await api('post', '/videos/import', without).send({
        url: 'https://example.com/a.mp4',
        autoCaptions: true,
      }),
    ])
      expect([response.status, response.body.code, response.body.detail]).toEqual(expected);
  });

  test.each([
    [['english'], 'body/autoCaptions/0'],
    [[], 'body/autoCaptions'],
    [false, 'body/autoCaptions'],
    [['en', 'en'], 'body/autoCaptions'],
    ['en', 'body/autoCaptions'],
    [undefined, 'body/autoCaptions'],
  ])('for %j', async (languages, field) => {
    const { status, body } = await ask(newId('vid'), languages);
    expect([status, body.code, body.errors?.[0]?.field]).toEqual([400, 'validation_failed', field]);
  });
});
