import { type ClaimedClip, type ClaimedTask, INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { segmentKey, taskFolder } from '@framelane/object-store/object-keys';
import { pngOf } from '@framelane/test-kit/png';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { storedSource } from '../src/artifacts/artifacts.service.ts';
import { planWithCodecs, resultOfPiece } from './support/codecs.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { claimDerivation } from './support/derivations.ts';
import { tryOf } from './support/long-videos.ts';
import { planOf, resultOfWhole, sampleManifest } from './support/manifest.ts';
import { AUDIO, IMAGES, PIECES, resultOf } from './support/plan.ts';
import { readSettings } from './support/settings.ts';

/** The seconds of the sample, and the bytes of its H.264 segments and of those of a codec. */
const SECONDS = 36;
const PLAIN_BYTES = 6 * 1000 + 16 * 15;
const CODEC_BYTES = 6 * 500 + 15;

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, maintenanceSeconds: 1, purgeRepeatSeconds: 1 }));
  const events = ['video.ready', 'video.failed', 'video.codec.ready', 'video.codec.failed'];
  await api('post', '/webhooks').send({ url: 'https://example.com/hook', events }).expect(201);
});
afterAll(() => plane.stop());
afterEach(() => plane.db.deleteFrom('quotas').execute());

const api = (method: 'get' | 'post' | 'put' | 'delete', path: string) =>
  request(plane.url)[method](`/v1${path}`).set(plane.credentials);
const record = async (videoId: string) => (await api('get', `/videos/${videoId}`).expect(200)).body;
const master = async (videoId: string) =>
  (await api('get', `/hls/${plane.workspaceId}/${videoId}/master.m3u8`).expect(200)).text;
const playlist = (videoId: string, rendition: string) =>
  api('get', `/hls/${plane.workspaceId}/${videoId}/${rendition}/index.m3u8`);
const minutes = async () => (await api('get', '/auth/usage').expect(200)).body.transcodedMinutes;
const tasksOf = (videoId: string) =>
  plane.db.selectFrom('tasks').selectAll().where('video_id', '=', videoId).orderBy('number').execute();
const states = async (videoId: string) =>
  (await record(videoId)).codecs.map(
    ({ codec, status, error }: { codec: string; status: string; error: { code: string } | null }) =>
      [codec, status, error?.code].filter(Boolean).join(' '),
  );

/** The events of a video, in order. */
async function eventsOf(videoId: string): Promise<string[]> {
  const rows = await plane.db.selectFrom('webhook_events').selectAll().orderBy('id').execute();
  return rows
    .map(({ type, payload }) => ({ type, data: JSON.parse(String(payload)).data }))
    .filter(({ data }) => data.id === videoId)
    .map(({ type, data: { codec } }) => [type, codec?.codec, codec?.error?.code].filter(Boolean).join(' '));
}

const tryClaim = (videoId: string, command = 'background', planVersion = PLAN_VERSION) =>
  plane.engine.request(INTERNAL_PATHS.claimTask, { videoId, command, planVersion });

async function claim(videoId: string, command = 'background'): Promise<ClaimedTask> {
  const { status, body } = await tryClaim(videoId, command);
  expect([status, body.code]).toEqual([200, undefined]);
  return body as ClaimedTask;
}

const complete = (videoId: string, claimed: ClaimedTask, result: TaskResult = resultOfPiece(claimed)) =>
  plane.engine.report('task.completed', { ...tryOf(videoId, claimed), result });

const fail = (videoId: string, claimed: ClaimedTask, retryable = false) =>
  plane.engine.report('task.failed', {
    ...tryOf(videoId, claimed),
    code: 'internal_error',
    message: 'What went wrong.',
    retryable,
  });

/** Key of a segment that a try stores. */
function keyOf(videoId: string, { attempt, task, try: tryNumber, work }: ClaimedTask): string {
  if (!('codec' in work)) throw new Error('Not a part of a codec');
  const output = { workspaceId: plane.workspaceId, videoId, attempt, folder: taskFolder(task, tryNumber) };
  return segmentKey(output, `360p-${work.codec}`, work.firstSegment, 'cmaf');
}

