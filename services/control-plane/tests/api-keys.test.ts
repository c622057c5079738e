import { newId } from '@framelane/contracts/ids';
import type { components } from '@framelane/openapi/types';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { PERMISSIONS } from '../src/api-keys/permissions.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { shiftClock } from './support/shift-clock.ts';
import { insertVideo } from './support/video-rows.ts';

type ApiKey = components['schemas']['ApiKey'];
type Created = ApiKey & { secret: string };
type Headers = Record<string, string>;

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const post = (body: object, headers: Headers = plane.credentials) =>
  request(plane.url).post('/v1/api-keys').set(headers).send(body);
const revoke = (id: string, headers: Headers = plane.credentials) =>
  request(plane.url).delete(`/v1/api-keys/${id}`).set(headers);
const list = (query = '', headers: Headers = plane.credentials) =>
  request(plane.url).get(`/v1/api-keys${query}`).set(headers);
const whoami = (headers: Headers) => request(plane.url).get('/v1/auth/whoami').set(headers);

/** Headers of requests with this key. */
const as = ({ secret }: { secret: string }, workspaceId = plane.workspaceId): Headers => ({
  authorization: `Bearer ${secret}`,
  'x-svc-workspace': workspaceId,
});

async function createKey(body: object = {}, headers?: Headers): Promise<Created> {
  const response = await post({ name: 'Test', ...body }, headers);
  expect(response.status).toBe(201);
  return response.body;
}

/** A new workspace with one key that has every permission. */
async function createWorkspace(): Promise<{ headers: Headers; keyId: string }> {
  const id = newId('ws');
  const secret = newApiKeySecret('live');
  await plane.db.insertInto('workspaces').values({ id, name: 'Another' }).execute();
  await createFullKey(plane.db, { workspaceId: id, name: 'First', secret });
  const headers = as({ secret }, id);
  return { headers, keyId: (await whoami(headers)).body.apiKey.id };
}

/** Makes a key expired. */
async function expire(id: string): Promise<void> {
  await plane.db
    .updateTable('api_keys')
    .set({ expires_at: sql`now() - interval '1 second'` })
    .where('id', '=', id)
    .execute();
}

const code = (response: request.Response) => [response.status, response.body.code];

