import { imageKey, segmentKey } from '@framelane/object-store/object-keys';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import request from 'supertest';
import { artifactPrefixes } from '../src/artifacts/artifacts.service.ts';
import type { ArtifactKind } from '../src/db/schema.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { makeDownload, makePicture } from './support/derivations.ts';
import { FOLDER, sampleManifest } from './support/manifest.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const api = (method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string) =>
  request(plane.url)[method](`/v1${path}`).set(plane.credentials).buffer();
const hls = (videoId: string, file: string) => `/hls/${plane.workspaceId}/${videoId}/${file}`;
const prefixesOf = (id: string) => artifactPrefixes(plane.db, { id, workspace_id: plane.workspaceId });

async function uploadedVideo(): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket();
  const { sourceKey } = await plane.engine.upload(uploadToken);
  await plane.objects.put(sourceKey, Buffer.alloc(1_000_000), 'video/mp4');
  return videoId;
}

/** Stores the objects of the first attempt at a video, and those of a try that is lost, and completes the attempt. */
async function transcode(videoId: string, manifest = sampleManifest()): Promise<void> {
  const { attempt } = await plane.engine.claim(videoId);
  const output = { workspaceId: plane.workspaceId, videoId, attempt, folder: FOLDER };
  for (const { name, segments } of manifest.renditions)
    for (const [sequence, { bytes }] of segments.entries())
      await plane.objects.put(segmentKey(output, name, sequence, 'ts'), Buffer.alloc(bytes), 'video/mp2t');
  for (const image of ['poster', 'storyboard'] as const) {
    const content = manifest[image] && Buffer.alloc(manifest[image].bytes);
    if (content) await plane.objects.put(imageKey(output, `${image}.jpg`), content, 'image/jpeg');
  }
  await plane.objects.put(
    segmentKey({ ...output, folder: 't0.9/' }, '360p', 0, 'ts'),
    Buffer.alloc(9),
    'video/mp2t',
  );
  await plane.engine.complete(videoId, attempt, manifest);
}

async function readyVideo(): Promise<string> {
  const videoId = await uploadedVideo();
  await transcode(videoId, { ...sampleManifest(), poster: null });
  return videoId;
}

/** Prepares a download as an engine does it. */
async function prepareDownload(videoId: string): Promise<void> {
  await api('post', `/videos/${videoId}/downloads`)
    .send({ files: ['480p'] })
    .expect(202);
  await makeDownload(plane, videoId, Buffer.alloc(4_000_000));
}

/** Asks for a picture, which an engine makes. */
async function askForPicture(videoId: string): Promise<void> {
  const asked = api('get', hls(videoId, 'thumbnail.jpg?time=2')).expect(200);
  await Promise.all([asked, makePicture(plane, videoId, Buffer.alloc(30_000))]);
}

const deleteVideo = (videoId: string) => api('delete', `/videos/${videoId}`).expect(204);
const ofAttempt = {
  begin: uploadedVideo,
  store: (videoId: string) => transcode(videoId),
  remove: deleteVideo,
};
const poster = jpegOf(640, 360, 700);
const webvtt = 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello\n';

/** For each kind: a video without it, how it is stored, how many bytes it then has, the path that serves it, and how it is removed. */
const CASES: Record<
  ArtifactKind,
  {
    begin: () => Promise<string>;
    store: (videoId: string) => Promise<unknown>;
    bytes: number;
    path: (videoId: string) => string;
    remove: (videoId: string) => Promise<unknown>;
  }