async function store(videoId: string, claimed: ClaimedTask): Promise<string> {
  const key = keyOf(videoId, claimed);
  await plane.objects.put(key, Buffer.alloc(500 + Number(key.match(/(\d+)\.m4s$/)?.[1])), 'video/mp4');
  return key;
}

const isStored = async (key: string) => (await plane.objects.head(key)) !== null;

/** A video in H.264 whose other codecs no engine has begun. */
async function readyVideo(
  codecs: readonly AlternativeCodec[],
  { planned = codecs, ...fields }: Record<string, unknown> & { planned?: readonly AlternativeCodec[] } = {},
): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'long.mkv', codecs, ...fields });
  await plane.engine.upload(uploadToken);
  expect((await plane.engine.claim(videoId)).work).toMatchObject({ packaging: 'cmaf', codecs });
  expect(await plane.engine.storePlan(videoId, 1, planWithCodecs(planned))).toBe(204);
  for (const task of [AUDIO, IMAGES, ...PIECES])
    await complete(videoId, await claim(videoId, 'task'), resultOf(task, 'cmaf'));
  return videoId;
}

async function completeAll(videoId: string, count: number = PIECES.length): Promise<ClaimedTask[]> {
  const claimed: ClaimedTask[] = [];
  for (let at = 0; at < count; at += 1) {
    const next = await claim(videoId);
    await complete(videoId, next);
    claimed.push(next);
  }
  return claimed;
}

describe('a request with codecs', () => {
  test.each([
    [{}, 'ts', []],
    [{ codecs: ['h264'], hdr: 'sdr' }, 'ts', []],
    [{ codecs: ['hevc', 'h264', 'av1'] }, 'cmaf', ['av1', 'hevc']],
    [{ codecs: ['av1'], packaging: 'cmaf' }, 'cmaf', ['av1']],
  ])('%j: has the packaging %s, and the others %j', async (body, packaging, others) => {
    const { videoId } = await plane.ticket({ filename: 'a.mp4', ...body });
    const expected = ['h264', ...others].map((codec) => ({ codec, status: 'preparing', error: null }));
    const found = await record(videoId);
    expect(found).toMatchObject({ packaging, codecs: expected });
    expect(found).not.toHaveProperty('renditions');
    const imported = await api('post', '/videos/import').send({ url: 'https://example.com/a.mp4', ...body });
    expect(imported.body).toMatchObject({ packaging, codecs: expected });
  });

  test.each([
    [{ codecs: ['av1'], packaging: 'ts' }, 'body/packaging', /^must be cmaf or absent/],
    [{ codecs: ['av1'], audioOnly: true }, 'body/codecs', /^must be absent with audioOnly/],
    [{ codecs: ['av1', 'av1'] }, 'body/codecs', /twice/],
    [{ codecs: ['vp9'] }, 'body/codecs/0', /h264, av1, hevc/],
    [{ hdr: 'keep' }, 'body/hdr', /^must be sdr or absent without further codecs: name av1 or hevc/],
    [{ codecs: ['h264'], hdr: 'keep' }, 'body/hdr', /without further codecs/],
    [{ audioOnly: true, hdr: 'keep' }, 'body/hdr', /with audioOnly/],
    [{ codecs: ['av1'], hdr: 'pq' }, 'body/hdr', /sdr, keep/],
  ])('%j is refused', async (body, field, message) => {
    for (const [to, own] of [
      ['/videos/upload-ticket', { filename: 'a.mp4' }],
      ['/videos/import', { url: 'https://example.com/a.mp4' }],
    ] as const) {
      const response = await api('post', to).send({ ...own, ...body });
      expect([to, response.status]).toEqual([to, 400]);
      expect(response.body.errors).toMatchObject([{ field, message: expect.stringMatching(message) }]);
    }
  });
});

