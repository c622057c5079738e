import { randomBytes } from 'node:crypto';
import { type ClaimedClip, INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { segmentKey } from '@framelane/object-store/object-keys';
import { createLogger } from '@framelane/service-kit/logger';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { Metrics } from '../src/metrics/metrics.ts';
import { PreviewsService } from '../src/playback/previews.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { claimDerivation } from './support/derivations.ts';
import { type Claimed, LongVideos, STARTED } from './support/long-videos.ts';
import { FOLDER, type MadeVideo, sampleManifest } from './support/manifest.ts';
import { IMAGES, initializationOf } from './support/plan.ts';
import { readSettings } from './support/settings.ts';

let plane: TestControlPlane;
let videos: LongVideos;
beforeAll(async () => {
  plane = await startControlPlane();
  videos = new LongVideos(plane);
});
afterAll(() => plane.stop());

const post = (path: string, body: object, url = plane.url) =>
  request(url).post(`/v1${path}`).set(plane.credentials).send(body);
const record = async (videoId: string) =>
  (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;
const get = (videoId: string, path: string) =>
  request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/${path}`).responseType('blob');
const text = async (videoId: string, path: string): Promise<string> =>
  (await get(videoId, path)).body.toString();

/** What rendition `name` has stored in messages, as bytes. */
const header = (name: string) => Buffer.from(initializationOf(name, 'cmaf').initialization ?? '', 'base64');

/** A video whose file has arrived. */
async function processing(fields: object = {}): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', ...fields });
  const { sourceKey } = await plane.engine.upload(uploadToken);
  await plane.objects.put(sourceKey, Buffer.alloc(1_000_000), 'video/mp4');
  return videoId;
}

describe('the packaging of a video', () => {
  test.each([
    [{}, 'ts'],
    [{ packaging: 'ts' }, 'ts'],
    [{ packaging: 'cmaf' }, 'cmaf'],
  ])('by the ticket %j is that of the record and of the work of the engine', async (fields, packaging) => {
    const videoId = await processing(fields);
    expect(await record(videoId)).toMatchObject({ packaging });
    expect((await plane.engine.claim(videoId)).work).toMatchObject({ kind: 'plan', packaging });
  });

  test.each([
    [{}, 'ts'],
    [{ packaging: 'cmaf' }, 'cmaf'],
  ])('by the import %j', async (fields, packaging) => {
    const { status, body } = await post('/videos/import', {
      url: 'https://media.example.com/a.mp4',
      ...fields,
    });
    expect([status, body.packaging]).toEqual([202, packaging]);
  });

  test('is that of the installation unless the request says otherwise, and stays when the installation changes', async () => {
    const another = await plane.startAnother({ packaging: 'cmaf' });
    try {
      const ask = async (fields: object) => {
        const { body } = await post('/videos/upload-ticket', { filename: 'a.mp4', ...fields }, another.url);
        return (await record(body.videoId)).packaging;
      };
      expect([await ask({}), await ask({ packaging: 'ts' })]).toEqual(['cmaf', 'ts']);
    } finally {
      await another.stop();
    }
  });

  test.each(['mp4', '', 'TS', null, ['ts']])('%j is refused', async (packaging) => {
    for (const [path, own] of Object.entries({
      '/videos/upload-ticket': { filename: 'a.mp4' },
      '/videos/import': { url: 'https://media.example.com/a.mp4' },
    })) {
      const { status, body } = await post(path, { ...own, packaging });
      expect([status, body.errors?.[0]?.field]).toEqual([400, 'body/packaging']);
    }
  });

  test('cannot be changed', async () => {
    const { videoId } = await plane.readyVideo();
    const { status } = await request(plane.url)
      .patch(`/v1/videos/${videoId}`)
      .set(plane.credentials)
      .send({ packaging: 'cmaf' });
    expect(status).toBe(400);
  });

  test('stays through a retry', async () => {
    const videoId = await processing({ packaging: 'cmaf' });
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'transcode_failed' });
    expect((await post(`/videos/${videoId}/retry`, {})).status).toBe(202);
    expect((await plane.engine.claim(videoId)).work).toMatchObject({ packaging: 'cmaf' });
  });

  test('of a clip is that of its parent, whose initialization sections the engine gets', async () => {
    const { videoId } = await plane.readyVideo('cmaf');
    const { status, body } = await post(`/videos/${videoId}/clips`, { start: 3, end: 17.5 });
    expect([status, body.packaging]).toEqual([202, 'cmaf']);
    const claim = { videoId: body.id, command: 'clip', planVersion: PLAN_VERSION };
    const claimed = (await plane.engine.request(INTERNAL_PATHS.claimTask, claim)).body as ClaimedClip;
    expect(claimed.plan.encode.packaging).toBe('cmaf');
    expect(claimed.parent.tracks.map(({ name, initialization }) => ({ name, initialization }))).toEqual(
      ['360p', '480p', 'audio'].map((name) => ({ name, ...initializationOf(name, 'cmaf') })),
    );
  });

  test.each(['ts', 'cmaf'] as const)('%s is known to an engine that makes a download', async (packaging) => {
    const { videoId } = await plane.readyVideo(packaging);
    await post(`/videos/${videoId}/downloads`, { files: ['highest'] }).expect(202);
    const claimed = await claimDerivation(plane, videoId);
    expect(claimed.packaging).toBe(packaging);
    for (const { name, initialization } of claimed.tracks)
      expect({ initialization }).toEqual({ initialization: undefined, ...initializationOf(name, packaging) });
  });
});

test('the setting is ts or cmaf, and ts by default', () => {
  const read = (env: Record<string, string>) => readSettings(env).packaging;
  expect([read({}), read({ PACKAGING: 'ts' }), read({ PACKAGING: 'cmaf' })]).toEqual(['ts', 'ts', 'cmaf']);
  expect(() => read({ PACKAGING: 'mpeg-ts' })).toThrow('PACKAGING: must be ts or cmaf');
});

describe('a ready video in CMAF', () => {
  const SEGMENT = randomBytes(160_000);
  let videoId: string;
  beforeAll(async () => {
    const made = sampleManifest('cmaf');
    const [lowest] = made.renditions;
    const iFrames = { ...(lowest as MadeVideo['renditions'][number]), name: 'iframes' as const };
    videoId = await processing({ packaging: 'cmaf', playbackPolicy: 'signed' });
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, attempt, { ...made, iFrames });
    const output = { workspaceId: plane.workspaceId, videoId, attempt, folder: FOLDER };
    await plane.objects.put(segmentKey(output, '360p', 3, 'cmaf'), SEGMENT, 'video/mp4');
  });

  test('has playlists with the clear initialization section before the key', async () => {
    const { body } = await post(`/videos/${videoId}/playback-tokens`, {});
    const token = `token=${body.token}`;
    for (const rendition of ['360p', '480p', 'audio', 'iframes']) {
      const playlist = await text(videoId, `${rendition}/index.m3u8?${token}`);
      expect(playlist).toContain(
        `#EXT-X-MAP:URI="init.mp4"\n#EXT-X-KEY:METHOD=AES-128,URI="../key?${token}"\n#EXTINF:6.000000,\n0.m4s\n`,
      );
      expect(playlist.match(/^[^#].*$/gm)).toEqual(['0.m4s', '1.m4s', '2.m4s', '3.m4s']);
    }
  });

  test('has segments of its extension only, which need no token', async () => {
    const { status, headers, body } = await get(videoId, '360p/3.m4s');
    expect([status, headers['content-type'], SEGMENT.equals(body)]).toEqual([200, 'video/mp4', true]);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    for (const path of ['360p/3.ts', '360p/4.m4s', '720p/0.m4s'])
      expect([path, (await get(videoId, path)).status]).toEqual([path, 404]);
  });

  test('has initialization sections that need no token, and can be cached forever', async () => {
    for (const name of ['360p', '480p', 'audio']) {
      const { status, headers, body } = await get(videoId, `${name}/init.mp4`);
      expect([status, header(name).equals(body)]).toEqual([200, true]);
      expect(headers).toMatchObject({
        'content-type': 'video/mp4',
        'content-length': String(header(name).length),
        'cache-control': 'public, max-age=31536000, immutable',
        'access-control-allow-origin': '*',
        etag: expect.stringMatching(/^W\/"[^"]+"$/),
      });
    }
    expect(header('360p').equals((await get(videoId, 'iframes/init.mp4')).body)).toBe(true);
  });

  test('HEAD and 304 of an initialization section have no body', async () => {
    const path = `/v1/hls/${plane.workspaceId}/${videoId}/360p/init.mp4`;
    const head = await request(plane.url).head(path);
    expect([head.status, head.headers['content-length'], head.text]).toEqual([
      200,
      String(header('360p').length),
      undefined,
    ]);
    const known = await request(plane.url).get(path).set('if-none-match', String(head.headers.etag));
    expect([known.status, known.headers['cache-control']]).toEqual([
      304,
      'public, max-age=31536000, immutable',
    ]);
  });

  test.each(['720p/init.mp4', 'captions/init.mp4'])('has no %s', async (path) => {
    expect((await get(videoId, path)).status).toBe(404);
  });

  test('has nothing after its deletion', async () => {
    const { videoId: deleted } = await plane.readyVideo('cmaf');
    expect((await get(deleted, '360p/init.mp4')).status).toBe(200);
    await request(plane.url).delete(`/v1/videos/${deleted}`).set(plane.credentials).expect(204);
    for (const path of ['360p/init.mp4', '360p/index.m3u8', '360p/0.m4s'])
      expect([path, (await get(deleted, path)).status]).toEqual([path, 404]);
  });

  test('has segments and initialization sections at the CDN', async () => {
    const cdn = await plane.startAnother({
      playback: { mode: 'proxy', cdnUrl: 'https://cdn.example/media' },
    });
    try {
      const { videoId: shown } = await plane.readyVideo('cmaf');
      const hls = `/v1/hls/${plane.workspaceId}/${shown}/360p`;
      const { body } = await request(cdn.url).get(`${hls}/index.m3u8`).responseType('blob');
      expect(body.toString()).toContain(`#EXT-X-MAP:URI="https://cdn.example/media${hls}/init.mp4"\n`);
      expect(body.toString()).toContain(`\nhttps://cdn.example/media${hls}/0.m4s\n`);
    } finally {
      await cdn.stop();
    }
  });
});

