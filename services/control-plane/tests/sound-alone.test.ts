import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { firstTry } from './support/engine.ts';
import { type MadeVideo, planOf, sampleManifest } from './support/manifest.ts';
import { readSettings } from './support/settings.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const video = async (videoId: string) =>
  (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;
const hls = (videoId: string, path: string) =>
  request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/${path}`);

async function uploaded(fields: object, from: TestControlPlane = plane) {
  const { videoId, uploadToken } = await from.ticket({ filename: 'episode.mp3', ...fields });
  await from.engine.upload(uploadToken);
  return { videoId, claimed: await from.engine.claim(videoId) };
}

/** What an engine has made of a file without video. */
function soundManifest(): MadeVideo {
  const made = sampleManifest();
  const source = { ...made.source, container: 'mp3', videoCodec: null, audioCodec: 'mp3' };
  return {
    ...made,
    source: { ...source, width: null, height: null, frameRate: null },
    inputIssues: [],
    renditions: made.renditions.filter(({ name }) => name === 'audio'),
    storyboard: null,
  };
}

async function readySound(changes: Partial<MadeVideo> = {}): Promise<string> {
  const { videoId, claimed } = await uploaded({ audioOnly: true });
  await plane.engine.complete(videoId, claimed.attempt, { ...soundManifest(), ...changes });
  return videoId;
}

test('a ticket for sound alone cannot ask for downloads with a picture', async () => {
  const { status, body } = await request(plane.url)
    .post('/v1/videos/upload-ticket')
    .set(plane.credentials)
    .send({ filename: 'a.mp3', audioOnly: true, downloads: ['audio', 'highest'] });
  expect([status, body.code]).toEqual([400, 'validation_failed']);
  expect(body.errors).toMatchObject([{ field: 'body/downloads' }]);
});

describe('what becomes of sound alone is decided for all engines', () => {
  test.each([
    [{}, 'refused'],
    [{ audioOnly: true }, 'required'],
    [{ audioOnly: false }, 'refused'],
  ])('by the ticket %j', async (fields, audioOnly) => {
    expect((await uploaded(fields)).claimed.work).toMatchObject({ audioOnly });
  });

  test.each([
    [{}, 'accepted'],
    [{ audioOnly: true }, 'required'],
    [{ audioOnly: false }, 'refused'],
  ])('by the installation that accepts it and the ticket %j', async (fields, audioOnly) => {
    const accepting = await startControlPlane((config) => ({
      ...config,
      attempts: { ...config.attempts, acceptsAudioOnly: true },
    }));
    const { claimed } = await uploaded(fields, accepting);
    await accepting.stop();
    expect(claimed.work).toMatchObject({ audioOnly });
  });

  test('by the import', async () => {
    const { status, body } = await request(plane.url)
      .post('/v1/videos/import')
      .set(plane.credentials)
      .send({ url: 'https://media.example.com/episode.mp3', audioOnly: true });
    expect([status, body.audioOnly]).toEqual([202, true]);
  });
});

test('the setting is yes or no', () => {
  const read = (AUDIO_ONLY: string) => readSettings({ AUDIO_ONLY }).attempts.acceptsAudioOnly;
  expect([read(''), read('no'), read('yes')]).toEqual([false, false, true]);
  expect(() => read('true')).toThrow('AUDIO_ONLY: must be yes or no');
});

test('the record has what was asked for, then what the stream is', async () => {
  const asked = await Promise.all(
    [{}, { audioOnly: false }, { audioOnly: true }].map(async (fields) => {
      const { videoId, claimed } = await uploaded(fields);
      return { videoId, attempt: claimed.attempt, audioOnly: (await video(videoId)).audioOnly };
    }),
  );
  expect(asked.map(({ audioOnly }) => audioOnly)).toEqual([null, false, true]);
  for (const { videoId, attempt } of asked.slice(0, 1)) {
    await plane.engine.complete(videoId, attempt);
    expect((await video(videoId)).audioOnly).toBe(false);
  }
  expect(await video(await readySound())).toMatchObject({
    status: 'ready',
    audioOnly: true,
    variants: [],
    audioTracks: [{ name: 'English' }],
    width: null,
    height: null,
    aspectRatio: null,
    frameRate: null,
    duration: 20,
    thumbnail: expect.stringMatching(/poster\.jpg$/),
    storyboard: null,
    source: { container: 'mp3', videoCodec: null, audioCodec: 'mp3' },
  });
});

test('the master playlist has the audio only', async () => {
  const videoId = await readySound();
  const { text } = await hls(videoId, 'master.m3u8').expect(200);
  expect(text).toMatch(
    /#EXT-X-STREAM-INF:[^\n]*CODECS="mp4a\.40\.2",AUDIO="audio"[^\n]*\naudio\/index\.m3u8\n$/,
  );
  expect(text).not.toContain('RESOLUTION');
  await hls(videoId, 'audio/index.m3u8').expect(200);
  await hls(videoId, '360p/index.m3u8').expect(404);
});

test('it counts as transcoded minutes', async () => {
  const minutes = async () =>
    (await request(plane.url).get('/v1/auth/usage').set(plane.credentials)).body.transcodedMinutes;
  const before = await minutes();
  await readySound();
  expect((await minutes()) - before).toBeCloseTo(20 / 60);
});

test('it can be played while it is transcoded, as soon as its audio has begun', async () => {
  const { videoId, claimed } = await uploaded({ audioOnly: true });
  const taskTry = firstTry(videoId, claimed.attempt);
  await plane.engine.storePlan(videoId, claimed.attempt, planOf(soundManifest()));
  await plane.engine.report('task.progress', { ...taskTry, fraction: 0.1, startedRenditions: {} });
  expect((await video(videoId)).preview).toBeNull();
  const startedRenditions = { audio: { codecs: 'mp4a.40.2' } };
  await plane.engine.report('task.progress', { ...taskTry, fraction: 0.2, startedRenditions });
  expect((await video(videoId)).preview).toMatchObject({ variants: [] });
  const { updatedAt } = await video(videoId);
  const { text } = await hls(videoId, 'master.m3u8').expect(200);
  expect(text).toContain('audio/index.m3u8');
  await hls(videoId, 'audio/index.m3u8').expect(200);
  const state = await request(plane.url).get(`/v1/embed/${plane.workspaceId}/${videoId}/state`);
  expect(state.body).toMatchObject({ status: 'preparing', audioOnly: true });
  await plane.engine.report('task.progress', { ...taskTry, fraction: 0.2, startedRenditions });
  expect((await video(videoId)).updatedAt).toBe(updatedAt);
});

describe('the player page', () => {
  test('knows that there is no video', async () => {
    const videoId = await readySound();
    const { body } = await request(plane.url).get(`/v1/embed/${plane.workspaceId}/${videoId}/state`);
    expect(body).toMatchObject({ status: 'ready', audioOnly: true, poster: expect.any(String) });
  });

  test.each([
    [{}, { width: 640, height: 240 }],
    [{ maxwidth: '320' }, { width: 320, height: 240 }],
    [
      { maxwidth: '320', maxheight: '100' },
      { width: 320, height: 100 },
    ],
  ])('has a fitting height in oEmbed %j', async (query, size) => {
    const { embed } = await video(await readySound({ poster: null }));
    const { body } = await request(plane.url)
      .get('/v1/oembed')
      .query({ url: embed, ...query });
    expect(body).toMatchObject({ type: 'rich', ...size });
    expect(body.html).toContain(`height="${size.height}"`);
  });
});

test('the reason why a file without sound is refused is in the record', async () => {
  const { videoId, claimed } = await uploaded({ audioOnly: true });
  await plane.engine.fail(videoId, claimed.attempt, { code: 'no_audio_track' });
  expect(await video(videoId)).toMatchObject({ error: { code: 'no_audio_track' }, retryable: false });
});
