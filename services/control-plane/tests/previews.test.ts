import { randomBytes } from 'node:crypto';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { PLANNING_TASK } from '@framelane/contracts/outputs/tasks';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { ObjectNotFoundError } from '@framelane/object-store/object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import { Metrics } from '../src/metrics/metrics.ts';
import { PreviewsService } from '../src/playback/previews.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { type Claimed, LongVideos, STARTED, tryOf } from './support/long-videos.ts';
import { IMAGES, samplePlan } from './support/plan.ts';

let plane: TestControlPlane;
let videos: LongVideos;
beforeAll(async () => {
  plane = await startControlPlane();
  videos = new LongVideos(plane);
});
afterAll(() => plane.stop());

async function video(videoId: string) {
  return (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;
}

const get = (videoId: string, path: string) =>
  request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/${path}`).responseType('blob');

async function text(videoId: string, path: string): Promise<string> {
  const { status, body } = await get(videoId, path);
  expect([path, status]).toEqual([path, 200]);
  return body.toString();
}

/** The measured times from an upload to the first preview, in seconds. */
async function delays(): Promise<{ count: number; sum: number }> {
  const { series } = await PrometheusText.scrape(`${plane.engine.internalUrl}/metrics`);
  const [count = 0, sum = 0] = ['count', 'sum'].map((name) =>
    series.get(`framelane_video_preview_delay_seconds_${name}`),
  );
  return { count, sum };
}

describe('the preview of a long video', () => {
  test('is offered when its first segments are stored and engines keep ahead, and ends when the video is ready', async () => {
    const { videoId, audio, piece } = await videos.planned();
    await videos.progress(videoId, piece, 0.9, STARTED.piece);
    expect(await video(videoId)).toMatchObject({ status: 'processing', preview: null });
    expect((await get(videoId, 'master.m3u8')).status).toBe(404);
    expect((await get(videoId, 'key')).status).toBe(404);
    const uploaded = new Date(Date.now() - 1_000_000);
    await plane.db.updateTable('videos').set({ uploaded_at: uploaded }).where('id', '=', videoId).execute();
    const before = await delays();
    await videos.progress(videoId, audio, 0.1, STARTED.audio);
    const after = await delays();
    expect(after.count - before.count).toBe(1);
    expect(after.sum - before.sum).toBeGreaterThanOrEqual(1000);
    expect(after.sum - before.sum).toBeLessThan(1300);
    const hls = expect.stringMatching(`/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8$`);
    expect(await video(videoId)).toMatchObject({
      status: 'processing',
      preview: { hls, variants: ['360p'] },
    });
    expect((await video(videoId)).hls).toBeUndefined();
    // Two pieces are not claimed yet.
    const others = await videos.claim(videoId, 2);
    await videos.complete(videoId, [audio, { ...audio, task: IMAGES }, piece, ...others]);
    expect(await video(videoId)).toMatchObject({ status: 'ready', preview: null, hls });
  });

  test('changes the ETag of the record', async () => {
    const { videoId, audio, piece } = await videos.planned();
    await videos.progress(videoId, piece, 0.9, STARTED.piece);
    const read = () => request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials);
    const { etag } = (await read()).headers;
    await videos.progress(videoId, audio, 0, STARTED.audio);
    expect((await read().set('if-none-match', String(etag))).status).toBe(200);
  });

  test('has complete playlists that are not cached, and its key', async () => {
    const { videoId } = await videos.previewed();
    const master = await get(videoId, 'master.m3u8');
    expect(master.headers['cache-control']).toBe('private, no-store');
    const lines = master.body.toString();
    expect(lines).toContain(
      'BANDWIDTH=1091200,AVERAGE-BANDWIDTH=1091200,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360',
    );
    expect(lines).toContain('NAME="Deutsch",LANGUAGE="de"');
    const durations = { '360p': [6, 6, 6, 6, 6, 6], audio: [2, 2, 4, 6, 6, 6, 6, 4] };
    for (const [rendition, seconds] of Object.entries(durations)) {
      const playlist = await text(videoId, `${rendition}/index.m3u8`);
      const entries = [...playlist.matchAll(/^#EXTINF:(\d)\.000000,\n(\d)\.ts$/gm)];
      expect(entries.map((entry) => entry.slice(1).map(Number))).toEqual(
        [...seconds.entries()].map(([at, each]) => [each, at]),
      );
      expect(playlist).toContain('#EXT-X-PLAYLIST-TYPE:VOD');
      expect(playlist.trimEnd()).toMatch(/#EXT-X-ENDLIST$/);
    }
    expect((await get(videoId, 'key')).body).toHaveLength(16);
    expect((await get(videoId, '720p/index.m3u8')).status).toBe(404);
    for (const image of ['poster.jpg', 'storyboard.jpg', 'storyboard.vtt'])
      expect((await get(videoId, image)).status).toBe(404);
  });

  test('serves the segments that are stored, and waits for those that are not', async () => {
    const { videoId, piece } = await videos.previewed();
    const bytes = randomBytes(2000);
    await videos.store(videoId, piece, { rendition: '360p', sequence: 0, bytes });
    const stored = await get(videoId, '360p/0.ts');
    expect([stored.status, stored.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(bytes.equals(stored.body)).toBe(true);
    // Two viewers wait for one segment.
    const waiting = [get(videoId, '360p/1.ts'), get(videoId, '360p/1.ts')].map((response) => response.then());
    await get(videoId, '360p/0.ts');
    await videos.store(videoId, piece, { rendition: '360p', sequence: 1, bytes });
    for (const { status, body } of await Promise.all(waiting)) {
      expect([status, bytes.equals(body)]).toEqual([200, true]);
    }
  });

  test('responds with 503 for a segment that is not stored before the timeout, and with 404 for an unplanned segment', async () => {
    const { videoId } = await videos.previewed();
    expect((await get(videoId, '360p/6.ts')).status).toBe(404);
    const { db, objects, workspaceId } = plane;
    const [logger, metrics] = [createLogger({ service: 'test', level: 'silent' }), new Metrics()];
    const previews = new PreviewsService({ db, objects, logger, metrics, waitMs: 500 });
    const address = { workspaceId, videoId, rendition: '360p', sequence: 5, packaging: 'ts' } as const;
    await expect(previews.segment(address)).rejects.toMatchObject({
      status: 503,
      options: { headers: { 'Retry-After': '5' } },
    });
  });

  test('responds with 503 at once if too many requests wait, but serves stored segments', async () => {
    const { videoId, piece } = await videos.previewed();
    await videos.store(videoId, piece, { rendition: '360p', sequence: 0, bytes: randomBytes(16) });
    const { db, objects, workspaceId } = plane;
    const [logger, metrics] = [createLogger({ service: 'test', level: 'silent' }), new Metrics()];
    const previews = new PreviewsService({ db, objects, logger, metrics, waitMs: 600_000, maxWaits: 1 });
    const address = { workspaceId, videoId, rendition: '360p', sequence: 0, packaging: 'ts' } as const;
    // One of the two waits. The other one is refused.
    const missing = [4, 5].map((sequence) => previews.segment({ ...address, sequence }));
    await expect(Promise.race(missing)).rejects.toMatchObject({ status: 503 });
    expect(await previews.segment(address)).toMatchObject({ bytes: 16 });
    expect(await previews.segment({ ...address, sequence: 6 })).toBeUndefined();
    // The deletion ends the wait.
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect(await Promise.allSettled(missing)).toContainEqual({ status: 'fulfilled', value: undefined });
  });

  test('keeps the error of the object store as the cause', async () => {
    const { videoId } = await videos.previewed();
    const { db, workspaceId } = plane;
    const broken = new Error('The store is down');
    const [logger, metrics] = [createLogger({ service: 'test', level: 'silent' }), new Metrics()];
    const objects = { head: () => Promise.reject(broken) };
    const previews = new PreviewsService({ db, objects, logger, metrics, waitMs: 100 });
    const address = { workspaceId, videoId, rendition: '360p', sequence: 0, packaging: 'ts' } as const;
    await expect(previews.segment(address)).rejects.toMatchObject({
      status: 503,
      options: { cause: broken },
    });
  });

  test('serves segments that the try of a killed engine has stored', async () => {
    const { videoId, piece } = await videos.previewed();
    const bytes = randomBytes(2000);
    await videos.store(videoId, piece, { rendition: '360p', sequence: 0, bytes });
    const { attempt, task } = piece;
    await plane.db
      .updateTable('tasks')
      .set({ tries: piece.try + 1 })
      .where('video_id', '=', videoId)
      .where('attempt', '=', attempt)
      .where('number', '=', task)
      .execute();
    const ofKilled = await get(videoId, '360p/0.ts');
    expect(bytes.equals(ofKilled.body)).toBe(true);
    // The next try stores another object, so a client must not continue a partial one with it.
    await videos.store(
      videoId,
      { ...piece, try: piece.try + 1 },
      { rendition: '360p', sequence: 0, bytes: randomBytes(2000) },
    );
    expect((await get(videoId, '360p/0.ts')).headers.etag).not.toBe(ofKilled.headers.etag);
  });

  test('responds with 503 for a segment that is removed during the request', async () => {
    const { videoId, piece } = await videos.previewed();
    await videos.store(videoId, piece, { rendition: '360p', sequence: 0, bytes: randomBytes(16) });
    const read = jest.spyOn(plane.objects, 'get').mockImplementation(async (key) => {
      throw new ObjectNotFoundError(key);
    });
    const { status } = await get(videoId, '360p/0.ts');
    read.mockRestore();
    expect(status).toBe(503);
  });

  test('serves a waiting request from the video that is ready meanwhile', async () => {
    const { videoId, audio, piece } = await videos.previewed();
    const waiting = get(videoId, '360p/2.ts').then();
    const others = await videos.claim(videoId, 2);
    const bytes = randomBytes(1032);
    await videos.store(videoId, others[0] as Claimed, { rendition: '360p', sequence: 2, bytes });
    await videos.complete(videoId, [audio, { ...audio, task: IMAGES }, piece, ...others]);
    const { status, body } = await waiting;
    expect([status, bytes.equals(body)]).toEqual([200, true]);
    expect((await get(videoId, '360p/2.ts')).headers['cache-control']).toContain('immutable');
  });

  test.each(['the attempt fails', 'the video is deleted'])('ends when %s', async (cause) => {
    const { videoId, piece } = await videos.previewed();
    await videos.store(videoId, piece, { rendition: '360p', sequence: 0, bytes: randomBytes(16) });
    const waiting = get(videoId, '360p/5.ts').then();
    if (cause === 'the attempt fails') {
      const [code, message] = ['malformed_media', 'What went wrong.'] as const;
      await plane.engine.report('task.failed', { ...tryOf(videoId, piece), code, message, retryable: false });
      expect((await video(videoId)).preview).toBeNull();
    } else await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect((await waiting).status).toBe(404);
    for (const path of ['master.m3u8', '360p/index.m3u8', '360p/0.ts', 'key']) {
      expect([path, (await get(videoId, path)).status]).toEqual([path, 404]);
    }
  });

  test('of a signed video needs its token', async () => {
    const { videoId } = await videos.previewed('signed');
    expect((await get(videoId, 'master.m3u8')).status).toBe(401);
    expect((await get(videoId, 'key')).status).toBe(401);
    const { body } = await request(plane.url)
      .post(`/v1/videos/${videoId}/playback-tokens`)
      .set(plane.credentials);
    const token = `token=${body.token}`;
    expect(await text(videoId, `master.m3u8?${token}`)).toContain(`360p/index.m3u8?${token}`);
    expect(await text(videoId, `360p/index.m3u8?${token}`)).toContain(`URI="../key?${token}"`);
    expect((await get(videoId, `key?${token}`)).status).toBe(200);
  });

  test('is shown by the player page', async () => {
    const { videoId } = await videos.previewed();
    const { body } = await request(plane.url).get(`/v1/embed/${plane.workspaceId}/${videoId}/state`);
    const hls = `/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8`;
    const tasks = { total: 5, completed: 0, running: 3 };
    expect(body).toMatchObject({ status: 'preparing', hls, attempt: 1, tasks });
  });
});

describe('the preview of a short video', () => {
  const WHOLE = { attempt: 1, task: PLANNING_TASK, try: 1 };
  const EVERYTHING = { ...STARTED.piece, ...STARTED.audio };
  const plan = (changes: Partial<TranscodePlan> = {}) => ({ ...samplePlan(), tasks: [], ...changes });

  async function planned(): Promise<string> {
    const { engine } = plane;
    const { videoId, uploadToken } = await plane.ticket({ filename: 'short.mp4', playbackPolicy: 'public' });
    await engine.upload(uploadToken);
    await engine.claim(videoId);
    await engine.storePlan(videoId, 1, plan());
    return videoId;
  }

  test('is offered when all first segments are stored, and serves those of the only task', async () => {
    const videoId = await planned();
    await videos.progress(videoId, WHOLE, 0.1, STARTED.piece);
    expect((await video(videoId)).preview).toBeNull();
    await videos.progress(videoId, WHOLE, 0.1, EVERYTHING);
    expect((await video(videoId)).preview).toMatchObject({ variants: ['360p'] });
    const bytes = randomBytes(2000);
    for (const rendition of ['360p', 'audio'])
      await videos.store(videoId, WHOLE, { rendition, sequence: 0, bytes });
    expect(bytes.equals((await get(videoId, '360p/0.ts')).body)).toBe(true);
    expect(bytes.equals((await get(videoId, 'audio/0.ts')).body)).toBe(true);
  });

  test('ends with its plan', async () => {
    const videoId = await planned();
    await videos.progress(videoId, WHOLE, 0.1, EVERYTHING);
    expect(await text(videoId, '360p/index.m3u8')).toContain('#EXTINF:6.000000,');
    await plane.engine.storePlan(videoId, 1, plan({ revision: 1 }));
    // A late report, and a late repeat of the first plan.
    await videos.progress(videoId, WHOLE, 0.1, EVERYTHING);
    const late = { videoId, ...WHOLE, plan: plan() };
    expect((await plane.engine.request(INTERNAL_PATHS.storePlan, late)).status).toBe(409);
    expect((await video(videoId)).preview).toBeNull();
    expect((await get(videoId, '360p/index.m3u8')).status).toBe(404);
    expect((await get(videoId, '360p/0.ts')).status).toBe(404);
  });
});
