import { jpegOf } from '@framelane/test-kit/jpeg';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import {
  type Claimed,
  claimPicture,
  completePicture,
  makePicture,
  tryClaimDerivation,
} from './support/derivations.ts';
import { tryOf } from './support/long-videos.ts';

const FILE = Buffer.from('the whole picture');
const LIMITS = {
  waitMs: 10_000,
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

const reportFailure = (videoId: string, claimed: Claimed<'picture'>) =>
  plane.engine.report('task.failed', {
    ...tryOf(videoId, claimed as never),
    code: 'transcode_failed',
    message: 'The video could not be transcoded.',
    retryable: false,
  });

/** The names of the stored or asked pictures of a video. */
async function names(videoId: string): Promise<string[]> {
  const rows = await plane.db
    .selectFrom('pictures')
    .select('name')
    .where('video_id', '=', videoId)
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

describe('a request with a bad parameter is refused', () => {
  let videoId: string;
  beforeAll(async () => {
    videoId = await readyVideo();
  });

  test.each([
    ['thumbnail.jpg?time=20', 'query/time', 'exclusiveMaximum'],
    ['thumbnail.jpg?time=43201', 'query/time', 'maximum'],
    ['thumbnail.jpg?time=-1', 'query/time', 'minimum'],
    ['thumbnail.jpg?time=NaN', 'query/time', 'type'],
    ['thumbnail.jpg?time=Infinity', 'query/time', 'exclusiveMaximum'],
    ['thumbnail.jpg?time=', 'query/time', 'type'],
    ['thumbnail.jpg?time=1&time=2', 'query/time', 'type'],
    ['thumbnail.jpg?width=0', 'query/width', 'minimum'],
    ['thumbnail.jpg?width=4097', 'query/width', 'maximum'],
    ['thumbnail.jpg?height=1.5', 'query/height', 'type'],
    ['thumbnail.jpg?fit=stretch', 'query/fit', 'enum'],
    ['preview.webp?start=20', 'query/start', 'exclusiveMaximum'],
    ['preview.webp?start=-0.1', 'query/start', 'minimum'],
    ['preview.gif?duration=0', 'query/duration', 'minimum'],
    ['preview.gif?duration=11', 'query/duration', 'maximum'],
    ['preview.gif?duration=Infinity', 'query/duration', 'maximum'],
    ['preview.gif?width=641', 'query/width', 'maximum'],
    ['preview.gif?fps=16', 'query/fps', 'maximum'],
    ['preview.gif?fps=NaN', 'query/fps', 'type'],
  ])('%s: %s %s', async (name, field, code) => {
    const { status, body } = await picture(videoId, name);
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.errors).toMatchObject([{ field, code }]);
    expect(await names(videoId)).toEqual([]);
  });

  test.each([
    ['thumbnail.jpg?widht=320', 'query/widht is unknown (nearest known field: width)'],
    ['thumbnail.webp?fps=1', 'query/fps is unknown (known fields: time, width, height, fit, token)'],
    ['preview.webp?height=1', 'query/height is unknown (known fields: start, duration, width, fps, token)'],
    ['preview.gif?_=1', 'query/_ is unknown (known fields: start, duration, width, fps, token)'],
  ])('%s: %s', async (name, reason) => {
    const { status, body, headers } = await picture(videoId, name);
    expect([status, body.code, body.detail]).toEqual([
      400,
      'unknown_field',
      `The request is invalid: ${reason}.`,
    ]);
    expect(headers['cache-control']).toBe('no-store');
    expect(await names(videoId)).toEqual([]);
  });

  test('but other parts of a stream ignore parameters that they do not know', async () => {
    await request(plane.url)
      .get(`/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8?CMCD=sf%3Dh`)
      .expect(200);
  });
});

describe('there is no picture', () => {
  test('of a video that is not ready, is unknown, or was deleted', async () => {
    const { videoId } = await plane.ticket();
    await picture(videoId, 'thumbnail.jpg').expect(404);
    await picture('vid_00000000000000000000000000', 'thumbnail.jpg').expect(404);
    const ready = await readyVideo();
    await made(ready, 'thumbnail.jpg');
    await api('delete', `/videos/${ready}`).expect(204);
    await picture(ready, 'thumbnail.jpg').expect(404);
    expect(await names(ready)).toEqual([]);
  });

  test('of sound alone', async () => {
    const videoId = await readyVideo();
    await plane.db
      .deleteFrom('renditions')
      .where('frame_rate', 'is not', null)
      .where('video_id', '=', videoId)
      .execute();
    expect((await picture(videoId, 'thumbnail.jpg')).body.code).toBe('video_not_found');
    expect((await picture(videoId, 'preview.gif')).body.code).toBe('video_not_found');
  });

  test('of a signed video without a token, and responses with one are not cached', async () => {
    const videoId = await readyVideo({ filename: 'a.mp4', playbackPolicy: 'signed' });
    await picture(videoId, 'thumbnail.jpg').expect(401);
    const { body } = await request(plane.url)
      .post(`/v1/videos/${videoId}/playback-tokens`)
      .set(plane.credentials)
      .send({});
    const { response } = await made(videoId, `thumbnail.jpg?token=${body.token}`);
    expect([response.status, response.headers['cache-control']]).toEqual([200, 'private, no-store']);
  });
});

describe('while no engine makes a picture', () => {
  let hasty: Awaited<ReturnType<TestControlPlane['startAnother']>>;
  beforeAll(async () => {
    hasty = await plane.startAnother({ pictures: { ...LIMITS, waitMs: 300 } });
  });
  afterAll(() => hasty.stop());

  test('the request gets 503 in time, and the picture is there when an engine has made it', async () => {
    const videoId = await readyVideo();
    const refused = await picture(videoId, 'thumbnail.jpg', hasty.url).expect(503);
    expect([refused.body.code, refused.headers['retry-after']]).toEqual(['unavailable', '2']);
    await makePicture(plane, videoId, FILE);
    await picture(videoId, 'thumbnail.jpg').expect(200);
  });

  test('only a few pictures of a video are begun', async () => {
    const videoId = await readyVideo();
    const ask = (second: number) =>
      picture(videoId, `thumbnail.jpg?time=${second}`, hasty.url).then(({ status }) => status);
    const first = [0, 1, 2].map(ask);
    await claimPicture(plane, videoId);
    expect((await Promise.all(first)).every((status) => status === 503)).toBe(true);
    const { status, body, headers } = await picture(videoId, 'thumbnail.jpg?time=3');
    expect([status, body.code, headers['retry-after']]).toEqual([429, 'rate_limited', '2']);
    expect(await names(videoId)).toHaveLength(3);
  });

  test('a flood of requests for one video leaves the pictures of others alone', async () => {
    const [flooded, other] = [await readyVideo(), await readyVideo()];
    const before = (await api('get', `/videos/${other}`)).body.updatedAt;
    const flood = Array.from({ length: 100 }, (_, at) =>
      picture(flooded, `thumbnail.jpg?time=${at / 100}`, hasty.url).then(({ status }) => status),
    );
    const [response] = await Promise.all([picture(other, 'thumbnail.jpg'), makePicture(plane, other, FILE)]);
    expect(response.status).toBe(200);
    expect((await api('get', `/videos/${other}`)).body.updatedAt).toBe(before);
    const statuses = await Promise.all(flood);
    expect(statuses.filter((status) => status === 429)).toHaveLength(97);
    expect(await names(flooded)).toHaveLength(3);
  });

  test('the deletion of its video ends the wait', async () => {
    const videoId = await readyVideo();
    const [response] = await Promise.all([
      picture(videoId, 'thumbnail.jpg'),
      claimPicture(plane, videoId).then(async (claimed) => {
        await api('delete', `/videos/${videoId}`).expect(204);
        await completePicture(plane, videoId, claimed, FILE);
      }),
    ]);
    expect([response.status, response.body.code]).toEqual([404, 'video_not_found']);
  });
});

test('a picture that could not be made gets 503 for a minute, then it is made again', async () => {
  const videoId = await readyVideo();
  const failed = Promise.all([
    picture(videoId, 'thumbnail.jpg'),
    claimPicture(plane, videoId).then((claimed) => reportFailure(videoId, claimed)),
  ]);
  const [response] = await failed;
  expect([response.status, response.headers['retry-after']]).toEqual([503, '60']);
  await picture(videoId, 'thumbnail.jpg').expect(503);
  expect((await tryClaimDerivation(plane, videoId, undefined, 'picture')).status).toBe(409);
  await plane.db
    .updateTable('pictures')
    .set({ used_at: new Date(0) })
    .where('video_id', '=', videoId)
    .execute();
  expect((await made(videoId, 'thumbnail.jpg')).response.status).toBe(200);
});

test.each([
  ['of their number', 10, 10],
  ['of their bytes', 250, 4],
])(
  'beyond the maximum %s, the pictures that were not used for longest are deleted',
  async (_, bytes, most) => {
    const videoId = await readyVideo();
    const file = Buffer.alloc(bytes);
    for (let second = 0; second <= most; second += 1) {
      await made(videoId, `thumbnail.jpg?time=${second}&width=32`, file);
      // The first picture is used again.
      await plane.db
        .updateTable('pictures')
        .set({ used_at: new Date(second * 1000) })
        .where('video_id', '=', videoId)
        .where('name', 'like', `thumbnail-${second}000-%`)
        .execute();
      if (second === most - 1)
        await plane.db
          .updateTable('pictures')
          .set({ used_at: new Date(60_000) })
          .where('video_id', '=', videoId)
          .where('name', 'like', 'thumbnail-0-%')
          .execute();
    }
    const left = await names(videoId);
    expect(left).toHaveLength(most);
    expect(left.some((name) => name.startsWith('thumbnail-0-'))).toBe(true);
    expect(left.some((name) => name.startsWith('thumbnail-1000-'))).toBe(false);
    const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(bytes), 0)::int as bytes from artifacts where video_id = ${videoId} and kind = 'picture'`.execute(
      plane.db,
    );
    expect(rows[0]?.bytes).toBe(most * bytes);
  },
);

test('the quota of stored bytes must have room for a picture', async () => {
  const videoId = await readyVideo();
  const { workspaceId } = plane;
  await plane.db.insertInto('quotas').values({ workspace_id: workspaceId, stored_bytes: 1 }).execute();
  expect((await picture(videoId, 'thumbnail.jpg')).body.code).toBe('quota_exceeded');
  await plane.db.deleteFrom('quotas').where('workspace_id', '=', workspaceId).execute();
});

describe('posterTime', () => {
  const patch = (videoId: string, posterTime: number | null) =>
    api('patch', `/videos/${videoId}`).send({ posterTime });
  const poster = async (videoId: string) => (await picture(videoId, 'poster.jpg')).body.toString();

  test('makes a frame the poster, in place of an uploaded image; the last choice wins', async () => {
    const videoId = await readyVideo();
    await api('put', `/videos/${videoId}/poster`).type('image/jpeg').send(jpegOf(640, 360)).expect(200);
    const { body } = await patch(videoId, 7).expect(200);
    expect(body).toMatchObject({ posterTime: 7, poster: { width: 640 } });
    const { work } = await makePicture(plane, videoId, Buffer.from('frame 7'));
    expect(work).toMatchObject({ name: 'poster', start: 7000, format: 'jpg' });
    expect((await api('get', `/videos/${videoId}`)).body).toMatchObject({ posterTime: 7, poster: null });
    expect(await poster(videoId)).toBe('frame 7');

    await patch(videoId, 3).expect(200);
    const late = await claimPicture(plane, videoId);
    await patch(videoId, 5).expect(200);
    await completePicture(plane, videoId, late, Buffer.from('frame 3'));
    expect(await poster(videoId)).toBe('frame 7');
    await makePicture(plane, videoId, Buffer.from('frame 5'));
    expect(await poster(videoId)).toBe('frame 5');

    await api('put', `/videos/${videoId}/poster`).type('image/jpeg').send(jpegOf(320, 180)).expect(200);
    expect((await api('get', `/videos/${videoId}`)).body).toMatchObject({
      posterTime: null,
      poster: { width: 320 },
    });
    await patch(videoId, 5).expect(200);
    await makePicture(plane, videoId, Buffer.from('frame 5'));
    const before = await storedBytes(videoId);
    await patch(videoId, null).expect(200);
    expect(await storedBytes(videoId)).toBe(before - 'frame 5'.length);
    expect(await poster(videoId)).not.toBe('frame 5');
  });

  test('of a video that is not ready is applied when it is, and forgotten if it has no such frame', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    await patch(videoId, 4).expect(200);
    const other = await plane.ticket();
    await patch(other.videoId, 400).expect(200);
    await plane.engine.upload(uploadToken);
    await plane.engine.upload(other.uploadToken);
    for (const id of [videoId, other.videoId]) {
      const { attempt } = await plane.engine.claim(id);
      await plane.engine.complete(id, attempt);
    }
    await makePicture(plane, videoId, Buffer.from('frame 4'));
    expect(await poster(videoId)).toBe('frame 4');
    expect((await api('get', `/videos/${other.videoId}`)).body.posterTime).toBeNull();
  });

  test('is null again if the frame could not be made', async () => {
    const videoId = await readyVideo();
    await patch(videoId, 4).expect(200);
    await reportFailure(videoId, await claimPicture(plane, videoId));
    expect((await api('get', `/videos/${videoId}`)).body.posterTime).toBeNull();
  });

  test.each([
    [20, 'exclusiveMaximum'],
    [-1, 'minimum'],
    ['1', 'type'],
  ])('%j is refused', async (posterTime, code) => {
    const videoId = await readyVideo();
    const { status, body } = await patch(videoId, posterTime as number);
    expect([status, body.errors[0].code]).toEqual([400, code]);
    expect((await api('get', `/videos/${videoId}`)).body.posterTime).toBeNull();
  });
});