describe('creating a key', () => {
  test('with only a name copies environment, permissions and expiry of the caller', async () => {
    const created = await createKey({ name: 'Website back end' });
    expect(created).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'Website back end',
      secret: expect.stringMatching(/^svc_live_[0-9A-Za-z]{43}$/),
      prefix: 'svc_live_',
      last4: created.secret.slice(-4),
      environment: 'live',
      permissions: [...PERMISSIONS],
      status: 'active',
      createdAt: expect.any(String),
      createdBy: (await whoami(plane.credentials)).body.apiKey.id,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
    expect((await whoami(as(created))).body.apiKey.id).toBe(created.id);
  });

  test('can set a test environment, fewer permissions and an expiry', async () => {
    const created = await createKey({
      environment: 'test',
      permissions: ['videos:read'],
      expiresAt: '2999-12-31T23:59:59+02:00',
    });
    expect(created).toMatchObject({
      prefix: 'svc_test_',
      environment: 'test',
      permissions: ['videos:read'],
      expiresAt: '2999-12-31T21:59:59.000Z',
    });
    expect(created.secret).toMatch(/^svc_test_/);
    const { body } = await whoami(as(created));
    expect(body).toMatchObject({ environment: 'test', permissions: ['videos:read'] });
  });

  test('403 with a permission that the caller lacks', async () => {
    const caller = await createKey({ permissions: ['api_keys:write', 'videos:read'] });
    const more = await post({ name: 'More', permissions: ['videos:read', 'videos:write'] }, as(caller));
    expect(code(more)).toEqual([403, 'permission_escalation']);
    expect(more.body.detail).toContain('videos:write');
    const same = await createKey({}, as(caller));
    expect(same.permissions).toEqual(['api_keys:write', 'videos:read']);
    const fewer = await createKey({ permissions: ['videos:read'] }, as(caller));
    expect(fewer.permissions).toEqual(['videos:read']);
  });

  describe('with a key that expires', () => {
    const EXPIRY = '2999-06-01T00:00:00.000Z';
    let caller: Created;
    beforeAll(async () => {
      caller = await createKey({ expiresAt: EXPIRY });
    });

    test.each([
      ['with the caller by default', undefined, EXPIRY],
      ['at the same time', EXPIRY, EXPIRY],
      ['earlier', '2999-05-31T00:00:00Z', '2999-05-31T00:00:00.000Z'],
    ])('the new key expires %s', async (_, expiresAt, expected) => {
      const child = await createKey({ expiresAt }, as(caller));
      expect(child).toMatchObject({ expiresAt: expected, createdBy: caller.id });
      const grandchild = await createKey({}, as(child));
      expect(grandchild).toMatchObject({ expiresAt: expected, createdBy: child.id });
    });

    test.each([
      ['never', null],
      ['later', '2999-06-01T00:00:00.001Z'],
    ])('403 when the new key would expire %s', async (_, expiresAt) => {
      const response = await post({ name: 'x', expiresAt }, as(caller));
      expect(code(response)).toEqual([403, 'permission_escalation']);
      expect(response.body.detail).toContain(EXPIRY);
    });
  });

  test('a key without expiry can create another one', async () => {
    expect((await createKey({ expiresAt: null })).expiresAt).toBeNull();
  });

  test('a test key creates and revokes test keys only; a live key covers both environments', async () => {
    const testKey = await createKey({ environment: 'test' });
    expect((await createKey({}, as(testKey))).environment).toBe('test');
    const refused = await post({ name: 'x', environment: 'live' }, as(testKey));
    expect(code(refused)).toEqual([403, 'permission_escalation']);
    const live = await createKey({ environment: 'live' });
    expect(code(await revoke(live.id, as(testKey)))).toEqual([403, 'insufficient_permissions']);
    await revoke(testKey.id, as(live)).expect(204);
  });

  test.each([
    ['no name', {}, 'body/name'],
    ['an empty name', { name: '' }, 'body/name'],
    ['a long name', { name: 'x'.repeat(101) }, 'body/name'],
    ['a name that cannot be stored', { name: 'a\u0000b' }, 'body/name'],
    ['another environment', { name: 'x', environment: 'staging' }, 'body/environment'],
    ['no permission', { name: 'x', permissions: [] }, 'body/permissions'],
    ['an unknown permission', { name: 'x', permissions: ['videos:*'] }, 'body/permissions/0'],
    ['a permission twice', { name: 'x', permissions: ['usage:read', 'usage:read'] }, 'body/permissions'],
    ['a past expiry', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' }, 'body/expiresAt'],
    ['an expiry in the year 0', { name: 'x', expiresAt: '0000-01-01T00:00:00+12:00' }, 'body/expiresAt'],
    [
      'an expiry after the year 9999',
      { name: 'x', expiresAt: '9999-12-31T23:59:59-12:00' },
      'body/expiresAt',
    ],
    ['a day that does not exist', { name: 'x', expiresAt: '2999-02-30T00:00:00Z' }, 'body/expiresAt'],
  ])('400 with %s', async (_, body, field) => {
    const response = await post(body);
    expect(code(response)).toEqual([400, 'validation_failed']);
    expect(response.body.errors[0].field).toBe(field);
  });

  test('413 for a huge body, 415 for a form, 400 for broken JSON', async () => {
    expect(code(await post({ name: 'x', more: 'x'.repeat(300_000) }))).toEqual([413, 'body_too_large']);
    const raw = (type: string, body: string) =>
      request(plane.url).post('/v1/api-keys').set(plane.credentials).type(type).send(body);
    expect(code(await raw('form', 'name=x'))).toEqual([415, 'unsupported_media_type']);
    expect(code(await raw('json', '{"name":'))).toEqual([400, 'invalid_json']);
  });

  test('the length of a name is counted in characters', async () => {
    expect((await createKey({ name: '🎬'.repeat(100) })).name).toHaveLength(200);
  });
});

describe('listing keys', () => {
  test('shows every key of the workspace with its state, newest first, and no secret', async () => {
    const { headers, keyId } = await createWorkspace();
    const active = await createKey({ name: 'Active', expiresAt: '2999-01-01T00:00:00Z' }, headers);
    const expired = await createKey({ name: 'Expired', expiresAt: '2999-01-01T00:00:00Z' }, headers);
    const revoked = await createKey({ name: 'Revoked' }, headers);
    await expire(expired.id);
    await revoke(revoked.id, headers).expect(204);
    await expire(revoked.id);

    const response = await list('', headers);
    expect(response.status).toBe(200);
    const keys: ApiKey[] = response.body.data;
    expect(keys.map((key) => [key.id, key.status, key.revokedAt])).toEqual([
      [revoked.id, 'revoked', expect.any(String)],
      [expired.id, 'expired', null],
      [active.id, 'active', null],
      [keyId, 'active', null],
    ]);
    expect(keys[2]).toMatchObject({ prefix: active.prefix, last4: active.last4, name: 'Active' });
    for (const { secret } of [active, expired, revoked]) expect(response.text).not.toContain(secret.slice(9));
    expect(response.text).not.toContain('"secret"');
  });

  test('pages stay consistent while keys are added', async () => {
    const { headers } = await createWorkspace();
    for (let n = 0; n < 4; n += 1) await createKey({ name: `Key ${n}` }, headers);
    const first = await list('?limit=2', headers);
    expect(first.body).toMatchObject({ hasMore: true, nextCursor: expect.any(String) });
    const next = /^<http:\/\/framelane\.test\/v1(.*)>; rel="next"$/.exec(first.headers.link ?? '')?.[1];
    await createKey({ name: 'Late' }, headers);
    const second = await request(plane.url).get(`/v1${next}`).set(headers);
    const last = await list(`?limit=2&cursor=${second.body.nextCursor}`, headers);
    const names = [first, second, last].flatMap(({ body }) => body.data.map((key: ApiKey) => key.name));
    expect(names).toEqual(['Key 3', 'Key 2', 'Key 1', 'Key 0', 'First']);
    expect(last.body).toMatchObject({ hasMore: false, nextCursor: null });
    expect(last.headers).not.toHaveProperty('link');
  });

  test.each(['?limit=0', '?limit=101', '?limit=x', '?cursor=x', '?cursor='])('400 for %s', async (query) => {
    expect(code(await list(query))).toEqual([400, 'validation_failed']);
  });
});

describe('revoking a key', () => {
  test('is effective at once; a second time it is 404', async () => {
    const key = await createKey();
    const response = await revoke(key.id);
    expect([response.status, response.text]).toEqual([204, '']);
    expect(code(await whoami(as(key)))).toEqual([401, 'revoked_api_key']);
    expect(code(await revoke(key.id))).toEqual([404, 'api_key_not_found']);
  });

  test('404 for a key of another workspace, which stays valid', async () => {
    const { headers, keyId } = await createWorkspace();
    expect(code(await revoke(keyId))).toEqual([404, 'api_key_not_found']);
    expect((await whoami(headers)).status).toBe(200);
  });

  test('403 for a key with a permission that the caller lacks, which stays valid', async () => {
    const { headers, keyId } = await createWorkspace();
    // A second key with every permission, so that the first is not the last one.
    await createKey({}, headers);
    const keyWriter = await createKey({ permissions: ['api_keys:write', 'videos:read'] }, headers);
    const asWriter = as(keyWriter, headers['x-svc-workspace']);
    const refused = await revoke(keyId, asWriter);
    expect(code(refused)).toEqual([403, 'insufficient_permissions']);
    expect(refused.body.detail).toContain('webhooks:write');
    expect((await whoami(headers)).status).toBe(200);

    const reader = await createKey({ permissions: ['videos:read'] }, headers);
    await revoke(reader.id, asWriter).expect(204);
    await revoke(keyWriter.id, asWriter).expect(204);
  });

  test('409 for the last key with every permission, even if another key can write keys', async () => {
    const { headers, keyId } = await createWorkspace();
    await createKey({ permissions: ['api_keys:write'] }, headers);
    expect(code(await revoke(keyId, headers))).toEqual([409, 'last_admin_key']);
  });

  test('409 when every other key with every permission expires earlier', async () => {
    const { headers, keyId } = await createWorkspace();
    const shortLived = await createKey({ expiresAt: new Date(Date.now() + 60_000).toISOString() }, headers);
    const asShortLived = as(shortLived, headers['x-svc-workspace']);
    expect(code(await revoke(keyId, asShortLived))).toEqual([409, 'last_admin_key']);
    await revoke(shortLived.id, asShortLived).expect(204);
  });

  test('a key outlives the key that created it, and still names it', async () => {
    const { headers, keyId } = await createWorkspace();
    const child = await createKey({}, headers);
    await revoke(keyId, headers).expect(204);
    const { body } = await list('', as(child, headers['x-svc-workspace']));
    expect(body.data.map((key: ApiKey) => [key.id, key.createdBy])).toEqual([
      [child.id, keyId],
      [keyId, null],
    ]);
  });

  test('409 for the last key with every permission, beside narrower, expired and revoked keys', async () => {
    const { headers, keyId } = await createWorkspace();
    await createKey({ permissions: ['api_keys:read', 'videos:write'] }, headers);
    const expired = await createKey({}, headers);
    await expire(expired.id);
    const revoked = await createKey({}, headers);
    await revoke(revoked.id, headers).expect(204);
    expect(code(await revoke(keyId, headers))).toEqual([409, 'last_admin_key']);
    expect((await whoami(headers)).status).toBe(200);

    const another = await createKey({}, headers);
    await revoke(keyId, headers).expect(204);
    expect(code(await whoami(headers))).toEqual([401, 'revoked_api_key']);
    expect(code(await revoke(another.id, as(another, headers['x-svc-workspace'])))).toEqual([
      409,
      'last_admin_key',
    ]);
  });

  test('409 for the last key that can write keys, in a workspace without a key with every permission', async () => {
    const { headers, keyId } = await createWorkspace();
    const writer = await createKey({ permissions: ['api_keys:write', 'videos:read'] }, headers);
    const asWriter = as(writer, headers['x-svc-workspace']);
    await createKey({ permissions: ['api_keys:read'] }, headers);
    await expire(keyId);
    const refused = await revoke(writer.id, asWriter);
    expect(code(refused)).toEqual([409, 'last_admin_key']);
    expect(refused.body.detail).toContain('api_keys:write');
    expect((await whoami(asWriter)).status).toBe(200);

    await createKey({ permissions: ['api_keys:write'] }, asWriter);
    await revoke(writer.id, asWriter).expect(204);
  });

  test('204 for any other key, also an expired one', async () => {
    const { headers } = await createWorkspace();
    const reader = await createKey({ permissions: ['videos:read'] }, headers);
    const expired = await createKey({}, headers);
    await expire(expired.id);
    await revoke(reader.id, headers).expect(204);
    await revoke(expired.id, headers).expect(204);
  });

  test('when the last two keys revoke each other concurrently, one stays', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { headers, keyId } = await createWorkspace();
      const second = await createKey({}, headers);
      const secondHeaders = as(second, headers['x-svc-workspace']);
      const responses = await Promise.all([revoke(second.id, headers), revoke(keyId, secondHeaders)]);
      // The other request gets 409, or 401 when its key was revoked before its authentication.
      const statuses = responses.map((response) => response.status);
      expect(statuses.filter((status) => status === 204)).toHaveLength(1);
      expect(statuses.filter((status) => status === 409 || status === 401)).toHaveLength(1);
      const after = await Promise.all([whoami(headers), whoami(secondHeaders)]);
      expect(after.map((response) => response.status).toSorted()).toEqual([200, 401]);
    }
  });

  test('does not wait for a concurrent upload ticket', async () => {
    const key = await createKey();
    await plane.db.transaction().execute(async (trx) => {
      await insertVideo(trx, plane.workspaceId);
      await revoke(key.id).expect(204);
    });
  });
});

