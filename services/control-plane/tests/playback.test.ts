import { randomBytes } from 'node:crypto';
import { newId } from '@framelane/contracts/ids';
import { segmentKey } from '@framelane/object-store/object-keys';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import { incrementPlaybackVersion } from '../src/playback/playback.store.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { FOLDER } from './support/manifest.ts';

/** The size of the last 360p segment in the sample manifest. */
const SEGMENT = randomBytes(160_000);
const SEQUENCE = 3;

let plane: TestControlPlane;
let hls: string;

beforeAll(async () => {
  plane = await startControlPlane();
  const { videoId } = await plane.readyVideo();
  hls = `/v1/hls/${plane.workspaceId}/${videoId}`;
  const key = segmentKey(
    { workspaceId: plane.workspaceId, videoId, attempt: 1, folder: FOLDER },
    '360p',
    SEQUENCE,
    'ts',
  );
  await plane.objects.put(key, SEGMENT, 'video/mp2t');
});
afterAll(() => plane.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  request(plane.url).get(`${hls}${path}`).set(headers).responseType('blob');

describe('playlists', () => {
  test('need no authentication, allow any origin, and are compressed on request', async () => {
    const response = await request(plane.url).get(`${hls}/master.m3u8`).set({ 'accept-encoding': 'gzip' });
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/vnd\.apple\.mpegurl/),
      'content-encoding': 'gzip',
      'cache-control': 'public, no-cache',
      'access-control-allow-origin': '*',
      etag: expect.any(String),
    });
    const text = (await get('/master.m3u8')).body.toString();
    expect(text.split('\n')[0]).toBe('#EXTM3U');
    expect(text).toMatch(/^360p\/index\.m3u8$/m);
    expect(text).toMatch(/^480p\/index\.m3u8$/m);
    expect(text).toContain('URI="audio/index.m3u8"');
  });

  test('a media playlist lists every segment and the key', async () => {
    const text = (await get('/360p/index.m3u8')).body.toString();
    expect(text.match(/^\d+\.ts$/gm)).toEqual(['0.ts', '1.ts', '2.ts', '3.ts']);
    expect(text).toContain('#EXT-X-KEY:METHOD=AES-128,URI="../key"');
    expect(text).toContain('#EXT-X-TARGETDURATION:6');
    expect(text).not.toContain('#EXT-X-I-FRAMES-ONLY');
  });

  test('the master playlist without pictures has the audio, and no video', async () => {
    const text = (await get('/audio.m3u8')).body.toString();
    expect(text).toContain('URI="audio/index.m3u8"');
    expect(text.split('\n').filter((line: string) => line !== '' && !line.startsWith('#'))).toEqual([
      'audio/index.m3u8',
    ]);
    expect(text).not.toContain('RESOLUTION');
  });

  test('a video without audio has no master playlist without pictures', async () => {
    const { videoId } = await plane.readyVideo();
    await plane.db
      .deleteFrom('renditions')
      .where('video_id', '=', videoId)
      .where('label', 'is not', null)
      .execute();
    const path = `/v1/hls/${plane.workspaceId}/${videoId}`;
    await request(plane.url).get(`${path}/master.m3u8`).expect(200);
    const { body } = await request(plane.url).get(`${path}/audio.m3u8`).expect(404);
    expect(body.code).toBe('video_not_found');
  });

  test('304 for a known version', async () => {
    const { etag } = (await get('/master.m3u8')).headers;
    expect((await get('/master.m3u8', { 'if-none-match': String(etag) })).status).toBe(304);
  });

  test('are rendered again when the version of the video increases, and are 404 after its deletion', async () => {
    const { videoId } = await plane.readyVideo();
    const path = `/v1/hls/${plane.workspaceId}/${videoId}/360p/index.m3u8`;
    const targetDuration = async () => {
      const { body } = await request(plane.url).get(path).responseType('blob');
      return /TARGETDURATION:(\d+)/.exec(body.toString())?.[1];
    };
    expect(await targetDuration()).toBe('6');
    await plane.db.updateTable('videos').set({ target_duration: 7 }).where('id', '=', videoId).execute();
    expect(await targetDuration()).toBe('6');
    const { videoId: other } = await plane.readyVideo();
    await plane.db.transaction().execute((trx) => incrementPlaybackVersion(trx, other));
    expect(await targetDuration()).toBe('6');
    await plane.db.transaction().execute((trx) => incrementPlaybackVersion(trx, videoId));
    expect(await targetDuration()).toBe('7');
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect((await request(plane.url).get(path)).status).toBe(404);
  });

  test('are those of their video', async () => {
    const { videoId: other } = await plane.readyVideo();
    await plane.db
      .updateTable('renditions')
      .set({ average_bandwidth: 1234 })
      .where('video_id', '=', other)
      .execute();
    // Of the video and its audio.
    const bandwidth = `AVERAGE-BANDWIDTH=${2 * 1234},`;
    expect((await get('/master.m3u8')).body.toString()).not.toContain(bandwidth);
    const master = await request(plane.url).get(`/v1/hls/${plane.workspaceId}/${other}/master.m3u8`).buffer();
    expect(master.text).toContain(bandwidth);
  });

  test('credentials of a player are ignored', async () => {
    expect((await get('/master.m3u8', { authorization: 'Bearer whatever' })).status).toBe(200);
  });
});

