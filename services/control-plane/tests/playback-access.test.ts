import { newId } from '@framelane/contracts/ids';
import { segmentKey } from '@framelane/object-store/object-keys';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { hashToken } from '../src/auth/secret-tokens.ts';
import type { Permission } from '../src/db/schema.ts';
import { playbackTokenKey, signPlaybackToken } from '../src/playback/playback-token.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { FOLDER } from './support/manifest.ts';
import { shiftClock } from './support/shift-clock.ts';

const contentKeySecret = Buffer.alloc(32, 9);

let plane: TestControlPlane;
let signed: string;
let open: string;

beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    secrets: { ...config.secrets, contentKey: contentKeySecret },
  }));
  signed = await readyVideo({ playbackPolicy: 'signed' });
  open = await readyVideo({});
});
afterAll(() => plane.stop());

async function readyVideo(ticket: Record<string, unknown>): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'holiday.mp4', ...ticket });
  await plane.engine.upload(uploadToken);
  await plane.engine.claim(videoId);
  await plane.engine.complete(videoId, 1);
  return videoId;
}

const PARTS = ['/master.m3u8', '/360p/index.m3u8', '/audio/index.m3u8', '/key'];

const hls = (videoId: string) => `/v1/hls/${plane.workspaceId}/${videoId}`;
const get = (path: string, headers: Record<string, string> = {}) => request(plane.url).get(path).set(headers);
/** Like `get`, with the body as bytes for every type. */
const read = (path: string, headers: Record<string, string> = {}) => get(path, headers).responseType('blob');
const askToken = (videoId: string, body?: object) =>
  request(plane.url).post(`/v1/videos/${videoId}/playback-tokens`).set(plane.credentials).send(body);
const setPolicy = (videoId: string, playbackPolicy: string) =>
  request(plane.url).patch(`/v1/videos/${videoId}`).set(plane.credentials).send({ playbackPolicy });
const tokenFor = async (videoId: string) => String((await askToken(videoId)).body.token);

/** A token that expires in this many seconds. With a negative number, it has expired. */
const tokenOf = (videoId: string, expiresIn: number, secret = contentKeySecret) =>
  signPlaybackToken(playbackTokenKey(secret), {
    videoId,
    issuedAt: new Date(Date.now() - 3_600_000),
    expiresAt: new Date(Date.now() + expiresIn * 1000),
    allowDownloads: false,
  });

async function keyWith(permissions: Permission[], workspaceId = plane.workspaceId): Promise<string> {
  const secret = newApiKeySecret('live');
  await plane.db
    .insertInto('api_keys')
    .values({
      id: newId('key'),
      workspace_id: workspaceId,
      name: 'Test',
      prefix: 'svc_live_',
      last4: 'abcd',
      secret_hash: hashToken(secret),
      environment: 'live',
      permissions,
    })
    .execute();
  return secret;
}