> = {
  source: {
    begin: uploadedVideo,
    store: async (videoId) => {
      const { attempt } = await plane.engine.claim(videoId);
      await plane.engine.fail(videoId, attempt);
    },
    bytes: 1_000_000,
    path: (videoId) => `/videos/${videoId}/source`,
    remove: (videoId) => api('delete', `/videos/${videoId}/source`).expect(204),
  },
  segments: { ...ofAttempt, bytes: 4_920_000, path: (videoId) => hls(videoId, '480p/2.ts') },
  poster: { ...ofAttempt, bytes: 40_000, path: (videoId) => hls(videoId, 'poster.jpg') },
  storyboard: { ...ofAttempt, bytes: 60_000, path: (videoId) => hls(videoId, 'storyboard.jpg') },
  download: {
    begin: readyVideo,
    store: prepareDownload,
    bytes: 4_000_000,
    path: (videoId) => hls(videoId, 'downloads/480p.mp4'),
    remove: (videoId) => api('delete', `/videos/${videoId}/downloads/480p`).expect(204),
  },
  picture: {
    begin: readyVideo,
    store: (videoId) => askForPicture(videoId),
    bytes: 30_000,
    path: (videoId) => hls(videoId, 'thumbnail.jpg?time=2'),
    remove: deleteVideo,
  },
  picked_poster: {
    begin: readyVideo,
    store: async (videoId) => {
      await api('patch', `/videos/${videoId}`).send({ posterTime: 3 }).expect(200);
      await makePicture(plane, videoId, Buffer.alloc(30_000));
    },
    bytes: 30_000,
    path: (videoId) => hls(videoId, 'poster.jpg'),
    remove: deleteVideo,
  },
  chosen_poster: {
    begin: readyVideo,
    store: (videoId) => api('put', `/videos/${videoId}/poster`).type('image/jpeg').send(poster).expect(200),
    bytes: poster.length,
    path: (videoId) => hls(videoId, 'poster.jpg'),
    remove: (videoId) => api('delete', `/videos/${videoId}/poster`).expect(204),
  },
  captions: {
    begin: readyVideo,
    store: (videoId) =>
      api('put', `/videos/${videoId}/captions/en`).type('text/vtt').send(webvtt).expect(201),
    bytes: webvtt.length,
    path: (videoId) => hls(videoId, 'captions/en/1/0.vtt'),
    remove: (videoId) => api('delete', `/videos/${videoId}/captions/en`).expect(204),
  },
};

/** The bytes of the artifacts of a video, by kind. */
async function bytesOf(videoId: string): Promise<Record<string, number>> {
  const rows = await plane.db
    .selectFrom('artifacts')
    .select(['kind', ({ fn }) => fn.sum<number>('bytes').as('bytes')])
    .where('video_id', '=', videoId)
    .groupBy('kind')
    .execute();
  return Object.fromEntries(rows.map(({ kind, bytes }) => [kind, Number(bytes)]));
}

const sum = (values: Record<string, number>) =>
  Object.values(values).reduce((total, each) => total + each, 0);

/** The stored bytes of the workspace, as usage and quotas count them. */
async function counted(): Promise<number> {
  const { body } = await api('get', '/auth/usage').expect(200);
  expect(body.limits.storedBytes.used).toBe(body.storageBytes);
  return body.storageBytes;
}

/** The objects of a video that belong to no artifact, and the artifacts without an object. */
async function differences(videoId: string): Promise<string[]> {
  const keys: string[] = [];
  for (const root of ['sources', 'hls'])
    for await (const { key } of plane.objects.list(`${root}/${plane.workspaceId}/${videoId}/`))
      keys.push(key);
  const prefixes = await prefixesOf(videoId);
  return [
    ...keys.filter((key) => !prefixes.some((prefix) => key.startsWith(prefix))),
    ...prefixes.filter((prefix) => !keys.some((key) => key.startsWith(prefix))),
  ];
}

test.each(Object.entries(CASES) as [ArtifactKind, (typeof CASES)[ArtifactKind]][])(
  'an artifact of the kind %s is counted, served and kept until it is removed and purged',
  async (kind, { begin, store, bytes, path, remove }) => {
    const before = await counted();
    const videoId = await begin();
    await store(videoId);
    const stored = await bytesOf(videoId);
    expect(stored[kind]).toBe(bytes);
    expect(await counted()).toBe(before + sum(stored));
    await until(async () => (await differences(videoId)).length === 0);

    const response = await api('get', path(videoId)).expect(200);
    expect(response.headers.etag).toBeDefined();
    await api('get', path(videoId)).set('If-None-Match', String(response.headers.etag)).expect(304);
    const beforeRemoval = await counted();
    await remove(videoId);
    expect(await bytesOf(videoId)).not.toHaveProperty(kind);
    expect(await counted()).toBeLessThanOrEqual(beforeRemoval - bytes);
    await until(async () => (await differences(videoId)).length === 0);
    await api('get', path(videoId)).expect(404);
  },
);