describe('high dynamic range', () => {
  test.each([
    [{ codecs: ['av1'] }, 'sdr'],
    [{ codecs: ['av1'], hdr: 'sdr' }, 'sdr'],
    [{ codecs: ['av1'], hdr: 'keep' }, 'keep'],
  ])('with the ticket %j is in the record and in the work of the engine: %s', async (fields, hdr) => {
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', ...fields });
    expect(await record(videoId)).toMatchObject({ hdr });
    const imported = await api('post', '/videos/import').send({
      url: 'https://example.com/a.mp4',
      ...fields,
    });
    expect(imported.body).toMatchObject({ hdr });
    await plane.engine.upload(uploadToken);
    const { attempt, work } = await plane.engine.claim(videoId);
    expect(work).toMatchObject({ kind: 'plan', hdr });
    // A retry keeps it.
    await plane.engine.fail(videoId, attempt, { code: 'transcode_failed', retryable: true });
    expect((await plane.engine.claim(videoId)).work).toMatchObject({ kind: 'plan', hdr });
  });

  test('is refused with a watermark', async () => {
    const { body: image } = await api('post', '/watermarks')
      .set('content-type', 'image/png')
      .send(pngOf(64, 32))
      .expect(201);
    const fields = { filename: 'a.mp4', codecs: ['av1'], watermark: { image: image.id } };
    const { body } = await api('post', '/videos/upload-ticket')
      .send({ ...fields, hdr: 'keep' })
      .expect(400);
    expect(body.errors).toMatchObject([
      { field: 'body/hdr', message: expect.stringMatching(/with a watermark/) },
    ]);
    expect(await record((await plane.ticket(fields)).videoId)).toMatchObject({ hdr: 'sdr' });
  });
});

test('a request that names no codecs has those of the installation if it can', async () => {
  const another = await plane.startAnother({ packaging: 'cmaf', codecs: ['av1'], hdr: 'keep' });
  try {
    const ask = async (fields: object) => {
      const { body } = await request(another.url)
        .post('/v1/videos/upload-ticket')
        .set(plane.credentials)
        .send({ filename: 'a.mp4', ...fields })
        .expect(201);
      const { packaging, hdr, codecs } = await record(body.videoId);
      return [packaging, hdr, ...codecs.map(({ codec }: { codec: string }) => codec)];
    };
    expect(await ask({})).toEqual(['cmaf', 'keep', 'h264', 'av1']);
    expect(await ask({ hdr: 'sdr' })).toEqual(['cmaf', 'sdr', 'h264', 'av1']);
    expect(await ask({ codecs: [] })).toEqual(['cmaf', 'sdr', 'h264']);
    expect(await ask({ codecs: ['h264', 'hevc'] })).toEqual(['cmaf', 'keep', 'h264', 'hevc']);
    expect(await ask({ packaging: 'ts' })).toEqual(['ts', 'sdr', 'h264']);
    expect(await ask({ audioOnly: true })).toEqual(['cmaf', 'sdr']);
    const { videoId } = await plane.readyVideo('cmaf');
    const clip = await request(another.url)
      .post(`/v1/videos/${videoId}/clips`)
      .set(plane.credentials)
      .send({ start: 3, end: 9 })
      .expect(202);
    expect(clip.body).toMatchObject({ codecs: [{ codec: 'h264' }], hdr: 'sdr' });
  } finally {
    await another.stop();
  }
});

test('the setting names codecs, and needs CMAF for others than H.264', () => {
  const read = (env: Record<string, string>) => readSettings(env).codecs;
  expect([read({}), read({ CODECS: 'h264' })]).toEqual([[], []]);
  expect(read({ CODECS: 'h264,hevc', PACKAGING: 'cmaf' })).toEqual(['hevc']);
  expect(() => read({ CODECS: 'av1' })).toThrow('CODECS: av1 can only be packed with PACKAGING=cmaf');
  expect(() => read({ CODECS: 'vp9' })).toThrow('CODECS: must be some of h264, av1, hevc');
});

test('the setting of high dynamic range is sdr or keep, and sdr by default', () => {
  const read = (env: Record<string, string>) => readSettings(env).hdr;
  expect([read({}), read({ HDR: 'sdr' }), read({ HDR: 'keep' })]).toEqual(['sdr', 'sdr', 'keep']);
  expect(() => read({ HDR: 'map' })).toThrow('HDR: must be sdr or keep');
});

