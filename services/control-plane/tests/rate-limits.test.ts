import { newId } from '@framelane/contracts/ids';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { insertWorkspace } from './support/database.ts';

const REQUESTS = 4;
const FAILURES = 3;

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    rateLimits: { requestsPerMinute: REQUESTS, failuresPerMinute: FAILURES },
    trustedProxies: ['127.0.0.0/8'],
  }));
});
afterAll(() => plane.stop());

/** An unused key. */
async function newCredentials({ name = 'Test', workspaceId = plane.workspaceId } = {}): Promise<{
  authorization: string;
  'x-svc-workspace': string;
}> {
  const secret = newApiKeySecret('live');
  await createFullKey(plane.db, { workspaceId, name, secret });
  return { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId };
}

const whoami = (headers: Record<string, string>) => request(plane.url).get('/v1/auth/whoami').set(headers);
const from = (address: string) => ({ 'x-forwarded-for': address });
const unknownKey = () => ({ authorization: `Bearer ${newApiKeySecret('live')}` });

async function failOften(address: string): Promise<void> {
  for (let attempt = 0; attempt < FAILURES; attempt++) {
    const response = await whoami({ ...unknownKey(), ...from(address) });
    expect([response.status, response.body.code]).toEqual([401, 'invalid_api_key']);
  }
}

describe('requests of a key', () => {
  test('every response states the remaining requests, also an error', async () => {
    const credentials = await newCredentials();
    const responses = [
      await whoami(credentials),
      await whoami({ ...credentials, 'x-svc-workspace': newId('ws') }),
      await request(plane.url)
        .get(`/v1/videos/${newId('vid')}`)
        .set(credentials),
      await request(plane.url).get('/v1/videos?limit=0').set(credentials),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 403, 404, 400]);
    for (const { headers } of responses) expect(headers['ratelimit-policy']).toBe(`"key";q=${REQUESTS};w=60`);
    expect(responses.map(({ headers }) => /r=(\d+);t=\d+$/.exec(headers.ratelimit ?? '')?.[1])).toEqual([
      '3',
      '2',
      '1',
      '0',
    ]);
  });

  test('429 above the limit, after authentication and before validation; other keys are not affected', async () => {
    const credentials = await newCredentials();
    for (let n = 0; n < REQUESTS; n++) await whoami(credentials);
    const response = await request(plane.url)
      .get('/v1/videos?limit=0')
      .set({ authorization: credentials.authorization ?? '' });
    expect([response.status, response.body.code]).toEqual([429, 'rate_limited']);
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.headers.ratelimit).toMatch(/^"key";r=0;t=\d+$/);
    const wait = Number(response.headers['retry-after']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect((await whoami(await newCredentials())).status).toBe(200);
  });

  test('an operation that needs no key sends no RateLimit header', async () => {
    const { headers } = await request(plane.url).get('/v1/openapi.json');
    expect(headers).not.toHaveProperty('ratelimit');
  });
});

