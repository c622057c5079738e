import { newId } from '@framelane/contracts/ids';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { pngChunk, pngOf } from '@framelane/test-kit/png';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { signIn } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { samplePlan } from './support/plan.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const LOGO = pngOf(64, 32);

type Credentials = Record<string, string>;

/** A key for a workspace of its own. */
async function newWorkspace(): Promise<{ id: string; headers: Credentials }> {
  const id = newId('ws');
  const secret = newApiKeySecret('live');
  await plane.db.insertInto('workspaces').values({ id, name: 'Own' }).execute();
  await createFullKey(plane.db, { workspaceId: id, name: 'First', secret });
  return { id, headers: { authorization: `Bearer ${secret}`, 'x-svc-workspace': id } };
}

const upload = (image = LOGO, { headers = plane.credentials, type = 'image/png', path = '' } = {}) =>
  request(plane.url).post(`/v1/watermarks${path}`).set(headers).type(type).send(image);
const call = (method: 'get' | 'delete', path: string, headers: Credentials = plane.credentials) =>
  request(plane.url)[method](`/v1${path}`).set(headers);
const stored = (id: string) =>
  plane.db.selectFrom('watermarks').select('id').where('id', '=', id).executeTakeFirst();

const uploaded = async () => String((await upload()).body.id);

/** A video with a watermark whose file has arrived. */
async function processing(image: string): Promise<{ videoId: string }> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', watermark: { image } });
  const { sourceKey } = await plane.engine.upload(uploadToken);
  await plane.objects.put(sourceKey, Buffer.alloc(1_000_000), 'video/mp4');
  return { videoId };
}

describe('images', () => {
  test('are stored, listed and deleted', async () => {
    const { headers } = await newWorkspace();
    const first = await upload(LOGO, { headers, path: '?name=Logo' });
    expect([first.status, first.body]).toEqual([
      201,
      {
        ...{
          id: expect.stringMatching(/^wmk_/),
          name: 'Logo',
          contentType: 'image/png',
          width: 64,
          height: 32,
        },
        ...{ bytes: LOGO.length, createdAt: expect.any(String) },
      },
    ]);
    expect(first.headers.location).toMatch(new RegExp(`/v1/watermarks/${first.body.id}$`));
    const second = await upload(jpegOf(640, 360), { headers, type: 'image/jpeg' });
    expect(second.body).toMatchObject({ name: null, contentType: 'image/jpeg', width: 640, height: 360 });
    expect((await call('get', '/watermarks', headers)).body).toEqual({ data: [second.body, first.body] });
    const path = `/watermarks/${first.body.id}`;
    expect((await call('get', path, headers)).body).toEqual(first.body);
    expect((await call('delete', path, headers)).status).toBe(204);
    for (const method of ['get', 'delete'] as const) {
      expect((await call(method, path, headers)).body.code).toBe('watermark_not_found');
    }
    expect((await call('get', '/watermarks', headers)).body).toEqual({ data: [second.body] });
  });

  test.each([
    ['image/png', LOGO],
    ['image/jpeg', jpegOf(640, 360)],
  ])('of the type %s can be fetched as they are stored', async (type, sent) => {
    const { id } = (await upload(sent, { type })).body;
    const path = `/watermarks/${id}/image`;
    const { status, headers, body } = await call('get', path).responseType('blob');
    expect([status, body.equals(sent)]).toEqual([200, true]);
    expect(headers).toMatchObject({
      'content-type': type,
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      'content-length': String(sent.length),
    });
    await call('get', path).set('If-None-Match', String(headers.etag)).expect(304);
    await request(plane.url).get(`/v1${path}`).expect(401);
    const { headers: ofSession } = await signIn(plane);
    await call('get', `${path}?workspace=${plane.workspaceId}`, ofSession).expect(200);
    await call('delete', `/watermarks/${id}`).expect(204);
    await call('get', path).set('If-None-Match', String(headers.etag)).expect(404);
  });

  test('of another workspace do not exist', async () => {
    const { headers } = await newWorkspace();
    const id = await uploaded();
    for (const method of ['get', 'delete'] as const)
      expect((await call(method, `/watermarks/${id}`, headers)).status).toBe(404);
    expect((await call('get', `/watermarks/${id}/image`, headers)).body.code).toBe('watermark_not_found');
    const ticket = { filename: 'a.mp4', watermark: { image: id } };
    const response = await request(plane.url).post('/v1/videos/upload-ticket').set(headers).send(ticket);
    expect([response.status, response.body.errors?.[0]?.field]).toEqual([400, 'body/watermark/image']);
  });

  test('are stored once for each Idempotency-Key', async () => {
    const { headers } = await newWorkspace();
    const keyed = { headers: { ...headers, 'idempotency-key': 'logo' } };
    const [first, second] = [await upload(LOGO, keyed), await upload(LOGO, keyed)];
    expect([second.status, second.body, second.headers['idempotency-replayed']]).toEqual([
      201,
      first.body,
      'true',
    ]);
    expect((await upload(pngOf(8, 8), keyed)).body.code).toBe('idempotency_key_reused');
    expect((await call('get', '/watermarks', headers)).body.data).toHaveLength(1);
  });

  test.each<[string, Buffer, string, number, string]>([
    ['SVG named PNG', Buffer.from('<svg/>'), 'image/png', 400, 'invalid_watermark'],
    ['nothing', Buffer.alloc(0), 'image/png', 400, 'invalid_watermark'],
    ['a truncated image', LOGO.subarray(0, -20), 'image/png', 400, 'invalid_watermark'],
    [
      'an image with a wrong CRC',
      Buffer.concat([LOGO.subarray(0, -1), Buffer.of(0)]),
      'image/png',
      400,
      'invalid_watermark',
    ],
    ['an image of 1 MiB and a byte', Buffer.alloc(2 ** 20 + 1), 'image/png', 413, 'body_too_large'],
    ['an image of 10 MiB', Buffer.alloc(10 * 2 ** 20), 'image/png', 413, 'body_too_large'],
    ['SVG', Buffer.from('<svg/>'), 'image/svg+xml', 415, 'unsupported_media_type'],
  ])('%s is refused', async (_, image, type, status, code) => {
    const response = await upload(image, { type });
    expect([response.status, response.body.code]).toEqual([status, code]);
  });

  test('a workspace has at most 50, also if clients upload at the same time', async () => {
    const { headers } = await newWorkspace();
    const responses = await Promise.all(Array.from({ length: 53 }, () => upload(LOGO, { headers })));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(50);
    expect(responses.find(({ status }) => status !== 201)?.body.code).toBe('watermark_limit_reached');
    const [{ id }] = (await call('get', '/watermarks', headers)).body.data;
    await call('delete', `/watermarks/${id}`, headers);
    await plane.maintain('prune-watermarks');
    expect((await upload(LOGO, { headers })).status).toBe(201);
  });

  test('count against the quota of stored bytes', async () => {
    const { id, headers } = await newWorkspace();
    await plane.db
      .insertInto('quotas')
      .values({ workspace_id: id, stored_bytes: 2 * LOGO.length - 1 })
      .execute();
    expect((await upload(LOGO, { headers })).status).toBe(201);
    const refused = await upload(LOGO, { headers });
    expect(refused.body).toMatchObject({ code: 'quota_exceeded', used: LOGO.length });
  });

  test('need the permissions of videos', async () => {
    const create = (permissions: string[]) =>
      request(plane.url).post('/v1/api-keys').set(plane.credentials).send({ name: 'Reader', permissions });
    const { secret } = (await create(['videos:read'])).body;
    const headers = { ...plane.credentials, authorization: `Bearer ${secret}` };
    expect((await call('get', '/watermarks', headers)).status).toBe(200);
    expect((await call('get', `/watermarks/${await uploaded()}/image`, headers)).status).toBe(200);
    expect((await upload(LOGO, { headers })).body.code).toBe('insufficient_permissions');
  });
});

