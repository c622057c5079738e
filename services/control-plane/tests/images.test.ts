import { newId } from '@framelane/contracts/ids';
import { type ImageName, imageKey } from '@framelane/object-store/object-keys';
import { ObjectNotFoundError } from '@framelane/object-store/object-store';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { FOLDER } from './support/manifest.ts';

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
    const key = imageKey(
      { workspaceId: plane.workspaceId, videoId, attempt, folder: FOLDER },
      name as ImageName,
    );
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

  test.each(Object.entries(IMAGES))('can be cached by anybody: %s', async (name, image) => {
    const response = await get(videoId, name);
    expect([response.status, response.headers['content-type']]).toEqual([200, 'image/jpeg']);
    expect(response.headers).toMatchObject({
      // A client can set another poster.
      'cache-control': name === 'poster.jpg' ? 'public, no-cache' : 'public, max-age=60',
      'access-control-allow-origin': '*',
    });
    expect(response.body).toEqual(image);
    const again = await get(videoId, name).set('If-None-Match', String(response.headers.etag));
    expect(again.status).toBe(304);
  });

  test('include the one that storyboard.vtt, which is compressed, refers to', async () => {
    const response = await get(videoId, 'storyboard.vtt').set('Accept-Encoding', 'gzip');
    expect(response.headers['content-type']).toMatch(/^text\/vtt/);
    expect(response.headers['content-encoding']).toBe('gzip');
    const cues = response.body.toString().split('\n\n');
    expect(cues[0]).toBe('WEBVTT');
    expect(cues).toHaveLength(21);
    expect(cues[12]).toBe('00:00:11.000 --> 00:00:12.000\nstoryboard.jpg#xywh=160,90,160,90');
  });

  test('are 404 before the video is ready', async () => {
    const { videoId } = await plane.ticket({ filename: 'new.mp4', playbackPolicy: 'public' });
    for (const part of PARTS) expect((await get(videoId, part)).status).toBe(404);
  });

  test('are 404 after the deletion of the video', async () => {
    const deleted = await readyVideo('public');
    await request(plane.url).delete(`/v1/videos/${deleted}`).set(plane.credentials).expect(204);
    for (const part of PARTS) expect((await get(deleted, part)).status).toBe(404);
  });
});

