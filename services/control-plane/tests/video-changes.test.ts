import { newId } from '@framelane/contracts/ids';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { insertVideo } from './support/video-rows.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const post = (body: Record<string, unknown>) =>
  request(plane.url)
    .post('/v1/videos/upload-ticket')
    .set(plane.credentials)
    .send({ filename: 'holiday.mp4', ...body });
const get = async (videoId: string) =>
  (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;
const patch = (videoId: string, body: unknown) =>
  request(plane.url)
    .patch(`/v1/videos/${videoId}`)
    .set(plane.credentials)
    .send(body as object);

const OWN = {
  metadata: { campaign: 'summer-2026', 'user id': '4711', été: '🎬' },
  tags: ['campaign', 'out door'],
  passthrough: 'asset-4711',
  playbackPolicy: 'signed',
  allowedOrigins: ['https://www.example.com', 'http://*.example.org:8000'],
};
const pairs = (count: number, prefix = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, 'v']));

/**
 * Fields that a ticket and a patch refuse, and the field that the error names. A ticket may have 50 pairs of metadata; a patch may have
 * 100, because it can remove pairs as well.
 */
const BAD_FIELDS: [string, Record<string, unknown>, string][] = [
  ['101 pairs of metadata', { metadata: pairs(101) }, 'body/metadata'],
  ['a number in metadata', { metadata: { a: 5 } }, 'body/metadata/a'],
  ['an object in metadata', { metadata: { a: {} } }, 'body/metadata/a'],
  ['a list as metadata', { metadata: ['a'] }, 'body/metadata'],
  ['a long value', { metadata: { a: 'x'.repeat(501) } }, 'body/metadata/a'],
  ['NUL in a value', { metadata: { a: 'x\u0000' } }, 'body/metadata/a'],
  ['half a character in a value', { metadata: { a: '\ud83c' } }, 'body/metadata/a'],
  ['a long name', { metadata: { ['n'.repeat(41)]: 'v' } }, 'body/metadata'],
  ['an empty name', { metadata: { '': 'v' } }, 'body/metadata'],
  ['NUL in a name', { metadata: { 'a\u0000': 'v' } }, 'body/metadata'],
  ['half a character in a name', { metadata: { '\udfac': 'v' } }, 'body/metadata'],
  ['21 tags', { tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, 'body/tags'],
  ['a tag twice', { tags: ['a', 'a'] }, 'body/tags'],
  ['an empty tag', { tags: [''] }, 'body/tags/0'],
  ['a long tag', { tags: ['x'.repeat(65)] }, 'body/tags/0'],
  ['NUL in a tag', { tags: ['a\u0000'] }, 'body/tags/0'],
  ['a text as tags', { tags: 'a' }, 'body/tags'],
  ['a long passthrough', { passthrough: 'x'.repeat(256) }, 'body/passthrough'],
  ['NUL in passthrough', { passthrough: 'a\u0000' }, 'body/passthrough'],
  ['an unknown policy', { playbackPolicy: 'private' }, 'body/playbackPolicy'],
  ['a page instead of an origin', { allowedOrigins: ['https://a.example/page'] }, 'body/allowedOrigins/0'],
  [
    'a directive in an origin',
    { allowedOrigins: ['https://a.example; script-src *'] },
    'body/allowedOrigins/0',
  ],
  [
    '21 origins',
    { allowedOrigins: [...'abcdefghijklmnopqrstu'].map((c) => `https://${c}`) },
    'body/allowedOrigins',
  ],
  ['half a character in the title', { title: 'x\ud83c' }, 'body/title'],
  ['NUL in the title', { title: 'x\u0000' }, 'body/title'],
  ['an empty title', { title: '' }, 'body/title'],
];

const namedFields = (response: { body: { errors?: { field: string }[] } }) =>
  (response.body.errors ?? []).map(({ field }) => field);

describe('requesting a ticket', () => {
  test('stores the fields that the owner sets', async () => {
    const response = await post(OWN);
    expect(response.status).toBe(201);
    expect(await get(response.body.videoId)).toMatchObject(OWN);
  });

  test('requires none of these fields', async () => {
    const { videoId } = await plane.ticket();
    expect(await get(videoId)).toMatchObject({
      playbackPolicy: 'public',
      allowedOrigins: null,
      metadata: {},
      tags: [],
      passthrough: null,
      thumbnail: null,
      storyboard: null,
    });
  });

  test('accepts values of the maximum size', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`${10 + n}${'🎬'.repeat(38)}`, '🎬'.repeat(500)]),
    );
    const tags = Array.from({ length: 20 }, (_, n) => `${n}`.padEnd(64, 'x'));
    const response = await post({ metadata, tags, passthrough: 'ü'.repeat(255) });
    expect(response.status).toBe(201);
    expect(await get(response.body.videoId)).toMatchObject({ metadata, tags, passthrough: 'ü'.repeat(255) });
  });

  test.each(BAD_FIELDS)('400 for %s', async (_, body, field) => {
    const response = await post(body);
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
    expect(namedFields(response)).toContain(field);
  });

  test('400 for 51 pairs of metadata, and for null, which a patch may have', async () => {
    expect(namedFields(await post({ metadata: pairs(51) }))).toEqual(['body/metadata']);
    expect(namedFields(await post({ passthrough: null }))).toEqual(['body/passthrough']);
  });
});

