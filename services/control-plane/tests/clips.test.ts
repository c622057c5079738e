import { newId } from '@framelane/contracts/ids';
import { type ClaimedClip, INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { MessageData } from '@framelane/contracts/messages';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { taskFolder } from '@framelane/object-store/object-keys';
import { pngOf } from '@framelane/test-kit/png';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { QuotasService } from '../src/quotas/quotas.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { tryOf } from './support/long-videos.ts';
import { sampleManifest } from './support/manifest.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, maintenanceSeconds: 1, purgeRepeatSeconds: 1 }));
});
afterAll(() => plane.stop());

const api = (method: 'get' | 'post' | 'put' | 'delete', path: string, at = plane) =>
  request(at.url)[method](`/v1${path}`).set(at.credentials);
const ask = (videoId: string, body: object, at = plane) =>
  api('post', `/videos/${videoId}/clips`, at).send(body);
const record = async (videoId: string) => (await api('get', `/videos/${videoId}`)).body;

async function readyVideo(manifest = sampleManifest(), at = plane): Promise<string> {
  const { videoId, uploadToken } = await at.ticket({ filename: 'a.mp4', title: 'Summer' });
  await at.engine.upload(uploadToken);
  const { attempt } = await at.engine.claim(videoId);
  await at.engine.complete(videoId, attempt, manifest);
  return videoId;
}

const tryClaim = (videoId: string) =>
  plane.engine.request(INTERNAL_PATHS.claimTask, { videoId, command: 'clip', planVersion: PLAN_VERSION });

async function claim(videoId: string): Promise<ClaimedClip> {
  const { status, body } = await tryClaim(videoId);
  if (status !== 200) throw new Error(`No clip: ${JSON.stringify(body)}`);
  return body as unknown as ClaimedClip;
}

/** What an engine makes of a claim: segments of 1000 bytes, where the plan has them. */
function resultOf({ plan, work, parent }: ClaimedClip): TaskResult {
  const rate = plan.encode.frameRate.numerator / plan.encode.frameRate.denominator;
  const zero = parent.startTimestamp / 90_000 + work.firstFrame / rate;
  return {
    renditions: parent.tracks.map(({ name, codecs }) => ({
      name,
      codecs,
      first: 0,
      segments: plan.segmentStarts.map((frame) => ({ start: zero + frame / rate, bytes: 1000 })),
    })),
    images: { poster: { bytes: 300 }, storyboard: null },
  };
}

async function complete(videoId: string): Promise<ClaimedClip> {
  const claimed = await claim(videoId);
  await plane.engine.report('task.completed', { ...tryOf(videoId, claimed), result: resultOf(claimed) });
  return claimed;
}

const fail = (videoId: string, claimed: ClaimedClip, failure: Partial<MessageData<'task.failed'>> = {}) =>
  plane.engine.report('task.failed', {
    ...tryOf(videoId, claimed),
    code: 'storage_failed',
    message: 'The object store could not be read or written. Retry the video later.',
    retryable: true,
    ...failure,
  });