describe('a poster that a client has set', () => {
  const api = (method: 'put' | 'patch' | 'delete', videoId: string, path = '/poster') =>
    request(plane.url)[method](`/v1/videos/${videoId}${path}`).set(plane.credentials);
  const set = (videoId: string, image: Buffer) => api('put', videoId).type('image/jpeg').send(image);

  test('replaces the poster of the transcode, until it is deleted', async () => {
    const videoId = await readyVideo('public');
    const { body: other } = await set(await readyVideo('public'), jpegOf(640, 360, 700));
    const { storageBytes, thumbnail } = await record(videoId);
    const image = jpegOf(1280, 720, 5000);
    const { status, body } = await set(videoId, image);
    const poster = { width: 1280, height: 720, bytes: 5000 };
    expect([status, body]).toMatchObject([200, { thumbnail, poster, storageBytes: storageBytes + 5000 }]);
    expect(body).toEqual(await record(videoId));
    const response = await get(videoId, 'poster.jpg');
    expect([response.headers['content-type'], response.body]).toEqual(['image/jpeg', image]);

    const smaller = await set(videoId, jpegOf(640, 360, 300));
    expect(smaller.body).toMatchObject({ poster: { width: 640 }, storageBytes: storageBytes + 300 });
    expect((await api('delete', videoId)).status).toBe(204);
    expect(await record(other.id)).toEqual(other);
    expect(await record(videoId)).toMatchObject({ poster: null, thumbnail, storageBytes });
    expect((await get(videoId, 'poster.jpg')).body).toEqual(IMAGES['poster.jpg']);
    expect((await api('delete', videoId)).body).toMatchObject({ status: 404, code: 'poster_not_found' });
  });

  test('is stored and served without its metadata, turned as before', async () => {
    const videoId = await readyVideo('public');
    const [plain, comment] = [jpegOf(640, 360), Buffer.from('\xff\xfe\0\x0652.5', 'latin1')];
    const sent = Buffer.concat([plain.subarray(0, 20), comment, plain.subarray(20), Buffer.from('13.4')]);
    const { storageBytes } = await record(videoId);
    const { body } = await set(videoId, sent);
    expect(body).toMatchObject({
      poster: { width: 640, height: 360, bytes: plain.length },
      storageBytes: storageBytes + plain.length,
    });
    expect((await get(videoId, 'poster.jpg')).body).toEqual(plain);
  });

  test('changes the ETag of the record', async () => {
    const videoId = await readyVideo('public');
    const read = () => request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials);
    await set(videoId, jpegOf(640, 360));
    const { etag } = (await read()).headers;
    await set(videoId, jpegOf(360, 640));
    expect((await read().set('If-None-Match', String(etag))).status).toBe(200);
  });

  test('can be set before the upload, and is shown when the video can be played', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const image = jpegOf(640, 360);
    expect((await set(videoId, image)).body).toMatchObject({ thumbnail: null, poster: { width: 640 } });
    expect((await get(videoId, 'poster.jpg')).status).toBe(404);
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt);
    expect((await record(videoId)).thumbnail).toMatch(/poster\.jpg$/);
    expect((await get(videoId, 'poster.jpg')).body).toEqual(image);
  });

  test('of a signed video needs a token or a key', async () => {
    const videoId = await readyVideo('signed');
    await set(videoId, jpegOf(640, 360));
    expect((await get(videoId, 'poster.jpg')).status).toBe(401);
    const response = await get(videoId, 'poster.jpg').set(plane.credentials);
    expect([response.status, response.headers['cache-control']]).toEqual([200, 'private, no-store']);
  });

  test('has its own size in oEmbed', async () => {
    const videoId = await readyVideo('public');
    await set(videoId, jpegOf(300, 500));
    const { embed } = await record(videoId);
    const of = async (query: object) =>
      (
        await request(plane.url)
          .get('/v1/oembed')
          .query({ url: embed, ...query })
      ).body;
    expect(await of({})).toMatchObject({ thumbnail_width: 300, thumbnail_height: 500 });
    expect(await of({ maxheight: 499 })).not.toHaveProperty('thumbnail_url');
  });

  test('needs room in the quota only for the bytes by which it is larger than the replaced one', async () => {
    const videoId = await readyVideo('public');
    await set(videoId, jpegOf(640, 360, 1000));
    const quota = { workspace_id: plane.workspaceId, stored_bytes: 1 } as never;
    await plane.db.insertInto('quotas').values(quota).execute();
    const refused = await set(videoId, jpegOf(640, 360, 1001));
    expect(refused.body).toMatchObject({ code: 'quota_exceeded', quota: 'storedBytes', requested: 1 });
    expect((await set(videoId, jpegOf(640, 360, 999))).status).toBe(200);
    await plane.db.deleteFrom('quotas').execute();
  });

  test('is refused if it is no JPEG image, and for an unknown video', async () => {
    const videoId = await readyVideo('public');
    const { status, body } = await set(videoId, Buffer.from('<svg/>'));
    expect([status, body]).toMatchObject([
      400,
      { code: 'invalid_poster', detail: 'The poster cannot be used. It is not a JPEG image.' },
    ]);
    expect((await record(videoId)).poster).toBeNull();
    expect((await set(newId('vid'), jpegOf(640, 360))).body.code).toBe('video_not_found');
  });

  test('is erased with its video', async () => {
    const videoId = await readyVideo('public');
    await set(videoId, jpegOf(640, 360));
    await api('delete', videoId, '').expect(204);
    const { rows } = await sql`select from posters where video_id = ${videoId}`.execute(plane.db);
    expect(rows).toEqual([]);
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

  test('include the one that storyboard.vtt refers to, with the token of the request for it', async () => {
    const { body } = await get(videoId, `storyboard.vtt?token=${token}`);
    const [address = ''] = /storyboard\.jpg\S*/.exec(body.toString()) ?? [];
    expect(address).toBe(`storyboard.jpg?token=${token}#xywh=0,0,160,90`);
    const [path = ''] = address.split('#');
    expect((await get(videoId, path)).body).toEqual(IMAGES['storyboard.jpg']);
  });
});

test('the record of a video without images has null', async () => {
  const videoId = await readyVideo('public');
  await plane.db.updateTable('videos').set({ storyboard: null }).where('id', '=', videoId).execute();
  const images = plane.db.deleteFrom('artifacts').where('kind', 'in', ['poster', 'storyboard']);
  await images.where('video_id', '=', videoId).execute();
  expect(await record(videoId)).toMatchObject({ thumbnail: null, storyboard: null });
  for (const part of PARTS) expect((await get(videoId, part)).status).toBe(404);
});

test.each(['poster.jpg', '360p/0.ts'])(
  'an object that is deleted during the request is a 404, not a 500: %s',
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