describe('the watermark of a video', () => {
  test('is what the ticket says, with defaults, and engines get it with each claim', async () => {
    const image = await uploaded();
    const watermark = { image, corner: 'bottom-left', opacity: 0, width: 0.5, margin: 0.25 };
    const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', watermark });
    expect((await call('get', `/videos/${videoId}`)).body.watermark).toEqual(watermark);
    const { sourceKey } = await plane.engine.upload(uploadToken);
    await plane.objects.put(sourceKey, Buffer.alloc(1_000_000), 'video/mp4');
    const claimed = await plane.engine.claim(videoId);
    const bytes = LOGO.toString('base64');
    expect(claimed.watermark).toEqual({ ...watermark, image: bytes, format: 'png' });
    const other = await processing(image);
    const { body } = await call('get', `/videos/${other.videoId}`);
    const defaults = { corner: 'top-right', opacity: 1, width: 0.15, margin: 0.03 };
    expect(body.watermark).toEqual({ image, ...defaults });
    expect((await plane.engine.claim(other.videoId)).watermark).toEqual({
      ...defaults,
      image: bytes,
      format: 'png',
    });
  });

  test('can be set at an import', async () => {
    const image = await uploaded();
    const { status, body } = await request(plane.url)
      .post('/v1/videos/import')
      .set(plane.credentials)
      .send({ url: 'https://media.example.com/a.mp4', watermark: { image, opacity: 0.5 } });
    expect([status, body.watermark]).toMatchObject([202, { image, opacity: 0.5 }]);
  });

  test.each([
    ['an unknown corner', { corner: 'middle' }, 'body/watermark/corner'],
    ['an opacity above one', { opacity: 1.01 }, 'body/watermark/opacity'],
    ['a negative opacity', { opacity: -0.1 }, 'body/watermark/opacity'],
    ['no width', { width: 0 }, 'body/watermark/width'],
    ['a width above that of the video', { width: 2 }, 'body/watermark/width'],
    ['a margin that leaves no room', { margin: 0.3 }, 'body/watermark/margin'],
    ['a text as opacity', { opacity: '1' }, 'body/watermark/opacity'],
    ['another id', { image: 'vid_01m7y5g5zqfqetgq1je8rn7s3t' }, 'body/watermark/image'],
    ['an unknown image', { image: newId('wmk') }, 'body/watermark/image'],
  ])('is refused with %s', async (_, fields, field) => {
    const watermark = { image: await uploaded(), ...fields };
    const { status, body } = await request(plane.url)
      .post('/v1/videos/upload-ticket')
      .set(plane.credentials)
      .send({ filename: 'a.mp4', watermark });
    expect([status, body.code, body.errors[0].field]).toEqual([400, 'validation_failed', field]);
  });

  test('is refused for sound alone', async () => {
    const watermark = { image: await uploaded() };
    const { status, body } = await request(plane.url)
      .post('/v1/videos/upload-ticket')
      .set(plane.credentials)
      .send({ filename: 'a.mp3', audioOnly: true, watermark });
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          field: 'body/watermark',
          code: 'watermark',
          message: 'must be absent with audioOnly: sound has no picture',
        },
      ],
    ]);
  });

  test('lets an installation that accepts sound alone refuse it', async () => {
    const accepting = await startControlPlane((config) => ({
      ...config,
      attempts: { ...config.attempts, acceptsAudioOnly: true },
    }));
    const { body } = await request(accepting.url)
      .post('/v1/watermarks')
      .set(accepting.credentials)
      .type('image/png')
      .send(LOGO);
    const { videoId, uploadToken } = await accepting.ticket({
      filename: 'a.mp3',
      watermark: { image: body.id },
    });
    await accepting.engine.upload(uploadToken);
    expect((await accepting.engine.claim(videoId)).work).toMatchObject({ audioOnly: 'refused' });
    await accepting.stop();
  });
});