describe('PATCH /videos/:id', () => {
  test('changes the given fields and responds with the record', async () => {
    const { videoId } = await plane.readyVideo();
    const before = await get(videoId);
    const response = await patch(videoId, { title: 'Été à Nîmes 🎬', ...OWN });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      ...before,
      title: 'Été à Nîmes 🎬',
      ...OWN,
      updatedAt: response.body.updatedAt,
    });
    expect(Date.parse(response.body.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect(await get(videoId)).toEqual(response.body);
  });

  test('merges metadata, replaces tags; null removes', async () => {
    const { videoId } = (await post(OWN)).body;
    const merged = await patch(videoId, {
      metadata: { campaign: 'autumn', été: null, new: '1' },
      tags: ['b'],
    });
    expect(merged.body).toMatchObject({
      metadata: { campaign: 'autumn', 'user id': '4711', new: '1' },
      tags: ['b'],
    });
    expect(merged.body.metadata).not.toHaveProperty('été');
    const cleared = await patch(videoId, {
      metadata: null,
      tags: null,
      passthrough: null,
      allowedOrigins: null,
    });
    expect(cleared.body).toMatchObject({
      allowedOrigins: null,
      metadata: {},
      tags: [],
      passthrough: null,
      playbackPolicy: 'signed',
    });
  });

  test('an empty change changes nothing', async () => {
    const { videoId } = await plane.ticket();
    const before = await get(videoId);
    const response = await patch(videoId, {});
    expect([response.status, response.body]).toEqual([200, before]);
  });

  test('accepts names of JavaScript properties as metadata names', async () => {
    const { videoId } = await plane.ticket();
    const response = await request(plane.url)
      .patch(`/v1/videos/${videoId}`)
      .set(plane.credentials)
      .type('json')
      .send('{"metadata":{"__proto__":"x","constructor":"y"}}');
    expect(response.status).toBe(200);
    expect(response.text).toContain('"metadata":{"__proto__":"x","constructor":"y"}');
  });

  test('applies ten concurrent changes', async () => {
    const { videoId } = await plane.ticket();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) => patch(videoId, { metadata: { [`k${n}`]: 'v' } })),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect((await get(videoId)).metadata).toEqual(pairs(10));
  });

  test('does not undo a concurrent change of the status', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    await Promise.all([plane.engine.upload(uploadToken), patch(videoId, { title: 'Meanwhile' })]);
    expect(await get(videoId)).toMatchObject({ status: 'processing', title: 'Meanwhile', size: 1_000_000 });
  });

  test.each(BAD_FIELDS)('400 for %s', async (_, body, field) => {
    const { videoId } = await plane.ticket();
    const before = await get(videoId);
    const response = await patch(videoId, { title: 'New', ...body });
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
    expect(namedFields(response)).toContain(field);
    expect(await get(videoId)).toEqual(before);
  });

  test.each([
    ['title', null],
    ['playbackPolicy', null],
  ])('400 for %s %s', async (field, value) => {
    const { videoId } = await plane.ticket();
    expect(namedFields(await patch(videoId, { [field]: value }))).toContain(`body/${field}`);
  });

  test('400 when the video would have 51 pairs of metadata', async () => {
    const { videoId } = (await post({ metadata: pairs(50) })).body;
    const response = await patch(videoId, { metadata: { one: 'more' } });
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
    expect(namedFields(response)).toEqual(['body/metadata']);
    expect((await patch(videoId, { metadata: { one: 'more', k0: null } })).status).toBe(200);
  });

  test('404 for an unknown video, a deleted one and one of another workspace', async () => {
    const { videoId: deleted } = await plane.ticket();
    await request(plane.url).delete(`/v1/videos/${deleted}`).set(plane.credentials).expect(204);
    const workspaceId = newId('ws');
    await plane.db.insertInto('workspaces').values({ id: workspaceId, name: 'Other' }).execute();
    const foreign = await insertVideo(plane.db, workspaceId, { title: 'Theirs' });
    for (const videoId of [newId('vid'), deleted, foreign]) {
      const response = await patch(videoId, { title: 'Mine' });
      expect([response.status, response.body.code]).toEqual([404, 'video_not_found']);
    }
    const row = await plane.db.selectFrom('videos').select('title').where('id', '=', foreign).execute();
    expect(row).toEqual([{ title: 'Theirs' }]);
  });

  test('413 and 415 for invalid bodies', async () => {
    const { videoId } = await plane.ticket();
    const huge = await patch(videoId, { title: 'x'.repeat(300_000) });
    expect([huge.status, huge.body.code]).toEqual([413, 'body_too_large']);
    const none = await request(plane.url).patch(`/v1/videos/${videoId}`).set(plane.credentials);
    expect([none.status, none.body.code]).toEqual([415, 'unsupported_media_type']);
  });
});
