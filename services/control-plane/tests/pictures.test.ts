import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { makePicture, tryClaimDerivation } from './support/derivations.ts';

const FILE = Buffer.from('the whole picture');
const LIMITS = {
  waitMs: 1500,
  waits: 4,
  preparingOfVideo: 3,
  preparingOfWorkspace: 100,
  stored: 10,
  storedBytes: 1000,
};

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, purgeRepeatSeconds: 1, pictures: LIMITS }));
});
afterAll(() => plane.stop());

const api = (method: 'get' | 'put' | 'patch' | 'delete', path: string) =>
  request(plane.url)[method](`/v1${path}`).set(plane.credentials);
const picture = (videoId: string, name: string, at = plane.url) =>
  request(at).get(`/v1/hls/${plane.workspaceId}/${videoId}/${name}`).buffer();

async function readyVideo(body: Record<string, unknown> = { filename: 'a.mp4' }): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket(body);
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.complete(videoId, attempt);
  return videoId;
}

/** Requests a picture that an engine makes. Resolves with the response and what the engine has claimed. */
async function made(videoId: string, name: string, file = FILE) {
  const [response, claimed] = await Promise.all([picture(videoId, name), makePicture(plane, videoId, file)]);
  return { response, claimed };
}

const storedBytes = async (videoId: string) => (await api('get', `/videos/${videoId}`)).body.storageBytes;

describe('a picture', () => {
  test('is made by an engine of the segment with its frame when it is asked for, and is stored then', async () => {
    const videoId = await readyVideo();
    const before = await storedBytes(videoId);
    const { response, claimed } = await made(videoId, 'thumbnail.jpg?time=7.5&width=320');
    expect([response.status, response.body.toString()]).toEqual([200, FILE.toString()]);
    expect(response.headers).toMatchObject({
      'content-type': 'image/jpeg',
      'cache-control': 'public, max-age=3600',
      'access-control-allow-origin': '*',
    });
    expect(claimed).toMatchObject({
      work: {
        name: 'thumbnail-7500-320x180-contain.jpg',
        start: 7500,
        motion: null,
        width: 320,
        height: 180,
      },
      tracks: [{ name: claimed.work.rendition, firstSegment: claimed.work.segments.first }],
    });
    expect(claimed.tracks[0]?.segmentBytes).toHaveLength(1);
    expect(claimed.inputBytes).toBe(claimed.tracks[0]?.segmentBytes[0]);
    expect(await storedBytes(videoId)).toBe(before + FILE.length);
    const again = await picture(videoId, 'thumbnail.jpg?time=7.5&width=320').expect(200);
    expect(again.headers.etag).toBe(response.headers.etag);
    await picture(videoId, 'thumbnail.jpg?time=7.5&width=320')
      .set('If-None-Match', String(again.headers.etag))
      .expect(304);
    expect((await tryClaimDerivation(plane, videoId, undefined, 'picture')).status).toBe(409);
  });

  test.each([
    ['thumbnail.webp', 'image/webp'],
    ['preview.webp?start=1&duration=2', 'image/webp'],
    ['preview.gif?width=100&fps=5', 'image/gif'],
  ])('%s has the type %s', async (name, type) => {
    const { response } = await made(await readyVideo(), name);
    expect([response.status, response.headers['content-type']]).toEqual([200, type]);
  });

  test('is made once, however many requests wait for it, at several control planes', async () => {
    const videoId = await readyVideo();
    const another = await plane.startAnother();
    const herd = Array.from({ length: 40 }, (_, at) =>
      picture(videoId, 'thumbnail.jpg?time=3', at % 2 === 0 ? plane.url : another.url).then(
        ({ status }) => status,
      ),
    );
    await makePicture(plane, videoId, FILE);
    expect(new Set(await Promise.all(herd))).toEqual(new Set([200]));
    expect((await tryClaimDerivation(plane, videoId, undefined, 'picture')).status).toBe(409);
    await another.stop();
  });
});