describe('a codec', () => {
  /** A video whose codec is being prepared all the time. */
  let bystander: string;
  beforeAll(async () => {
    bystander = await readyVideo(['av1', 'hevc']);
  });
  afterEach(async () => {
    expect(await states(bystander)).toEqual(['h264 ready', 'av1 preparing', 'hevc preparing']);
    expect(await tasksOf(bystander)).toHaveLength(2 * PIECES.length);
  });

  test('does not hold up the video, and is played when all its pieces are stored', async () => {
    const before = await minutes();
    const videoId = await readyVideo(['av1']);
    const ready = await record(videoId);
    expect(ready).toMatchObject({ status: 'ready', variants: ['360p'], renditions: [{ codec: 'h264' }] });
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 preparing']);
    expect(await master(videoId)).not.toContain('av1');
    expect((await tryClaim(videoId, 'task')).status).toBe(409);
    expect(await minutes()).toBeCloseTo(before + SECONDS / 60, 3);

    const [first, second] = [await claim(videoId), await claim(videoId)];
    expect(first).toMatchObject({ attempt: 1, task: 6, work: { kind: 'codec_piece', codec: 'av1' } });
    expect(first.plan.alternatives).toEqual(planWithCodecs(['av1']).alternatives);
    const key = await store(videoId, first);
    await complete(videoId, second);
    await complete(videoId, first);
    // Stored segments count at once.
    const stored = (await record(videoId)).storageBytes - ready.storageBytes;
    expect([stored > 0, stored < CODEC_BYTES]).toEqual([true, true]);
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 preparing']);
    expect(await master(videoId)).not.toContain('av1');
    await playlist(videoId, '360p-av1').expect(404);
    const last = await claim(videoId);
    const { headers } = await api('get', `/videos/${videoId}`).expect(200);
    await complete(videoId, last);
    await api('get', `/videos/${videoId}`).set('If-None-Match', String(headers.etag)).expect(200);

    expect(await states(videoId)).toEqual(['h264 ready', 'av1 ready']);
    expect(await tasksOf(videoId)).toEqual([]);
    const after = await record(videoId);
    expect(after.storageBytes).toBe(ready.storageBytes + CODEC_BYTES);
    expect(after).toMatchObject({ readyAt: ready.readyAt, variants: ['360p'], downloads: [] });
    expect(after.renditions).toMatchObject([
      { variant: '360p', codec: 'h264', codecs: 'avc1.64001e' },
      { variant: '360p', codec: 'av1', codecs: 'av01.0.01M.08', width: 640, height: 360, frameRate: 25 },
    ]);
    const average = Math.ceil((8 * CODEC_BYTES) / SECONDS);
    expect(after.renditions[1]).toMatchObject({ averageBandwidth: average });
    expect(after.renditions[1].bandwidth).toBeGreaterThanOrEqual(average);
    const uris = (await master(videoId)).match(/^.*index\.m3u8$/gm);
    expect(uris?.filter((uri) => !uri.startsWith('#'))).toEqual(['360p/index.m3u8', '360p-av1/index.m3u8']);
    await playlist(videoId, '360p-av1').expect(200);
    const segment = await api('get', `/hls/${plane.workspaceId}/${videoId}/360p-av1/0.m4s`).expect(200);
    expect(segment.body).toHaveLength(500);
    const section = await api('get', `/hls/${plane.workspaceId}/${videoId}/360p-av1/init.mp4`).expect(200);
    expect(String(section.body)).toBe('header of 360p-av1');
    expect(await minutes()).toBeCloseTo(before + (2 * SECONDS) / 60, 3);
    expect(await eventsOf(videoId)).toEqual(['video.ready', 'video.codec.ready av1']);

    // A late repeat changes nothing, and the purge that follows keeps what is played.
    await complete(videoId, last);
    expect(await minutes()).toBeCloseTo(before + (2 * SECONDS) / 60, 3);
    await untilPurged(videoId);
    expect(await isStored(key)).toBe(true);
    expect((await tryClaim(videoId)).status).toBe(409);
  });

  test.each(['codec_piece', 'codec_copy'] as const)(
    'also follows a video that one run transcodes, and each is played for itself: %s',
    async (kind) => {
      const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', codecs: ['av1', 'hevc'] });
      await plane.engine.upload(uploadToken);
      await plane.engine.claim(videoId);
      const manifest = sampleManifest('cmaf');
      const plan = planOf(manifest);
      const whole = {
        firstSegment: 0,
        firstFrame: 0,
        frames: plan.encode.frames,
        seek: null,
        segmentStarts: plan.segmentStarts,
        keyFrames: plan.segmentStarts,
      };
      const { alternatives } = planWithCodecs(['av1', 'hevc']);
      const optionalTasks = (['av1', 'hevc'] as const).map((codec) => ({ ...whole, kind, codec }) as const);
      expect(await plane.engine.storePlan(videoId, 1, { ...plan, alternatives, optionalTasks })).toBe(204);
      const result = resultOfWhole(manifest);
      await plane.engine.report('task.completed', { videoId, attempt: 1, task: 0, try: 1, result });
      const [av1, hevc] = [await claim(videoId), await claim(videoId)];
      await complete(videoId, hevc);
      expect(await states(videoId)).toEqual(['h264 ready', 'av1 preparing', 'hevc ready']);
      await complete(videoId, av1);
      const uris = (await master(videoId)).match(/^[^#].*index\.m3u8$/gm);
      expect(uris).toEqual(['480p', '360p', '360p-av1', '360p-hevc'].map((name) => `${name}/index.m3u8`));
      expect((await record(videoId)).variants).toEqual(['360p', '480p']);
    },
  );

  test('that fails is left out with all that it has stored; the video and the other codec stay', async () => {
    const videoId = await readyVideo(['av1', 'hevc']);
    const { storageBytes } = await record(videoId);
    const [first, second] = [await claim(videoId), await claim(videoId)];
    const keys = [await store(videoId, first), await store(videoId, second)];
    await complete(videoId, first);
    await fail(videoId, second);
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 failed codec_failed', 'hevc preparing']);
    expect(await record(videoId)).toMatchObject({ status: 'ready', error: null, storageBytes });
    await until(async () => !(await isStored(keys[0] ?? '')) && !(await isStored(keys[1] ?? '')));
    // Those of the other codec have commands.
    const left = await tasksOf(videoId);
    expect(left.map(({ work }) => work)).toMatchObject(PIECES.map(() => ({ codec: 'hevc' })));
    expect(left.some((task) => task.command_due_at ?? task.command_published_at)).toBe(true);
    await completeAll(videoId);
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 failed codec_failed', 'hevc ready']);
    expect(await master(videoId)).not.toContain('av1');
    expect(await eventsOf(videoId)).toEqual([
      'video.ready',
      'video.codec.failed av1 codec_failed',
      'video.codec.ready hevc',
    ]);
  });

  test.each([false, true])(
    'whose last two pieces end at the same time ends once; one fails: %s',
    async (fails) => {
      const before = await minutes();
      const videoId = await readyVideo(['av1']);
      const { storageBytes } = await record(videoId);
      await completeAll(videoId, PIECES.length - 2);
      const [first, second] = [await claim(videoId), await claim(videoId)];
      await meanwhileLocked(videoId, [
        () => complete(videoId, first),
        () => (fails ? fail(videoId, second) : complete(videoId, second)),
      ]);
      const end = fails ? 'failed av1 codec_failed' : 'ready av1';
      expect(await eventsOf(videoId)).toEqual(['video.ready', `video.codec.${end}`]);
      expect(await tasksOf(videoId)).toEqual([]);
      const renditions = fails ? ['h264'] : ['h264', 'av1'];
      expect(await record(videoId)).toMatchObject({
        status: 'ready',
        storageBytes: storageBytes + (fails ? 0 : CODEC_BYTES),
        renditions: renditions.map((codec) => ({ codec })),
      });
      expect(await minutes()).toBeCloseTo(before + (renditions.length * SECONDS) / 60, 3);
    },
  );

  test('has another try after a transient failure, whose objects are purged at the end', async () => {
    const videoId = await readyVideo(['av1']);
    const first = await claim(videoId);
    const orphaned = await store(videoId, first);
    await fail(videoId, first, true);
    await plane.db.updateTable('tasks').set({ due_at: new Date() }).where('video_id', '=', videoId).execute();
    const made = await completeAll(videoId);
    expect(made.map(({ task, try: tryNumber }) => [task, tryNumber])).toContainEqual([first.task, 2]);
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 ready']);
    await until(async () => !(await isStored(orphaned)));
  });

  test.each<[string, (result: TaskResult) => TaskResult]>([
    [
      'another initialization section',
      ({ renditions = [] }) => ({
        renditions: renditions.map((each) => ({ ...each, initialization: 'b3RoZXI=' })),
      }),
    ],
    ['no segments', () => ({ renditions: [] })],
    [
      'segments at other times',
      ({ renditions = [] }) => ({
        renditions: renditions.map((each) => ({
          ...each,
          segments: each.segments.map(({ start, bytes }) => ({ start: start + 1, bytes })),
        })),
      }),
    ],
  ])('whose last piece has %s is left out', async (_, changed) => {
    const videoId = await readyVideo(['av1']);
    const { storageBytes } = await record(videoId);
    await completeAll(videoId, PIECES.length - 1);
    const last = await claim(videoId);
    await complete(videoId, last, changed(resultOfPiece(last)));
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 failed codec_failed']);
    expect(await record(videoId)).toMatchObject({ storageBytes, renditions: [{ codec: 'h264' }] });
    expect(await tasksOf(videoId)).toEqual([]);
  });

  test('that the plan does not have fails when the video is ready', async () => {
    const videoId = await readyVideo(['av1', 'hevc'], { planned: ['hevc'] });
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 failed codec_failed', 'hevc preparing']);
  });

  test('for which the workspace has no room fails when the video is ready', async () => {
    const { used, reserved } = (await api('get', '/auth/usage').expect(200)).body.limits.storedBytes;
    // The uploaded file, and twice what H.264 needs beside sound and pictures, which have less.
    const stored_bytes = used + reserved + 1_000_000 + 3 * PLAIN_BYTES + PLAIN_BYTES / 2;
    await plane.db.insertInto('quotas').values({ workspace_id: plane.workspaceId, stored_bytes }).execute();
    const videoId = await readyVideo(['av1', 'hevc'], { size: 1_000_000 });
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 preparing', 'hevc failed quota_exceeded']);
    expect((await tasksOf(videoId)).map(({ work }) => work)).toMatchObject(
      PIECES.map(() => ({ codec: 'av1' })),
    );
  });

  test('of an earlier version of plans fails', async () => {
    const videoId = await readyVideo(['av1']);
    await completeAll(videoId, 1);
    expect((await tryClaim(videoId, 'background', PLAN_VERSION + 1)).status).toBe(409);
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 failed codec_failed']);
    expect(await tasksOf(videoId)).toEqual([]);
  });

  test('ends with its video', async () => {
    const videoId = await readyVideo(['av1']);
    const [first, second] = [await claim(videoId), await claim(videoId)];
    const keys = [await store(videoId, first), await store(videoId, second)];
    await complete(videoId, first);
    await api('delete', `/videos/${videoId}`).expect(204);
    await complete(videoId, second);
    await until(async () => !(await isStored(keys[0] ?? '')) && !(await isStored(keys[1] ?? '')));
    expect(await tasksOf(videoId)).toEqual([]);
    expect((await eventsOf(videoId)).filter((each) => each.includes('codec'))).toEqual([]);
  });

  test('is made in the attempt after a failed video, and fails each time with it', async () => {
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', codecs: ['av1'] });
    const { sourceKey } = await plane.engine.upload(uploadToken);
    await plane.objects.put(sourceKey, Buffer.alloc(1), 'video/mp4');
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'transcode_failed' });
    expect(await states(videoId)).toEqual(['h264 failed video_failed', 'av1 failed video_failed']);
    expect(await eventsOf(videoId)).toEqual(['video.failed', 'video.codec.failed av1 video_failed']);
    await api('post', `/videos/${videoId}/retry`).expect(202);
    expect(await states(videoId)).toEqual(['h264 preparing', 'av1 preparing']);
    expect((await plane.engine.claim(videoId)).work).toMatchObject({ codecs: ['av1'] });
  });
});