describe('lastUsedAt', () => {
  const lastUsed = async (id: string) => {
    const row = await plane.db
      .selectFrom('api_keys')
      .select('last_used_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return row.last_used_at?.getTime();
  };

  test('is stored at most once a minute', async () => {
    const [key, unused] = [await createKey(), await createKey()];
    expect(await lastUsed(key.id)).toBeUndefined();
    await whoami(as(key)).expect(200);
    const first = await until(() => lastUsed(key.id));
    await Promise.all(Array.from({ length: 20 }, () => whoami(as(key)).expect(200)));
    expect(await lastUsed(key.id)).toBe(first);

    const longAgo = new Date(Date.now() - 61_000);
    await plane.db.updateTable('api_keys').set({ last_used_at: longAgo }).where('id', '=', key.id).execute();
    await whoami(as(key)).expect(200);
    await until(async () => ((await lastUsed(key.id)) ?? 0) > longAgo.getTime());
    expect(await lastUsed(unused.id)).toBeUndefined();
  });

  test('does not delay requests', async () => {
    const key = await createKey();
    await plane.db.transaction().execute(async (trx) => {
      await trx.selectFrom('api_keys').select('id').where('id', '=', key.id).forUpdate().execute();
      await whoami(as(key)).expect(200);
      await whoami(as(key)).expect(200);
    });
    await until(async () => (await lastUsed(key.id)) !== undefined);
  });
});

describe.each([-3600, 3600])('a control plane whose clock is wrong by %d seconds', (offset) => {
  let restore: () => void;
  beforeAll(() => {
    restore = shiftClock(offset * 1000);
  });
  afterAll(() => restore());

  /** A time by the clock of the database. */
  const inMinutes = (minutes: number) => new Date(Date.now() + (minutes * 60 - offset) * 1000).toISOString();

  test('accepts a key with half an hour left, and refuses one that has expired', async () => {
    const key = await createKey({ expiresAt: inMinutes(30) });
    const statusInList = async () => {
      const { body } = await list();
      return body.data.find(({ id }: ApiKey) => id === key.id).status;
    };
    expect([key.status, await statusInList()]).toEqual(['active', 'active']);
    expect((await whoami(as(key))).status).toBe(200);
    await expire(key.id);
    expect(code(await whoami(as(key)))).toEqual([401, 'expired_api_key']);
    expect(await statusInList()).toBe('expired');
  });

  test('creates no expired key', async () => {
    // The last use of a key is stored in the background, so only the ids are compared.
    const keys = async () => (await list()).body.data.map(({ id }: ApiKey) => id);
    const before = await keys();
    const response = await post({ name: 'x', expiresAt: inMinutes(-30) });
    expect(code(response)).toEqual([400, 'validation_failed']);
    expect(response.body.errors[0].field).toBe('body/expiresAt');
    expect(await keys()).toEqual(before);
  });

  test('does not revoke the last key, which has half an hour left', async () => {
    const { headers, keyId } = await createWorkspace();
    await plane.db
      .updateTable('api_keys')
      .set({ expires_at: new Date(inMinutes(30)) })
      .where('id', '=', keyId)
      .execute();
    expect(code(await revoke(keyId, headers))).toEqual([409, 'last_admin_key']);
  });

  test('stores a use again after a minute', async () => {
    const key = await createKey();
    const longAgo = sql<Date>`now() - interval '61 seconds'`;
    await plane.db.updateTable('api_keys').set({ last_used_at: longAgo }).where('id', '=', key.id).execute();
    await whoami(as(key)).expect(200);
    await until(async () => {
      const { stored } = await plane.db
        .selectFrom('api_keys')
        .select(sql<boolean>`last_used_at > now() - interval '1 minute'`.as('stored'))
        .where('id', '=', key.id)
        .executeTakeFirstOrThrow();
      return stored;
    });
  });
});
