import { createHash } from 'node:crypto';
import { newId } from '@framelane/contracts/ids';
import { pngOf } from '@framelane/test-kit/png';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { PERMISSIONS } from '../src/api-keys/permissions.ts';
import type { Permission } from '../src/db/schema.ts';
import { signIn } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { keyedOperations } from './support/operations.ts';
import { localWebhooks } from './support/webhooks.ts';

const OPERATIONS = keyedOperations();

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...localWebhooks(config), hasRecognizer: true }));
});
afterAll(() => plane.stop());

async function createKey(changes: Record<string, unknown> = {}): Promise<string> {
  const secret = newApiKeySecret('live');
  await createFullKey(plane.db, { workspaceId: plane.workspaceId, name: 'Test', secret });
  if (Object.keys(changes).length > 0) {
    const hash = createHash('sha256').update(secret).digest();
    await plane.db.updateTable('api_keys').set(changes).where('secret_hash', '=', hash).execute();
  }
  return secret;
}

test('the operations that need a key include the known ones', () => {
  const names = OPERATIONS.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'GET /auth/whoami',
      'POST /videos/upload-ticket',
      'GET /videos/{id}',
      'GET /videos',
      'DELETE /videos/{id}',
      'POST /api-keys',
      'GET /api-keys',
      'DELETE /api-keys/{id}',
    ]),
  );
});

/** Ends the sessions of other tests: DELETE /console/sessions is refused while one has more rights than the caller. */
const endSessions = () => plane.db.deleteFrom('console_sessions').execute();