test('sound alone has no codecs', async () => {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', codecs: ['av1'] });
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  const manifest = sampleManifest('cmaf');
  const sound = manifest.renditions.filter(({ name }) => name === 'audio');
  await plane.engine.complete(videoId, attempt, { ...manifest, renditions: sound, storyboard: null });
  expect(await record(videoId)).toMatchObject({ status: 'ready', codecs: [], renditions: [] });
  expect(await eventsOf(videoId)).toEqual(['video.ready']);
});

describe('the source of a video with codecs', () => {
  const sourceOf = (videoId: string) =>
    storedSource(plane.db, { id: videoId, workspace_id: plane.workspaceId });

  test.each([false, true])(
    'that is never kept is deleted when its codecs have ended; one fails: %s',
    async (fails) => {
      const videoId = await readyVideo(['av1'], { keepSource: 'never' });
      await completeAll(videoId, PIECES.length - 1);
      expect(await sourceOf(videoId)).toBeDefined();
      const last = await claim(videoId);
      await (fails ? fail(videoId, last) : complete(videoId, last));
      expect(await sourceOf(videoId)).toBeUndefined();
      expect(await states(videoId)).toEqual(['h264 ready', fails ? 'av1 failed codec_failed' : 'av1 ready']);
    },
  );

  test('can be deleted by its owner: codecs that are being prepared fail', async () => {
    const videoId = await readyVideo(['av1', 'hevc']);
    const made = await completeAll(videoId, PIECES.length + 1);
    const key = await store(videoId, made.at(-1) as ClaimedTask);
    await api('delete', `/videos/${videoId}/source`).expect(204);
    expect(await states(videoId)).toEqual(['h264 ready', 'av1 ready', 'hevc failed source_deleted']);
    expect(await tasksOf(videoId)).toEqual([]);
    await until(async () => !(await isStored(key)));
    expect(await eventsOf(videoId)).toContain('video.codec.failed hevc source_deleted');
    expect(await master(videoId)).toContain('360p-av1/index.m3u8');
  });
});