test('a ready video in transport streams has neither CMAF segments nor initialization sections', async () => {
  const { videoId } = await plane.readyVideo();
  expect(await text(videoId, '360p/index.m3u8')).not.toContain('EXT-X-MAP');
  for (const path of ['360p/init.mp4', '360p/0.m4s'])
    expect([path, (await get(videoId, path)).status]).toEqual([path, 404]);
});

describe('the preview of a video in CMAF', () => {
  const started = (name: 'audio' | '360p', codecs: string) => ({
    [name]: { codecs, ...initializationOf(name, 'cmaf') },
  });
  const STARTED_CMAF = { audio: started('audio', 'mp4a.40.2'), piece: started('360p', 'avc1.64001e') };

  async function previewed() {
    const made = await videos.planned('public', 'cmaf');
    await videos.progress(made.videoId, made.audio, 0.1, STARTED_CMAF.audio);
    await videos.progress(made.videoId, made.piece, 0.9, STARTED_CMAF.piece);
    return made;
  }

  test('has playlists, initialization sections and segments, which are not cached', async () => {
    const { videoId, piece } = await previewed();
    expect(await text(videoId, 'master.m3u8')).toContain(
      'BANDWIDTH=1091200,AVERAGE-BANDWIDTH=1091200,CODECS="avc1.64001e,mp4a.40.2"',
    );
    for (const rendition of ['360p', 'audio'])
      expect(await text(videoId, `${rendition}/index.m3u8`)).toMatch(
        /#EXT-X-MAP:URI="init.mp4"\n#EXT-X-KEY:.*\n#EXTINF:\d\.000000,\n0\.m4s\n/,
      );
    const { status, headers, body } = await get(videoId, '360p/init.mp4');
    expect([status, headers['cache-control'], header('360p').equals(body)]).toEqual([200, 'no-store', true]);
    const bytes = randomBytes(2000);
    await videos.store(videoId, piece, { rendition: '360p', sequence: 0, bytes, packaging: 'cmaf' });
    const segment = await get(videoId, '360p/0.m4s');
    expect([segment.status, segment.headers['cache-control'], bytes.equals(segment.body)]).toEqual([
      200,
      'no-store',
      true,
    ]);
    for (const path of ['360p/0.ts', '720p/init.mp4'])
      expect([path, (await get(videoId, path)).status]).toEqual([path, 404]);
  });

  /** A preview whose video rendition has not started, as when an engine begins another rendition later. */
  async function withoutVideo() {
    const made = await videos.planned('public', 'cmaf');
    await plane.db
      .updateTable('videos')
      .set({ preview_variants: ['360p'] })
      .where('id', '=', made.videoId)
      .execute();
    return made;
  }

  test('waits for the initialization section of a rendition that has not started', async () => {
    const { videoId, piece } = await withoutVideo();
    const waiting = [get(videoId, '360p/init.mp4'), get(videoId, '360p/init.mp4')].map((response) =>
      response.then(),
    );
    // When this response arrives, the server has the two requests.
    await get(videoId, 'master.m3u8');
    await videos.progress(videoId, piece, 0.1, STARTED_CMAF.piece);
    for (const { status, body } of await Promise.all(waiting))
      expect([status, header('360p').equals(body)]).toEqual([200, true]);
  });

  test('responds with 503 for one that does not start before the timeout, and with 404 when its attempt ends', async () => {
    const { videoId, piece } = await withoutVideo();
    const { db, objects, workspaceId } = plane;
    const [logger, metrics] = [createLogger({ service: 'test', level: 'silent' }), new Metrics()];
    const previews = (waitMs: number) => new PreviewsService({ db, objects, logger, metrics, waitMs });
    const address = { workspaceId, videoId, rendition: '360p' } as const;
    await expect(previews(500).initialization(address)).rejects.toMatchObject({
      status: 503,
      options: { headers: { 'Retry-After': '5' } },
    });
    const patient = previews(600_000);
    expect(await patient.initialization({ ...address, rendition: '720p' })).toBeUndefined();
    const waiting = patient.initialization(address);
    const [code, message] = ['malformed_media', 'What went wrong.'] as const;
    const { attempt, task, try: number } = piece;
    const taskTry = { videoId, attempt, task, try: number };
    await plane.engine.report('task.failed', { ...taskTry, code, message, retryable: false });
    expect(await waiting).toBeUndefined();
  });

  test('has no initialization section in transport streams', async () => {
    const { videoId, audio } = await videos.previewed();
    await videos.progress(videoId, audio, 0.2, STARTED.audio);
    expect((await get(videoId, '360p/init.mp4')).status).toBe(404);
    expect((await get(videoId, '360p/0.m4s')).status).toBe(404);
  });

  test('ends when the video is ready, whose rows have the initialization sections of the results', async () => {
    const { videoId, audio, piece } = await previewed();
    const others = await videos.claim(videoId, 2);
    const images = { ...audio, task: IMAGES } as Claimed;
    await videos.complete(videoId, [audio, images, piece, ...others], 'cmaf');
    expect(await record(videoId)).toMatchObject({ status: 'ready', packaging: 'cmaf' });
    const { headers, body } = await get(videoId, 'audio/init.mp4');
    expect([headers['cache-control'], header('audio').equals(body)]).toEqual([
      'public, max-age=31536000, immutable',
      true,
    ]);
  });
});

test('bytes of CMAF count as segments in usage and metrics', async () => {
  const { videoId } = await plane.readyVideo('cmaf');
  const scrape = async () => {
    const response = await fetch(`${plane.engine.internalUrl}/metrics`);
    const found = /framelane_hls_response_bytes_total\{.*kind="segment".*\} (\d+)/.exec(
      await response.text(),
    );
    return Number(found?.[1] ?? 0);
  };
  const before = await scrape();
  await get(videoId, '360p/init.mp4');
  expect((await scrape()) - before).toBeGreaterThanOrEqual(header('360p').length);
});
