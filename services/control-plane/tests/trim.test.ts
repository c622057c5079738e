import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { sampleManifest } from './support/manifest.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  request(plane.url)
    .post(`/v1${path}`)
    .set({ ...plane.credentials, ...headers })
    .send(body);
const video = async (videoId: string) =>
  (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;
const minutes = async () =>
  (await request(plane.url).get('/v1/auth/usage').set(plane.credentials)).body.transcodedMinutes;

/** A video whose file has arrived, with the trim that its ticket asks for. */
async function processing(trim?: object): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', ...(trim && { trim }) });
  const { sourceKey } = await plane.engine.upload(uploadToken);
  await plane.objects.put(sourceKey, Buffer.alloc(1_000_000), 'video/mp4');
  return videoId;
}

describe('the trim of a video', () => {
  test.each([
    [
      { start: 1.5, end: 4 },
      { start: 1.5, end: 4 },
    ],
    [{ start: 3 }, { start: 3, end: null }],
    [
      { start: 3, end: null },
      { start: 3, end: null },
    ],
    [{ end: 2.25 }, { start: 0, end: 2.25 }],
  ])('%j of a ticket is that of the record, and of the work of the engine', async (trim, expected) => {
    const videoId = await processing(trim);
    expect((await video(videoId)).trim).toEqual(expected);
    expect((await plane.engine.claim(videoId)).work).toMatchObject({ kind: 'plan', trim: expected });
  });

  test('can be set at an import', async () => {
    const url = 'https://media.example.com/a.mp4';
    const { status, body } = await post('/videos/import', { url, trim: { end: 9 } });
    expect([status, body.trim]).toEqual([202, { start: 0, end: 9 }]);
  });

  test('is null without one, and absent from the work', async () => {
    const videoId = await processing();
    expect((await video(videoId)).trim).toBeNull();
    expect((await plane.engine.claim(videoId)).work).not.toHaveProperty('trim');
  });

  test('stays through tries and retries', async () => {
    const trim = { start: 1, end: 2 };
    const videoId = await processing(trim);
    const first = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, first.attempt, {
      code: 'storage_failed',
      message: 'Later.',
      retryable: true,
    });
    const second = await plane.engine.claim(videoId);
    expect(second.work).toMatchObject({ trim });
    await plane.engine.fail(videoId, second.attempt, { code: 'transcode_failed' });
    expect((await post(`/videos/${videoId}/retry`, {})).status).toBe(202);
    expect((await plane.engine.claim(videoId)).work).toMatchObject({ trim });
  });

  test('is part of what an Idempotency-Key stands for', async () => {
    const key = { 'idempotency-key': 'trimmed' };
    const send = (trim: object) => post('/videos/upload-ticket', { filename: 'a.mp4', trim }, key);
    const [first, again] = [await send({ start: 1 }), await send({ start: 1 })];
    expect(again.body.videoId).toBe(first.body.videoId);
    expect((await send({ start: 2 })).body.code).toBe('idempotency_key_reused');
  });

  test('that the file does not reach fails the video for good, with a reason', async () => {
    const videoId = await processing({ start: 60 });
    const { attempt } = await plane.engine.claim(videoId);
    const message = 'The video lasts 2.000 seconds, and the trim begins at second 60.';
    await plane.engine.fail(videoId, attempt, { code: 'trim_after_end', message, retryable: false });
    expect(await video(videoId)).toMatchObject({
      status: 'failed',
      error: { code: 'trim_after_end', message },
      retryable: false,
    });
  });

  test('decides the duration of the video, and how much of it counts as transcoded', async () => {
    const videoId = await processing({ start: 5, end: 17 });
    const { attempt } = await plane.engine.claim(videoId);
    const made = sampleManifest();
    const before = await minutes();
    const source = { ...made.source, duration: 7200 };
    await plane.engine.complete(videoId, attempt, { ...made, source });
    const { status, duration } = await video(videoId);
    expect([status, duration]).toEqual(['ready', made.duration]);
    expect((await minutes()) - before).toBeCloseTo(made.duration / 60, 3);
  });
});

test.each<[string, unknown, string, string]>([
  [
    'an end before the start',
    { start: 5, end: 4 },
    'body/trim/end',
    'must be at least 0.1 seconds after start',
  ],
  ['no duration', { start: 5, end: 5 }, 'body/trim/end', 'must be at least 0.1 seconds after start'],
  ['an end at the beginning', { end: 0 }, 'body/trim/end', 'must be at least 0.1 seconds after start'],
  ['too short a part', { start: 5, end: 5.09 }, 'body/trim/end', 'must be at least 0.1 seconds after start'],
  ['a negative start', { start: -1 }, 'body/trim/start', 'must be at least 0'],
  ['a negative end', { end: -0.5 }, 'body/trim/end', 'must be at least 0'],
  ['too large a start', { start: 1e6 + 1 }, 'body/trim/start', 'must be at most 1000000'],
  ['too large an end', { end: 1e300 }, 'body/trim/end', 'must be at most 1000000'],
  ['a text', { start: '5' }, 'body/trim/start', 'must be a number'],
  ['nothing', {}, 'body/trim', 'must not be empty'],
  ['null', null, 'body/trim', 'must be an object'],
  ['another field', { begin: 5 }, 'body/trim/begin', expect.any(String) as never],
])('a trim with %s is refused at tickets and imports', async (_, trim, field, message) => {
  for (const [path, own] of [
    ['/videos/upload-ticket', { filename: 'a.mp4' }],
    ['/videos/import', { url: 'https://media.example.com/a.mp4' }],
  ] as const) {
    const { status, body } = await post(path, { ...own, trim });
    expect([status, body.errors?.[0]]).toMatchObject([400, { field, message }]);
  }
});

test.each(['NaN', 'Infinity', '1e999'])('a trim with %s is refused', async (number) => {
  const { status } = await request(plane.url)
    .post('/v1/videos/upload-ticket')
    .set(plane.credentials)
    .type('json')
    .send(`{"filename":"a.mp4","trim":{"start":${number}}}`);
  expect(status).toBe(400);
});