describe('a video with another codec', () => {
  let videoId: string;
  beforeAll(async () => {
    videoId = await readyVideo(['av1']);
    await completeAll(videoId);
  });

  test('has downloads of H.264', async () => {
    await api('post', `/videos/${videoId}/downloads`)
      .send({ files: ['highest', '720p'] })
      .expect(409);
    await api('post', `/videos/${videoId}/downloads`)
      .send({ files: ['highest'] })
      .expect(202);
    expect((await claimDerivation(plane, videoId)).work).toMatchObject({ renditions: ['360p', 'audio'] });
  });

  test('has clips of H.264', async () => {
    const clip = await api('post', `/videos/${videoId}/clips`).send({ start: 3, end: 9 }).expect(202);
    expect(clip.body.codecs).toEqual([{ codec: 'h264', status: 'preparing', error: null }]);
    const { body } = await tryClaim(clip.body.id, 'clip');
    const { parent, plan } = body as ClaimedClip;
    expect(parent.tracks.map(({ name }) => name)).toEqual(['360p', 'audio']);
    expect(plan.alternatives).toEqual([]);
  });

  test('has pictures of H.264', async () => {
    const thumbnail = api('get', `/hls/${plane.workspaceId}/${videoId}/thumbnail.jpg?time=3`).then(() => {});
    await until(async () => (await tasksOf(videoId)).some(({ kind }) => kind === 'picture'));
    const picture = (await tasksOf(videoId)).find(({ kind }) => kind === 'picture');
    expect(picture?.work).toMatchObject({ rendition: '360p' });
    await fail(videoId, await claim(videoId, 'picture'));
    await thumbnail;
  });
});

/** Does all of this at the same time: locks the video until each of them waits for it. */
async function meanwhileLocked(videoId: string, works: readonly (() => Promise<void>)[]): Promise<void> {
  const results = await plane.db.transaction().execute(async (trx) => {
    await sql`select from videos where id = ${videoId} for update`.execute(trx);
    const begun = works.map((work) => work());
    const waiting = sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%for update%'`;
    await until(async () => (await waiting.execute(plane.db)).rows.length >= works.length);
    return begun;
  });
  await Promise.all(results);
}

async function untilPurged(videoId: string): Promise<void> {
  await until(async () => {
    const purge = plane.db.selectFrom('object_purges').select('pass').where('video_id', '=', videoId);
    return (await purge.execute()).length === 0;
  });
}