describe('invalid keys', () => {
  test('too many from one address are 429 instead of 401, for keys not seen before', async () => {
    await failOften('203.0.113.1');
    const limited = await whoami({ ...unknownKey(), ...from('203.0.113.1') });
    expect([limited.status, limited.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect((await whoami({ ...(await newCredentials()), ...from('203.0.113.1') })).status).toBe(429);
    expect((await whoami({ ...unknownKey(), ...from('203.0.113.2') })).status).toBe(401);
  });

  test('a valid key in use is not limited by others at its address', async () => {
    const credentials = await newCredentials();
    await whoami({ ...credentials, ...from('203.0.113.3') });
    await failOften('203.0.113.3');
    expect((await whoami({ ...credentials, ...from('203.0.113.3') })).status).toBe(200);
  });

  test('a new key works at an address that still sends the revoked one', async () => {
    const old = await newCredentials({ name: 'Old' });
    await plane.db
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('name', '=', 'Old')
      .execute();
    for (let n = 0; n <= 2 * FAILURES; n++) {
      expect((await whoami({ ...old, ...from('203.0.113.5') })).status).toBe(401);
    }
    expect((await whoami({ ...(await newCredentials()), ...from('203.0.113.5') })).status).toBe(200);
    expect((await whoami({ ...old, ...from('203.0.113.5') })).status).toBe(401);
  });

  test('requests without a key are not counted', async () => {
    for (let n = 0; n <= FAILURES; n++) expect((await whoami(from('203.0.113.4'))).status).toBe(401);
    expect((await whoami({ ...unknownKey(), ...from('203.0.113.4') })).status).toBe(401);
  });

  test('addresses of one IPv6 network share a limit', async () => {
    await failOften('2001:db8:0:1::1');
    expect((await whoami({ ...unknownKey(), ...from('2001:db8:0:1:ffff::2') })).status).toBe(429);
    expect((await whoami({ ...unknownKey(), ...from('2001:db8:0:2::1') })).status).toBe(401);
  });

  test('X-Forwarded-For of an untrusted client is ignored', async () => {
    const untrusting = await plane.startAnother({ trustedProxies: [] });
    const send = (address: string) =>
      request(untrusting.url)
        .get('/v1/auth/whoami')
        .set({ ...unknownKey(), ...from(address) });
    for (let n = 0; n < FAILURES; n++) await send(`198.51.100.${n}`);
    expect((await send('198.51.100.200')).status).toBe(429);
    await untrusting.stop();
  });
});

test('players in web pages can read a 429', async () => {
  const credentials = await newCredentials();
  const { videoId } = await plane.readyVideo();
  await plane.db.updateTable('videos').set({ playback_policy: 'signed' }).where('id', '=', videoId).execute();
  const playlist = (headers: Record<string, string>) =>
    request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8`).set(headers);
  for (let n = 0; n < REQUESTS; n++) await playlist(credentials);
  await failOften('203.0.113.9');
  for (const response of [
    await playlist(credentials),
    await playlist({ ...unknownKey(), ...from('203.0.113.9') }),
  ]) {
    expect([response.status, response.body.code]).toEqual([429, 'rate_limited']);
    expect(response.headers['access-control-allow-origin']).toBe('*');
    expect(response.headers['access-control-expose-headers']).toContain('Retry-After');
  }
});

test('a service without limits sends no RateLimit headers', async () => {
  const unlimited = await plane.startAnother({ rateLimits: { requestsPerMinute: 0, failuresPerMinute: 0 } });
  const response = await request(unlimited.url).get('/v1/auth/whoami').set(plane.credentials);
  expect(response.status).toBe(200);
  expect(response.headers).not.toHaveProperty('ratelimit');
  await unlimited.stop();
});

test('when too many requests are in progress, more of their workspace are refused at once, and those of another are not', async () => {
  const small = await plane.startAnother({
    concurrentRequests: 2,
    rateLimits: { requestsPerMinute: 0, failuresPerMinute: 0 },
  });
  const busy = await newCredentials();
  const other = await newCredentials({ workspaceId: await insertWorkspace(plane.db) });
  const statusOf = async (headers: Record<string, string>) => {
    const response = await fetch(`${small.url}/v1/auth/whoami`, { headers });
    await response.body?.cancel();
    return { status: response.status, retryAfter: response.headers.get('retry-after') };
  };
  for (const headers of [busy, other]) expect((await statusOf(headers)).status).toBe(200);
  const inProgress: Promise<unknown>[] = [];
  await plane.db.transaction().execute(async (transaction) => {
    // Nobody can be authenticated, so requests stay in progress.
    await sql`lock table api_keys in access exclusive mode`.execute(transaction);
    const refused = { status: 429, retryAfter: '1' };
    for (let count = 0; count < 3; count += 1) inProgress.push(statusOf(busy));
    expect(await Promise.race(inProgress)).toEqual(refused);
    inProgress.push(statusOf(other));
    expect(await statusOf(busy)).toEqual(refused);
  });
  const responses = await Promise.all(inProgress);
  expect(responses.at(-1)).toEqual({ status: 200, retryAfter: null });
  await small.stop();
});