describe('POST /videos/:id/playback-tokens', () => {
  test('issues a token for one video that is valid for an hour', async () => {
    const response = await request(plane.url)
      .post(`/v1/videos/${signed}/playback-tokens`)
      .set(plane.credentials);
    expect(response.status).toBe(201);
    expect(response.headers['cache-control']).toBe('no-store');
    const { token, url, expiresAt } = response.body;
    expect(url).toBe(`http://framelane.test${hls(signed)}/master.m3u8?token=${token}`);
    const claims = decodeJwt(token);
    expect(claims).toEqual({
      aud: 'playback',
      sub: signed,
      iat: expect.any(Number),
      exp: Date.parse(expiresAt) / 1000,
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(3600);
    expect(Math.abs(Date.parse(expiresAt) - 3_600_000 - Date.now())).toBeLessThan(60_000);
  });

  test.each([-7200, 7200])(
    'issues and accepts tokens by the clock of the database, although that of the machine is wrong by %d seconds',
    async (offset) => {
      const setRight = shiftClock(offset * 1000);
      try {
        const { token, expiresAt } = (await askToken(signed)).body;
        const now = Date.now() - offset * 1000;
        expect(Math.abs(Date.parse(expiresAt) - 3_600_000 - now)).toBeLessThan(60_000);
        const statusWith = async (shown: string) =>
          (await get(`${hls(signed)}/master.m3u8?token=${shown}`)).status;
        expect(await statusWith(token)).toBe(200);
        expect(await statusWith(await tokenOf(signed, 60 - offset))).toBe(200);
        expect(await statusWith(await tokenOf(signed, -60 - offset))).toBe(403);
      } finally {
        setRight();
      }
    },
  );

  test('issues a token with the requested lifetime', async () => {
    const { token } = (await askToken(signed, { expiresIn: 604_800 })).body;
    const { iat = 0, exp = 0 } = decodeJwt(token);
    expect(exp - iat).toBe(604_800);
    expect((await askToken(signed, {})).status).toBe(201);
  });

  test('works for a video in any state, and for a public one', async () => {
    const { videoId } = await plane.ticket();
    for (const id of [videoId, open]) {
      const { url } = (await askToken(id)).body;
      const response = await get(new URL(url).pathname + new URL(url).search);
      expect(response.status).toBe(id === open ? 200 : 404);
    }
  });

  test('requires only the permission to read videos', async () => {
    const call = async (permissions: Permission[]) => {
      const authorization = `Bearer ${await keyWith(permissions)}`;
      return request(plane.url)
        .post(`/v1/videos/${signed}/playback-tokens`)
        .set({ ...plane.credentials, authorization });
    };
    expect((await call(['videos:read'])).status).toBe(201);
    const refused = await call(['videos:write']);
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_permissions']);
  });

  test.each([59, 604_801, 1.5, '3600', null])('400 for a lifetime of %p', async (expiresIn) => {
    const response = await askToken(signed, { expiresIn });
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
    expect(response.body.errors[0].field).toBe('body/expiresIn');
  });

  test('413 and 415 for invalid bodies', async () => {
    const huge = await askToken(signed, { expiresIn: 60, x: 'x'.repeat(300_000) });
    expect([huge.status, huge.body.code]).toEqual([413, 'body_too_large']);
    const form = await request(plane.url)
      .post(`/v1/videos/${signed}/playback-tokens`)
      .set(plane.credentials)
      .type('form')
      .send('expiresIn=60');
    expect([form.status, form.body.code]).toEqual([415, 'unsupported_media_type']);
  });

  test('404 for an unknown video, 401 without a key', async () => {
    expect((await askToken(newId('vid'))).body.code).toBe('video_not_found');
    expect((await request(plane.url).post(`/v1/videos/${signed}/playback-tokens`)).status).toBe(401);
  });
});

describe('a signed video', () => {
  test.each(PARTS)('401 without a token: %s', async (part) => {
    const response = await get(hls(signed) + part);
    expect([response.status, response.body.code]).toEqual([401, 'playback_token_required']);
    expect(response.headers).toMatchObject({
      'www-authenticate': 'Bearer',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    });
  });

  test('its record has the URL without a token', async () => {
    const { body } = await get(`/v1/videos/${signed}`, plane.credentials);
    expect(body.hls).toBe(`http://framelane.test${hls(signed)}/master.m3u8`);
  });

  test('plays with a token, which is in every URL that needs it', async () => {
    const token = await tokenFor(signed);
    const master = await read(`${hls(signed)}/master.m3u8?token=${token}`);
    expect(master.status).toBe(200);
    expect(master.headers).toMatchObject({
      'cache-control': 'private, no-store',
      'access-control-allow-origin': '*',
    });
    const addresses = master.body.toString().match(/\w+\/index\.m3u8[^"\n]*/g);
    expect(addresses?.toSorted()).toEqual(
      ['360p', '480p', 'audio'].map((name) => `${name}/index.m3u8?token=${token}`),
    );
    for (const address of addresses ?? []) {
      const media = await read(`${hls(signed)}/${address}`);
      expect([media.status, media.headers['cache-control']]).toEqual([200, 'private, no-store']);
      const text = media.body.toString();
      expect(text).toContain(`#EXT-X-KEY:METHOD=AES-128,URI="../key?token=${token}"`);
      expect(text.match(/^\d+\.ts$/gm)).toHaveLength(4);
    }
    const key = await read(`${hls(signed)}/key?token=${token}`);
    expect([key.status, key.body.length, key.headers['cache-control']]).toEqual([200, 16, 'no-store']);
  });

  test('its segments are ciphertext and need no token', async () => {
    const key = segmentKey(
      { workspaceId: plane.workspaceId, videoId: signed, attempt: 1, folder: FOLDER },
      '360p',
      3,
      'ts',
    );
    await plane.objects.put(key, Buffer.alloc(160_000), 'video/mp2t');
    const response = await get(`${hls(signed)}/360p/3.ts`);
    expect(response.status).toBe(200);
    expect(response.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });

  test.each<[string, () => Promise<string>, string]>([
    ['for another video', () => tokenFor(open), 'playback_token_invalid'],
    ['that has expired', () => tokenOf(signed, -1), 'playback_token_expired'],
    ['signed with another secret', () => tokenOf(signed, 60, Buffer.alloc(32)), 'playback_token_invalid'],
    ['that is not a JWT', async () => 'nonsense', 'playback_token_invalid'],
    ['that is empty', async () => '', 'playback_token_invalid'],
    ['with a line break', async () => `${await tokenFor(signed)}%0A`, 'playback_token_invalid'],
    ['given twice', async () => `${await tokenFor(signed)}&token=x`, 'playback_token_invalid'],
    ['in a list', async () => `x&token[]=${await tokenFor(signed)}`, 'playback_token_invalid'],
  ])('403 with a token %s', async (_, token, code) => {
    const shown = await token();
    for (const part of PARTS) {
      const response = await get(`${hls(signed)}${part}?token=${shown}`);
      expect([response.status, response.body.code]).toEqual([403, code]);
      expect(response.body.instance).toBe(hls(signed) + part);
      expect(response.headers).toMatchObject({
        'cache-control': 'no-store',
        'access-control-allow-origin': '*',
      });
    }
  });

  test('a token is valid under its own workspace only', async () => {
    const token = await tokenFor(signed);
    const response = await get(`/v1/hls/${newId('ws')}/${signed}/master.m3u8?token=${token}`);
    expect([response.status, response.body.code]).toEqual([404, 'video_not_found']);
  });

  test('HEAD and 304 need the token as well', async () => {
    expect((await request(plane.url).head(`${hls(signed)}/master.m3u8`)).status).toBe(401);
    const path = `${hls(signed)}/master.m3u8?token=${await tokenFor(signed)}`;
    const { etag } = (await get(path)).headers;
    expect((await request(plane.url).head(path)).status).toBe(200);
    expect((await get(path, { 'if-none-match': String(etag) })).status).toBe(304);
    expect((await get(`${hls(signed)}/master.m3u8`, { 'if-none-match': String(etag) })).status).toBe(401);
  });

  test('404 after its deletion, with a token and with a key', async () => {
    const videoId = await readyVideo({ playbackPolicy: 'signed' });
    const token = await tokenFor(videoId);
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    for (const part of PARTS) {
      expect((await get(`${hls(videoId)}${part}?token=${token}`)).status).toBe(404);
      expect((await get(`${hls(videoId)}${part}`, plane.credentials)).status).toBe(404);
    }
  });
});

describe('a signed video with an API key', () => {
  test('plays, and no URL contains credentials', async () => {
    for (const part of PARTS) {
      const response = await read(hls(signed) + part, plane.credentials);
      expect(response.status).toBe(200);
      expect(response.body.length).toBeGreaterThan(0);
      expect(response.body.toString()).not.toContain('token');
    }
  });

  test('needs only the permission to read videos', async () => {
    const authorization = `Bearer ${await keyWith(['videos:read'])}`;
    expect((await get(`${hls(signed)}/key`, { ...plane.credentials, authorization })).status).toBe(200);
  });

  test.each<[string, () => Promise<Record<string, string>>, number, string]>([
    ['unknown', async () => ({ authorization: 'Bearer nonsense' }), 401, 'invalid_api_key'],
    [
      'without a workspace',
      async () => ({ authorization: `Bearer ${plane.apiKey}` }),
      400,
      'workspace_header_missing',
    ],
    [
      'with the header of another workspace',
      async () => ({ ...plane.credentials, 'x-svc-workspace': newId('ws') }),
      403,
      'workspace_mismatch',
    ],
    [
      'without the permission',
      async () => ({ ...plane.credentials, authorization: `Bearer ${await keyWith(['videos:write'])}` }),
      403,
      'insufficient_permissions',
    ],
    [
      'of another workspace',
      async () => {
        const workspaceId = newId('ws');
        await plane.db.insertInto('workspaces').values({ id: workspaceId, name: 'Other' }).execute();
        const secret = await keyWith(['videos:read'], workspaceId);
        return { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId };
      },
      403,
      'workspace_mismatch',
    ],
  ])('%s: refused', async (_, headers, status, code) => {
    const sent = await headers();
    for (const part of PARTS) {
      const response = await get(hls(signed) + part, sent);
      expect([response.status, response.body.code]).toEqual([status, code]);
    }
  });

  test('a token takes precedence over the key', async () => {
    const path = `${hls(signed)}/master.m3u8`;
    const both = await get(`${path}?token=${await tokenFor(signed)}`, { authorization: 'Bearer nonsense' });
    expect(both.status).toBe(200);
    expect((await get(`${path}?token=x`, plane.credentials)).body.code).toBe('playback_token_invalid');
  });
});

describe('a public video', () => {
  test('ignores tokens and keys', async () => {
    for (const part of PARTS) {
      const response = await read(`${hls(open)}${part}?token=nonsense`, { authorization: 'Bearer nonsense' });
      expect(response.status).toBe(200);
      expect(response.body.length).toBeGreaterThan(0);
      expect(response.body.toString()).not.toContain('token');
    }
    const { headers } = await get(`${hls(open)}/master.m3u8?token=nonsense`);
    expect(headers['cache-control']).toBe('public, no-cache');
  });
});

test('a change of the policy takes effect with its response', async () => {
  const videoId = await readyVideo({});
  const statuses = () => Promise.all(PARTS.map(async (part) => (await get(hls(videoId) + part)).status));
  for (const _ of [1, 2]) {
    await setPolicy(videoId, 'signed').expect(200);
    expect(await statuses()).toEqual([401, 401, 401, 401]);
    await setPolicy(videoId, 'public').expect(200);
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  }
});

test('a preflight for the headers of an API key succeeds', async () => {
  const response = await request(plane.url)
    .options(`${hls(signed)}/master.m3u8`)
    .set({
      origin: 'https://player.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization,x-svc-workspace',
    });
  expect(response.status).toBe(204);
  expect(response.headers['access-control-allow-headers']).toBe('authorization,x-svc-workspace');
});