describe('a clip of a ready video', () => {
  test('is a new video that an engine makes of the stored renditions', async () => {
    const parentId = await readyVideo();
    const { status, body, headers } = await ask(parentId, { start: 3.01, end: 17.5, title: 'The end' });
    expect(status).toBe(202);
    expect(headers.location).toBe(`http://framelane.test/v1/videos/${body.id}`);
    const clipOf = { videoId: parentId, start: 3, end: 17.52 };
    expect(body).toMatchObject({
      status: 'processing',
      title: 'The end',
      clipOf,
      source: null,
      audioOnly: false,
    });

    const claimed = await complete(body.id);
    expect(claimed.work).toEqual({
      kind: 'clip',
      firstFrame: 75,
      head: true,
      tail: true,
      segments: { '360p': { first: 0, end: 3 }, '480p': { first: 0, end: 3 }, audio: { first: 0, end: 3 } },
    });
    expect(claimed.plan.segmentStarts).toEqual([0, 75, 225]);
    expect(claimed.parent.contentKey).not.toBe(claimed.contentKey);
    const [lowest] = claimed.parent.tracks;
    const prefix = `hls/${plane.workspaceId}/${parentId}/a1/t0.1/`;
    expect(lowest).toMatchObject({
      name: '360p',
      codecs: 'avc1.64001e',
      places: [{ firstSegment: 0, prefix }],
    });
    expect(claimed.inputBytes).toBe(
      claimed.parent.tracks
        .flatMap(({ segmentBytes }) => segmentBytes.slice(0, 3))
        .reduce((a, b) => a + b, 0),
    );

    const ready = await record(body.id);
    expect(ready).toMatchObject({
      ...{
        status: 'ready',
        duration: 14.52,
        variants: ['360p', '480p'],
        width: 854,
        height: 480,
        frameRate: 25,
      },
      ...{ clipOf, storageBytes: 9300, inputIssues: [], sourceFile: { stored: false } },
      audioTracks: [{ name: 'English', language: 'en' }],
    });
    const playlist = await request(plane.url).get(`/v1/hls/${plane.workspaceId}/${body.id}/480p/index.m3u8`);
    expect([...playlist.text.matchAll(/EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds))).toEqual([
      3, 6, 5.52,
    ]);
  });

  test('can be made of a clip, also after the parent of that was deleted', async () => {
    const parentId = await readyVideo();
    const { body: clip } = await ask(parentId, { start: 3, end: 17 });
    await complete(clip.id);
    await api('delete', `/videos/${parentId}`).expect(204);
    expect((await record(clip.id)).status).toBe('ready');
    const { status, body } = await ask(clip.id, { start: 2, end: 5 });
    expect(status).toBe(202);
    const claimed = await complete(body.id);
    expect(claimed.parent.startTimestamp).toBe(1_026_000 + 3 * 90_000);
    expect(claimed.parent.tracks[0]?.places[0]?.prefix).toBe(
      `hls/${plane.workspaceId}/${clip.id}/a1/${taskFolder(0, 1)}`,
    );
    expect(await record(body.id)).toMatchObject({
      status: 'ready',
      duration: 3,
      clipOf: { videoId: clip.id },
    });
  });

  test('has the captions and the chapters of its part', async () => {
    const parentId = await readyVideo();
    const webvtt =
      'WEBVTT\n\n00:01.000 --> 00:02.000\nbefore\n\n00:04.000 --> 00:06.500 line:0\nacross\n\n00:08.000 --> 00:09.000\ninside\n';
    await api('put', `/videos/${parentId}/captions/de?label=Deutsch&default=true`)
      .set('Content-Type', 'text/vtt')
      .send(webvtt)
      .expect(201);
    await api('put', `/videos/${parentId}/captions/fr`)
      .set('Content-Type', 'text/vtt')
      .send('WEBVTT\n\n00:01.000 --> 00:02.000\navant\n')
      .expect(201);
    const chapters = [
      { start: 0, title: 'One' },
      { start: 7, title: 'Two' },
      { start: 12, title: 'Three' },
    ];
    await api('put', `/videos/${parentId}/chapters`).send({ chapters }).expect(200);
    const { body } = await ask(parentId, { start: 5, end: 10 });
    expect(body.captions).toMatchObject([
      { language: 'de', label: 'Deutsch', default: true, origin: 'person', cues: 2 },
    ]);
    const file = await api('get', `/videos/${body.id}/captions/de`).set('Accept', 'text/vtt').buffer();
    expect(file.text).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500 line:0\nacross\n\n00:00:03.000 --> 00:00:04.000\ninside\n',
    );
    await complete(body.id);
    expect((await api('get', `/videos/${body.id}/chapters`)).body.chapters).toEqual([
      { start: 0, title: 'One' },
      { start: 2, title: 'Two' },
    ]);
  });

  test('is played as its parent is, and has nothing else of its owner, unless the request says so', async () => {
    const ofOwner = { metadata: { a: 'b' }, tags: ['summer'], passthrough: '4711' };
    const { videoId, uploadToken } = await plane.ticket({
      filename: 'a.mp4',
      ...ofOwner,
      playbackPolicy: 'signed',
      allowedOrigins: ['https://a.example'],
    });
    await plane.engine.upload(uploadToken);
    await plane.engine.complete(videoId, (await plane.engine.claim(videoId)).attempt);
    const part = { start: 0, end: 5 };
    expect((await ask(videoId, part)).body).toMatchObject({
      ...{ title: 'a', playbackPolicy: 'signed', allowedOrigins: ['https://a.example'] },
      ...{ metadata: {}, tags: [], passthrough: null },
    });
    const own = { ...ofOwner, title: 'Own', playbackPolicy: 'public', allowedOrigins: [] };
    expect((await ask(videoId, { ...part, ...own })).body).toMatchObject(own);
    await ask(videoId, { ...part, playbackPolicy: 'everybody' }).expect(400);
  });

  test('has the watermark of its parent, also after the image was deleted', async () => {
    const { body: image } = await api('post', '/watermarks').type('image/png').send(pngOf(8, 8)).expect(201);
    const ticket = { filename: 'a.mp4', watermark: { image: image.id } };
    const { videoId, uploadToken } = await plane.ticket(ticket);
    await plane.engine.upload(uploadToken);
    await plane.engine.complete(videoId, (await plane.engine.claim(videoId)).attempt);
    await api('delete', `/watermarks/${image.id}`).expect(204);
    const { body } = await ask(videoId, { start: 0, end: 5 });
    await complete(body.id);
    const clip = await record(body.id);
    expect(clip).toMatchObject({ status: 'ready', watermark: { image: image.id, corner: 'top-right' } });
    expect(clip.watermark).toEqual((await record(videoId)).watermark);
  });

  test('of the last hours of a long video has their timestamps', async () => {
    const startTimestamp = 1_026_000 + 11 * 3600 * 90_000;
    const parentId = await readyVideo({ ...sampleManifest(), startTimestamp });
    const { body } = await ask(parentId, { start: 3, end: 17 });
    await complete(body.id);
    const { body: clip } = await ask(body.id, { start: 1, end: 5 });
    expect((await complete(clip.id)).parent.startTimestamp).toBe(startTimestamp + 3 * 90_000);
    expect((await record(clip.id)).status).toBe('ready');
  });

  test('has the frames nearest to its times, also if these are fewer than the shortest length has', async () => {
    const { body } = await ask(await readyVideo(), { start: 0.06, end: 0.16 }).expect(202);
    expect(body.clipOf).toMatchObject({ start: 0.08, end: 0.16 });
  });

  test('counts the seconds that are encoded, and not the others', async () => {
    const parentId = await readyVideo();
    const minutes = async () => (await api('get', '/auth/usage')).body.transcodedMinutes;
    const before = await minutes();
    const { body } = await ask(parentId, { start: 3, end: 13 });
    await complete(body.id);
    expect(Math.round(((await minutes()) - before) * 60 * 1000) / 1000).toBeCloseTo(4, 1);
  });
});