describe.each(OPERATIONS)('$name', ({ method, path, permissions, contentType, body }) => {
  const call = (headers: Record<string, string>) =>
    request(plane.url)
      [method](path)
      .set({ ...(contentType && { 'content-type': contentType }), ...headers })
      .send(body);
  const withKey = (secret: string) => ({
    authorization: `Bearer ${secret}`,
    'x-svc-workspace': plane.workspaceId,
  });

  test.each([
    ['no key', {}, 'missing_api_key'],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, 'missing_api_key'],
    ['no secret after Bearer', { authorization: 'Bearer ' }, 'missing_api_key'],
    ['a garbled key', { authorization: 'Bearer nonsense' }, 'invalid_api_key'],
    ['an unknown key', { authorization: `Bearer ${newApiKeySecret('test')}` }, 'invalid_api_key'],
  ])('401 with %s and no workspace header', async (_, headers, code) => {
    const response = await call(headers as Record<string, string>);
    expect(response.status).toBe(401);
    expect(response.body).toMatchObject({ status: 401, code });
    expect(response.headers['content-type']).toContain('application/problem+json');
    expect(response.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  test('401 with a revoked key and with an expired one', async () => {
    const revoked = await call(withKey(await createKey({ revoked_at: new Date() })));
    expect([revoked.status, revoked.body.code]).toEqual([401, 'revoked_api_key']);
    const expired = await call(withKey(await createKey({ expires_at: new Date(Date.now() - 1) })));
    expect([expired.status, expired.body.code]).toEqual([401, 'expired_api_key']);
  });

  test('400 without the workspace header, 403 with another workspace', async () => {
    const { authorization = '' } = plane.credentials;
    const missing = await call({ authorization });
    expect([missing.status, missing.body.code]).toEqual([400, 'workspace_header_missing']);
    const mismatch = await call({ authorization, 'x-svc-workspace': newId('ws') });
    expect([mismatch.status, mismatch.body.code]).toEqual([403, 'workspace_mismatch']);
  });

  test('403 without the required permission; that permission alone is enough', async () => {
    const others = PERMISSIONS.filter((permission) => !permissions.includes(permission));
    const without = await call(withKey(await createKey({ permissions: others })));
    if (permissions.length === 0) expect(without.status).toBe(200);
    else expect([without.status, without.body.code]).toEqual([403, 'insufficient_permissions']);
    await endSessions();
    const only = await call(withKey(await createKey({ permissions })));
    expect(only.status).toBe(authorizedStatus(method, path));
  });

  test('a session with the permission suffices, without a workspace header; 403 without the permission', async () => {
    const others = PERMISSIONS.filter((permission) => !permissions.includes(permission));
    const workspace = { 'x-svc-workspace': plane.workspaceId };
    const without = await call({ ...(await signIn(plane, { permissions: others })).headers, ...workspace });
    if (permissions.length === 0) expect(without.status).toBe(200);
    else expect([without.status, without.body.code]).toEqual([403, 'insufficient_permissions']);
    await endSessions();
    const only = await call((await signIn(plane, { permissions: permissions as Permission[] })).headers);
    expect(only.status).toBe(authorizedStatus(method, path));
  });

  test('a session is refused in another workspace, from another origin, and once it has ended', async () => {
    const { id, headers } = await signIn(plane);
    const mismatch = await call({ ...headers, 'x-svc-workspace': newId('ws') });
    expect([mismatch.status, mismatch.body.code]).toEqual([403, 'workspace_mismatch']);
    const foreign = await call({ ...headers, origin: 'http://framelane.test:8090' });
    expect([foreign.status, foreign.body.code]).toEqual([403, 'csrf_check_failed']);
    if (method !== 'get') {
      const { 'x-framelane-csrf': _, ...withoutToken } = headers;
      const forged = await call(withoutToken);
      expect([forged.status, forged.body.code]).toEqual([403, 'csrf_check_failed']);
    }
    await plane.db.deleteFrom('console_sessions').where('id', '=', id).execute();
    const ended = await call(headers);
    expect([ended.status, ended.body.code]).toEqual([401, 'console_session_invalid']);
    expect(ended.headers['www-authenticate']).toBe('Bearer');
  });
});

/** The status if authorization passes. Ids in paths are unknown, so it can be 404. */
function authorizedStatus(method: string, path: string): number {
  if (path.includes('/vid_')) return 404;
  if (path.endsWith('/videos/import')) return 202;
  return { post: 201, delete: 204 }[method] ?? 200;
}

describe('resources of another workspace are 404', () => {
  let owner: Record<string, string>;
  /** Resources of the other workspace, by the first segment of their path, with the code of a response that hides them. */
  let foreign: Record<string, { id: string; deliveryId?: string; code: string }>;

  beforeAll(async () => {
    const workspaceId = newId('ws');
    await plane.db.insertInto('workspaces').values({ id: workspaceId, name: 'Other' }).execute();
    const secret = newApiKeySecret('live');
    await createFullKey(plane.db, { workspaceId, name: 'Test', secret });
    owner = { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId };
    const create = async (path: string, body: object) => {
      const response = await request(plane.url).post(`/v1${path}`).set(owner).send(body);
      expect(response.status).toBeLessThan(300);
      return response.body;
    };
    const { videoId } = await create('/videos/upload-ticket', { filename: 'a.mp4' });
    await request(plane.url)
      .put(`/v1/videos/${videoId}/captions/en`)
      .set({ ...owner, 'content-type': 'text/vtt' })
      .send('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n')
      .expect(201);
    const webhook = await create('/webhooks', { url: 'http://127.0.0.1:9/' });
    const delivery = await create(`/webhooks/${webhook.id}/test`, {});
    const key = await create('/api-keys', { name: 'Another' });
    const watermark = await request(plane.url)
      .post('/v1/watermarks')
      .set({ ...owner, 'content-type': 'image/png' })
      .send(pngOf(4, 4))
      .expect(201);
    const session = await signIn({ ...plane, workspaceId });
    const logged = await until(() =>
      plane.db
        .selectFrom('request_log')
        .select('id')
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst(),
    );
    foreign = {
      videos: { id: videoId, code: 'video_not_found' },
      analytics: { id: videoId, code: 'video_not_found' },
      webhooks: { id: webhook.id, deliveryId: delivery.id, code: 'webhook_not_found' },
      'api-keys': { id: key.id, code: 'api_key_not_found' },
      watermarks: { id: watermark.body.id, code: 'watermark_not_found' },
      requests: { id: logged.id, code: 'request_not_found' },
      console: { id: session.id, code: 'console_session_not_found' },
    };
  });

  async function expectUntouched(): Promise<void> {
    const list = async (path: string) => (await request(plane.url).get(`/v1${path}`).set(owner)).body.data;
    const video = { status: 'uploading', title: 'a', poster: null };
    expect(await list('/videos')).toEqual([expect.objectContaining(video)]);
    expect((await list('/videos'))[0].captions).toMatchObject([{ language: 'en', cues: 1 }]);
    const webhook = { enabled: true, url: 'http://127.0.0.1:9/' };
    expect(await list('/webhooks')).toEqual([expect.objectContaining(webhook)]);
    expect(await list('/watermarks')).toHaveLength(1);
    const active = expect.objectContaining({ status: 'active' });
    expect(await list('/api-keys')).toEqual([active, active]);
    expect(await list('/console/sessions')).toHaveLength(1);
  }

  test.each(OPERATIONS.filter(({ template }) => template.includes('{')))(
    '$name',
    async ({ method, template, contentType, body }) => {
      const { id, deliveryId, code } = foreign[template.split('/')[1] ?? ''] ?? {};
      if (id === undefined) throw new Error('No resource of the other workspace is known for this operation');
      const path = template
        .replace('{id}', id)
        .replace('{deliveryId}', String(deliveryId))
        .replace('{language}', 'en')
        .replace('{file}', 'highest');
      for (const credentials of [plane.credentials, (await signIn(plane)).headers]) {
        const response = await request(plane.url)
          [method](`/v1${path}`)
          .set({ ...(contentType && { 'content-type': contentType }), ...credentials })
          .send(body);
        expect([response.status, response.body.code]).toEqual([404, code]);
        await expectUntouched();
      }
    },
  );
});

test('authentication comes before validation', async () => {
  const response = await request(plane.url).post('/v1/videos/upload-ticket').send({ filename: 1 });
  expect(response.body.code).toBe('missing_api_key');
});

test('whoami responds with the workspace and the permissions, never the secret', async () => {
  const response = await request(plane.url).get('/v1/auth/whoami').set(plane.credentials);
  expect(response.status).toBe(200);
  expect(response.body).toMatchObject({
    workspace: { id: plane.workspaceId, name: 'Default' },
    apiKey: { prefix: 'svc_live_', last4: plane.apiKey.slice(-4), environment: 'live' },
    environment: 'live',
    permissions: expect.arrayContaining(['videos:read', 'videos:write']),
  });
  expect(response.text).not.toContain(plane.apiKey);
});

test('only the hash of a key is stored', async () => {
  const rows = await plane.db.selectFrom('api_keys').selectAll().execute();
  expect(JSON.stringify(rows)).not.toContain(plane.apiKey.slice(9));
});
