import { type ImageName, imageKey } from '@framelane/object-store/object-keys';
import { ObjectNotFoundError } from '@framelane/object-store/object-store';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

/** With the sizes of the sample manifest. */
const IMAGES: Record<ImageName, Buffer> = {
  'poster.jpg': Buffer.alloc(40_000, 'a poster'),
  'storyboard.jpg': Buffer.alloc(60_000, 'a storyboard'),
};
const PARTS = ['poster.jpg', 'storyboard.vtt', 'storyboard.jpg'];

async function readyVideo(playbackPolicy: 'public' | 'signed'): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'holiday.mp4', playbackPolicy });
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.complete(videoId, attempt);
  for (const [name, image] of Object.entries(IMAGES)) {
    const key = imageKey({ workspaceId: plane.workspaceId, videoId, attempt }, name as ImageName);
    await plane.objects.put(key, image, 'image/jpeg');
  }
  return videoId;
}

const record = async (videoId: string) =>
  (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;
const get = (videoId: string, part: string) =>
  request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/${part}`).responseType('blob');

describe('the images of a public video', () => {
  let videoId: string;
  beforeAll(async () => {
    videoId = await readyVideo('public');
  });

  test('are in the record', async () => {
    const base = `http://framelane.test/v1/hls/${plane.workspaceId}/${videoId}`;
    expect(await record(videoId)).toMatchObject({
      thumbnail: `${base}/poster.jpg`,
      storyboard: `${base}/storyboard.vtt`,
    });
  });

  test.each(Object.entries(IMAGES))('can be cached by anybody for a minute: %s', async (name, image) => {
    const response = await get(videoId, name);
    expect([response.status, response.headers['content-type']]).toEqual([200, 'image/jpeg']);
    expect(response.headers).toMatchObject({
      'cache-control': 'public, max-age=60',
      'access-control-allow-origin': '*',
    });
    expect(response.body).toEqual(image);
    const again = await get(videoId, name).set('If-None-Match', String(response.headers.etag));
    expect(again.status).toBe(304);
  });

  test('are referenced by the storyboard, which is compressed', async () => {
    const response = await get(videoId, 'storyboard.vtt').set('Accept-Encoding', 'gzip');
    expect(response.headers['content-type']).toMatch(/^text\/vtt/);
    expect(response.headers['content-encoding']).toBe('gzip');
    const cues = response.body.toString().split('\n\n');
    expect(cues[0]).toBe('WEBVTT');
    expect(cues).toHaveLength(21);
    expect(cues[12]).toBe('00:00:11.000 --> 00:00:12.000\nstoryboard.jpg#xywh=160,90,160,90');
  });

  test('are 404 after the deletion of the video', async () => {
    const deleted = await readyVideo('public');
    await request(plane.url).delete(`/v1/videos/${deleted}`).set(plane.credentials).expect(204);
    for (const part of PARTS) expect((await get(deleted, part)).status).toBe(404);
  });
});

describe('the images of a signed video', () => {
  let videoId: string;
  let token: string;
  beforeAll(async () => {
    videoId = await readyVideo('signed');
    const tokens = `/v1/videos/${videoId}/playback-tokens`;
    token = (await request(plane.url).post(tokens).set(plane.credentials).send({})).body.token;
  });

  test.each(PARTS)('need a token or a key, and are not cached: %s', async (part) => {
    expect((await get(videoId, part)).status).toBe(401);
    expect((await get(videoId, `${part}?token=nonsense`)).status).toBe(403);
    for (const response of [
      await get(videoId, `${part}?token=${token}`),
      await get(videoId, part).set(plane.credentials),
    ]) {
      expect([response.status, response.headers['cache-control']]).toEqual([200, 'private, no-store']);
    }
  });

  test('are referenced by the storyboard with the token of its request', async () => {
    const { body } = await get(videoId, `storyboard.vtt?token=${token}`);
    const [address = ''] = /storyboard\.jpg\S*/.exec(body.toString()) ?? [];
    expect(address).toBe(`storyboard.jpg?token=${token}#xywh=0,0,160,90`);
    const [path = ''] = address.split('#');
    expect((await get(videoId, path)).body).toEqual(IMAGES['storyboard.jpg']);
  });
});

test('the record of a video without images has null', async () => {
  const videoId = await readyVideo('public');
  const nothing = { poster_bytes: null, storyboard: null };
  await plane.db.updateTable('videos').set(nothing).where('id', '=', videoId).execute();
  expect(await record(videoId)).toMatchObject({ thumbnail: null, storyboard: null });
  for (const part of PARTS) expect((await get(videoId, part)).status).toBe(404);
});

test.each(['poster.jpg', '360p/0.ts'])(
  'what was deleted while it was asked for is not there, and no fault: %s',
  async (part) => {
    const videoId = await readyVideo('public');
    const read = jest.spyOn(plane.objects, 'get').mockImplementation(async (key) => {
      await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
      throw new ObjectNotFoundError(key);
    });
    const response = await get(videoId, part);
    read.mockRestore();
    expect(response.status).toBe(404);
  },
);