describe('a clip is refused', () => {
  test.each([
    [
      'beyond the end',
      { start: 3, end: 20.1 },
      'body/end',
      'must be at most 20, the duration of the video in seconds',
    ],
    [
      'that begins after the end',
      { start: 20, end: 22 },
      'body/start',
      'must be before the end of the video, at 20 seconds',
    ],
    [
      'that begins nearer to the end than to a frame',
      { start: 19.99, end: 20 },
      'body/end',
      'must be at least 0.1 seconds after start',
    ],
    ['with a negative time', { start: -1, end: 5 }, 'body/start', 'must be at least 0'],
    ['that ends before it begins', { start: 5, end: 4 }, 'body/end', 'must be after start'],
    ['without a length', { start: 5, end: 5 }, 'body/end', 'must be after start'],
    ['shorter than a frame', { start: 5, end: 5.01 }, 'body/end', 'must be at least 0.1 seconds after start'],
    ['with NaN', { start: null, end: 5 }, 'body/start', 'must be a number'],
    ['with a text', { start: 'NaN', end: 5 }, 'body/start', 'must be a number'],
  ])('%s', async (_, body, field, message) => {
    const response = await ask(await readyVideo(), body);
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
    expect(response.body.errors).toMatchObject([{ field, message }]);
  });

  test('of a video that is not ready', async () => {
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4' });
    expect((await ask(videoId, { start: 0, end: 1 })).body.code).toBe('video_not_ready');
    await plane.engine.upload(uploadToken);
    const { status, body } = await ask(videoId, { start: 0, end: 1 });
    expect([status, body.code]).toEqual([409, 'video_not_ready']);
    expect(body.detail).toBe('Clips can be made of a video that is ready; this one is processing.');
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'transcode_failed' });
    expect((await ask(videoId, { start: 0, end: 1 })).body).toMatchObject({
      status: 409,
      code: 'video_failed',
    });
  });

  test('of a video that was deleted, or of another workspace', async () => {
    const parentId = await readyVideo();
    await api('delete', `/videos/${parentId}`).expect(204);
    expect((await ask(parentId, { start: 0, end: 1 })).body.code).toBe('video_not_found');
  });
});