describe('an image that is deleted', () => {
  const LATER = { code: 'storage_failed', message: 'Later.', retryable: true } as const;

  test('stays for videos that need it, through all tries and retries', async () => {
    const image = await uploaded();
    const { videoId } = await processing(image);
    const first = await plane.engine.claim(videoId);
    expect((await call('delete', `/watermarks/${image}`)).status).toBe(204);
    await plane.maintain('prune-watermarks');
    await plane.engine.fail(videoId, first.attempt, LATER);
    const second = await plane.engine.claim(videoId);
    expect(second.watermark).toEqual(first.watermark);
    await plane.engine.fail(videoId, second.attempt, { code: 'transcode_failed' });
    await plane.maintain('prune-watermarks');
    const retried = await request(plane.url).post(`/v1/videos/${videoId}/retry`).set(plane.credentials);
    expect(retried.status).toBe(202);
    const third = await plane.engine.claim(videoId);
    expect(third.watermark).toEqual(first.watermark);
    await plane.engine.complete(videoId, third.attempt);
    expect((await call('get', `/videos/${videoId}`)).body).toMatchObject({
      status: 'ready',
      watermark: { image },
    });
    await plane.maintain('prune-watermarks');
    expect(await stored(image)).toBeUndefined();
  });

  test('stays for a video that waits for its file, until that is deleted', async () => {
    const image = await uploaded();
    const { videoId } = await plane.ticket({ filename: 'a.mp4', watermark: { image } });
    await call('delete', `/watermarks/${image}`);
    await plane.maintain('prune-watermarks');
    expect(await stored(image)).toBeDefined();
    await call('delete', `/videos/${videoId}`);
    await plane.maintain('prune-watermarks');
    expect(await stored(image)).toBeUndefined();
  });

  test('cannot be used by new videos', async () => {
    const image = await uploaded();
    await call('delete', `/watermarks/${image}`);
    const { status } = await request(plane.url)
      .post('/v1/videos/upload-ticket')
      .set(plane.credentials)
      .send({ filename: 'a.mp4', watermark: { image } });
    expect(status).toBe(400);
  });

  test('is never missing for a video that is created at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const image = await uploaded();
      const create = request(plane.url)
        .post('/v1/videos/upload-ticket')
        .set(plane.credentials)
        .send({ filename: 'a.mp4', watermark: { image } });
      const [created] = await Promise.all([create, call('delete', `/watermarks/${image}`)]);
      await plane.maintain('prune-watermarks');
      expect(await stored(image)).toEqual(created.status === 201 ? { id: image } : undefined);
    }
  });

  test('is part of the claims of tasks', async () => {
    const image = await uploaded();
    const { videoId } = await processing(image);
    const { attempt, watermark } = await plane.engine.claim(videoId);
    await call('delete', `/watermarks/${image}`);
    expect(await plane.engine.storePlan(videoId, attempt, samplePlan())).toBe(204);
    const { body } = await plane.engine.request('/internal/v1/tasks/claim', {
      ...{ videoId, command: 'task', planVersion: samplePlan().version },
    });
    expect(body.watermark).toEqual(watermark);
  });
});

test('unneeded chunks of an image are not stored', async () => {
  const text = pngChunk('tEXt', Buffer.from('SECRET'));
  const { body } = await upload(Buffer.concat([LOGO.subarray(0, 33), text, LOGO.subarray(33)]));
  expect(body.bytes).toBe(LOGO.length);
});
