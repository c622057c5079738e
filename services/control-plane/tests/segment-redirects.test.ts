import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { SettingsError } from '@framelane/service-kit/settings';
import { expect, test } from '@jest/globals';
import request from 'supertest';
import { ControlPlane } from '../src/control-plane.ts';
import { startControlPlane } from './support/control-plane.ts';
import { LongVideos } from './support/long-videos.ts';
import { readSettings } from './support/settings.ts';

test('segments are redirected to an object store that presigns URLs', async () => {
  const plane = await startControlPlane(
    (config) => ({ ...config, playback: { mode: 'redirect', cdnUrl: undefined } }),
    { presign: async (key, seconds) => `https://objects.example/${key}?seconds=${seconds}` },
  );
  const { videoId } = await plane.readyVideo();
  const segment = `/v1/hls/${plane.workspaceId}/${videoId}/360p/3.ts`;

  const response = await request(plane.url).get(segment).set('range', 'bytes=0-9').redirects(0);
  expect(response.status).toBe(302);
  expect(response.headers).toMatchObject({
    location: `https://objects.example/hls/${plane.workspaceId}/${videoId}/a1/t0.1/360p/3.ts?seconds=3600`,
    'cache-control': 'public, max-age=1800',
    'access-control-allow-origin': '*',
  });
  const head = await request(plane.url).head(segment);
  expect([head.status, head.headers['content-length']]).toEqual([200, '160000']);
  expect((await request(plane.url).get(segment.replace('3.ts', '4.ts'))).status).toBe(404);

  const videos = new LongVideos(plane);
  const preview = await videos.previewed();
  const { piece } = preview;
  await videos.store(preview.videoId, piece, { rendition: '360p', sequence: 0, bytes: Buffer.alloc(16) });
  const path = `hls/${plane.workspaceId}/${preview.videoId}`;
  const redirect = await request(plane.url).get(`/v1/${path}/360p/0.ts`).redirects(0);
  expect(redirect.headers).toMatchObject({
    location: `https://objects.example/${path}/a1/t${piece.task}.1/360p/0.ts?seconds=3600`,
    'cache-control': 'no-store',
  });

  const { videoId: cmaf } = await plane.readyVideo('cmaf');
  const rendition = `hls/${plane.workspaceId}/${cmaf}/360p`;
  const ofCmaf = await request(plane.url).get(`/v1/${rendition}/3.m4s`).redirects(0);
  expect(ofCmaf.headers.location).toMatch(/\/a1\/t0\.1\/360p\/3\.m4s\?/);
  // It is no object.
  expect((await request(plane.url).get(`/v1/${rendition}/init.mp4`).redirects(0)).status).toBe(200);
  await plane.stop();
});

test('an object store that cannot presign URLs is refused before the start', () => {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const config = readSettings({
    SEGMENT_SERVING: 'redirect',
  });
  const deps = { bus: new InProcessBus({ logger }), objects: new FileObjectStore('/nowhere'), logger };
  const create = () => ControlPlane.create(config, deps);
  expect(create).toThrow(SettingsError);
  expect(create).toThrow(/^SEGMENT_SERVING: /);
});

test('segments have URLs of the CDN; playlists and the key do not', async () => {
  const plane = await startControlPlane((config) => ({
    ...config,
    playback: { mode: 'proxy', cdnUrl: 'https://cdn.example/media' },
  }));
  const { videoId } = await plane.readyVideo();
  const hls = `/v1/hls/${plane.workspaceId}/${videoId}`;
  const text = async (path: string) =>
    (await request(plane.url).get(path).responseType('blob')).body.toString() as string;
  expect(await text(`${hls}/master.m3u8`)).toMatch(/^360p\/index\.m3u8$/m);
  const media = await text(`${hls}/360p/index.m3u8`);
  expect(media).toContain('URI="../key"');
  expect(media.match(/^[^#].*$/gm)).toEqual(
    [0, 1, 2, 3].map((sequence) => `https://cdn.example/media${hls}/360p/${sequence}.ts`),
  );
  await plane.stop();
});