describe('a clip without room', () => {
  let own: TestControlPlane;
  beforeAll(async () => {
    own = await startControlPlane();
  });
  afterAll(() => own.stop());

  test('is refused, with what a clip that waits will store', async () => {
    const parentId = await readyVideo(sampleManifest(), own);
    const { storageBytes } = (await api('get', `/videos/${parentId}`, own)).body;
    const quotas = new QuotasService({ db: own.db });
    // Video and audio of the first segment of each rendition.
    await quotas.set(own.workspaceId, { storedBytes: storageBytes + 3_000_000 });
    const first = await ask(parentId, { start: 0, end: 5 }, own);
    expect(first.status).toBe(202);
    expect((await ask(parentId, { start: 0, end: 5 }, own)).status).toBe(202);
    const { status, body } = await ask(parentId, { start: 0, end: 14 }, own);
    expect([status, body.code, body.quota]).toEqual([403, 'quota_exceeded', 'storedBytes']);
    await quotas.set(own.workspaceId, { storedBytes: null, videos: 3 });
    expect((await ask(parentId, { start: 0, end: 5 }, own)).body.quota).toBe('videos');
    await quotas.set(own.workspaceId, { videos: null, transcodedMinutes: 0 });
    expect((await ask(parentId, { start: 0, end: 5 }, own)).body.quota).toBe('transcodedMinutes');
  });
});

describe('a clip whose parent is deleted while it is made', () => {
  test('fails with a reason, and what its engine reports changes nothing', async () => {
    const parentId = await readyVideo();
    const { body: waiting } = await ask(parentId, { start: 0, end: 5 });
    const { body: running } = await ask(parentId, { start: 0, end: 5 });
    const claimed = await claim(running.id);
    await api('delete', `/videos/${parentId}`).expect(204);
    for (const { id } of [waiting, running]) {
      expect(await record(id)).toMatchObject({
        status: 'failed',
        error: {
          code: 'clip_source_deleted',
          message: 'The video of this clip was deleted before the clip was ready.',
        },
        retryable: false,
      });
      const retry = await api('post', `/videos/${id}/retry`);
      expect([retry.status, retry.body.code]).toEqual([409, 'source_not_available']);
      expect(retry.body.detail).toBe('The video of this clip was deleted. Make a clip of another video.');
    }
    await plane.engine.report('task.completed', { ...tryOf(running.id, claimed), result: resultOf(claimed) });
    expect((await record(running.id)).status).toBe('failed');
    expect((await tryClaim(waiting.id)).body.code).toBe('task_not_claimable');
  });
});

test('a video has at most 100 unfinished clips, which its deletion ends', async () => {
  const parentId = await readyVideo();
  const prefix = newId('vid');
  await sql`
    with inserted as (
      insert into videos (id, workspace_id, environment, title, filename, status)
      select ${prefix} || n, ${plane.workspaceId}, 'live', 'Clip', 'a.mp4', 'processing' from generate_series(1, 99) n
      returning id
    )
    insert into clips (video_id, parent_id, first_frame, frames, starts_at, ends_at, stored_bytes, disk_bytes)
    select id, ${parentId}, 0, 25, 0, 1, 1, 1 from inserted`.execute(plane.db);
  const part = { start: 0, end: 5 };
  const { body: last } = await ask(parentId, part).expect(202);
  const { status, body, headers } = await ask(parentId, part);
  expect([status, body.code, headers['retry-after']]).toEqual([429, 'rate_limited', '10']);
  expect(body.detail).toBe('100 clips of this video are not ready yet: no more at a time. Retry in 10 s.');
  await complete(last.id);
  await ask(parentId, part).expect(202);
  await api('delete', `/videos/${parentId}`).expect(204);
  const unfinished = plane.db
    .selectFrom('clips')
    .innerJoin('videos', 'id', 'video_id')
    .select('id')
    .where('parent_id', '=', parentId)
    .where('status', '=', 'processing');
  expect(await unfinished.execute()).toEqual([]);
});

describe('a clip that fails', () => {
  test('is tried again with another key, fails after three tries, and can be retried while its parent exists', async () => {
    const parentId = await readyVideo();
    const { body } = await ask(parentId, { start: 0, end: 5 });
    const keys = new Set<string>();
    for (let tries = 0; tries < 3; tries += 1) {
      let claimed: ClaimedClip | undefined;
      await until(async () => {
        const response = await tryClaim(body.id);
        if (response.status === 200) claimed = response.body as unknown as ClaimedClip;
        return claimed !== undefined;
      });
      if (claimed === undefined) throw new Error('unreachable');
      keys.add(claimed.contentKey);
      await fail(body.id, claimed);
    }
    expect(keys.size).toBe(3);
    expect(await record(body.id)).toMatchObject({
      status: 'failed',
      error: { code: 'storage_failed' },
      retryable: true,
    });
    await api('post', `/videos/${body.id}/retry`).expect(202);
    await complete(body.id);
    expect(await record(body.id)).toMatchObject({ status: 'ready', retryable: false });
  });
});