describe('the key', () => {
  test('has 16 bytes and is never cached', async () => {
    const response = await get('/key');
    expect(response.body).toHaveLength(16);
    expect(response.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    });
  });
});

describe('segments', () => {
  const segment = `/360p/${SEQUENCE}.ts`;

  test('are complete, and can be cached forever', async () => {
    const response = await get(segment);
    expect(response.status).toBe(200);
    expect(SEGMENT.equals(response.body)).toBe(true);
    expect(response.headers).toMatchObject({
      'content-type': 'video/mp2t',
      'content-length': '160000',
      'cache-control': 'public, max-age=31536000, immutable',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[^"]+"$/),
    });
  });

  test.each([
    ['bytes=0-99', 0, 100],
    ['bytes=159990-', 159_990, 160_000],
    ['bytes=-10', 159_990, 160_000],
    ['bytes=159990-999999', 159_990, 160_000],
  ])('range %s', async (range, start, end) => {
    const response = await get(segment, { range });
    expect(response.status).toBe(206);
    expect(response.headers['content-range']).toBe(`bytes ${start}-${end - 1}/160000`);
    expect(SEGMENT.subarray(start, end).equals(response.body)).toBe(true);
  });

  test('416 beyond the end; the complete segment for a range of another version or unit', async () => {
    const beyond = await get(segment, { range: 'bytes=160000-' });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */160000']);
    expect((await get(segment, { range: 'bytes=0-9', 'if-range': '"other"' })).status).toBe(200);
    expect((await get(segment, { range: 'lines=0-9' })).status).toBe(200);
  });

  test('HEAD and 304 have no body', async () => {
    const head = await request(plane.url).head(`${hls}${segment}`);
    expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '160000', undefined]);
    expect((await get(segment, { 'if-none-match': String(head.headers.etag) })).status).toBe(304);
  });

  test('are never compressed', async () => {
    const response = await get(segment, { 'accept-encoding': 'gzip' });
    expect(response.headers).not.toHaveProperty('content-encoding');
  });

  test('are cached: players of one segment share a read, also at the same time', async () => {
    const { videoId } = await plane.readyVideo();
    const path = `/v1/hls/${plane.workspaceId}/${videoId}/360p/${SEQUENCE}.ts`;
    const key = segmentKey(
      { workspaceId: plane.workspaceId, videoId, attempt: 1, folder: FOLDER },
      '360p',
      SEQUENCE,
      'ts',
    );
    await plane.objects.put(key, SEGMENT, 'video/mp2t');
    const reads = jest.spyOn(plane.objects, 'get');
    const fetched = () => request(plane.url).get(path).responseType('blob');
    for (const response of [...(await Promise.all([1, 2, 3, 4].map(fetched))), await fetched()]) {
      expect(SEGMENT.equals(response.body)).toBe(true);
    }
    expect(reads.mock.calls.filter(([read]) => read === key)).toHaveLength(1);
    reads.mockRestore();

    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect((await fetched()).status).toBe(404);
  });

  test('are still read when the first player of several disconnects', async () => {
    const player = new AbortController();
    const storage = Promise.withResolvers<void>();
    const { get: read } = plane.objects;
    const { videoId } = await plane.readyVideo();
    const path = `/v1/hls/${plane.workspaceId}/${videoId}/360p/${SEQUENCE}.ts`;
    const key = segmentKey(
      { workspaceId: plane.workspaceId, videoId, attempt: 1, folder: FOLDER },
      '360p',
      SEQUENCE,
      'ts',
    );
    await plane.objects.put(key, SEGMENT, 'video/mp2t');
    const reads = jest.spyOn(plane.objects, 'get').mockImplementationOnce(async (...asked) => {
      player.abort();
      await storage.promise;
      return read.apply(plane.objects, asked);
    });
    await expect(fetch(`${plane.url}${path}`, { signal: player.signal })).rejects.toThrow('aborted');
    const second = fetch(`${plane.url}${path}`);
    // When this response arrives, the server has noticed the disconnect.
    await get('/master.m3u8');
    storage.resolve();
    expect(SEGMENT.equals(Buffer.from(await (await second).arrayBuffer()))).toBe(true);
    expect(reads).toHaveBeenCalledTimes(1);
    reads.mockRestore();
  });
});

describe('missing parts', () => {
  test.each(['/360p/4.ts', '/720p/index.m3u8', '/720p/0.ts'])('404 for %s', async (path) => {
    const response = await request(plane.url).get(`${hls}${path}`);
    expect([response.status, response.body.code]).toEqual([404, 'video_not_found']);
    expect(response.headers['access-control-allow-origin']).toBe('*');
  });

  test.each([
    '/360p/-1.ts',
    '/360p/1.5.ts',
    '/4k/index.m3u8',
    '/360p/99999999999999999999.ts',
    '/360p/0x1.ts',
    '/360p/00.ts',
  ])('an invalid path: %s', async (path) => {
    const response = await request(plane.url).get(`${hls}${path}`);
    expect([response.status, response.body.code]).toEqual([404, 'route_not_found']);
    expect(response.headers['access-control-allow-origin']).toBe('*');
  });

  test('404 under another workspace, and before the video is ready', async () => {
    const foreign = hls.replace(plane.workspaceId, newId('ws'));
    const { videoId } = await plane.ticket();
    const waiting = `/v1/hls/${plane.workspaceId}/${videoId}`;
    for (const base of [foreign, waiting]) {
      for (const part of ['/master.m3u8', '/360p/index.m3u8', '/360p/0.ts', '/key']) {
        expect((await request(plane.url).get(`${base}${part}`)).status).toBe(404);
      }
    }
  });

  test('a missing object of a segment is a 500 without its cause', async () => {
    const response = await request(plane.url).get(`${hls}/360p/0.ts`);
    expect(response.status).toBe(500);
    expect(response.body.code).toBe('internal_error');
    expect(response.body.detail).not.toContain('hls/');
    expect(response.headers['cache-control']).toBe('no-store');
  });
});

test('503 while the storage is unavailable, reported as the storage and not as the database', async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.9:9000'), { code: 'ECONNREFUSED' });
  jest.spyOn(plane.objects, 'get').mockRejectedValueOnce(refused);
  const response = await request(plane.url).get(`${hls}/360p/1.ts`);
  expect([response.status, response.body.code]).toEqual([503, 'unavailable']);
  expect(response.body.detail).toBe('The storage cannot be reached at the moment.');
  expect(response.headers['retry-after']).toBe('5');
  expect(response.headers['cache-control']).toBe('no-store');
});

test('a preflight succeeds', async () => {
  const response = await request(plane.url).options(`${hls}/360p/0.ts`).set({
    origin: 'https://player.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'range',
  });
  expect(response.status).toBe(204);
  expect(response.headers['access-control-allow-origin']).toBe('*');
});
