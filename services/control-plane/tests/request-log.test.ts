import { connect } from 'node:net';
import { newId } from '@framelane/contracts/ids';
import { createLogger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { type Database, openDatabase, openPool } from '../src/db/database.ts';
import { Metrics } from '../src/metrics/metrics.ts';
import { type NewEntry, storeRequests } from '../src/request-log/request-log.store.ts';
import { RequestRecorder } from '../src/request-log/request-recorder.ts';
import { signIn } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { openTestDatabase } from './support/database.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

type Headers = Record<string, string>;

const api = (method: 'get' | 'post' | 'patch' | 'delete', path: string, headers: Headers) =>
  request(plane.url)[method](`/v1${path}`).set(headers);

/** A key of a workspace of its own, whose log is empty. */
async function ownWorkspace(permissions?: string[]): Promise<Headers & { secret: string }> {
  const workspaceId = newId('ws');
  await plane.db.insertInto('workspaces').values({ id: workspaceId, name: 'Own' }).execute();
  const secret = newApiKeySecret('live');
  await createFullKey(plane.db, { workspaceId, name: 'Own', secret });
  if (permissions !== undefined)
    await sql`update api_keys set permissions = ${permissions} where workspace_id = ${workspaceId}`.execute(
      plane.db,
    );
  return { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId, secret };
}

/** The requests of the log, oldest first, once there are `count`. They are read with a session, which adds none. */
async function logged(workspaceId: string, count: number, query = '') {
  const { headers } = await signIn({ ...plane, workspaceId });
  return until(async () => {
    const { body } = await api('get', `/requests?limit=100${query}`, headers).expect(200);
    return body.data.length >= count && body.data.toReversed();
  });
}

test('the requests of a key, also refused ones, with their problems', async () => {
  const { secret, ...headers } = await ownWorkspace(['videos:read']);
  const workspaceId = headers['x-svc-workspace'] ?? '';
  await api('get', '/videos?limit=5&q=Ann&status=ready', headers).set('x-request-id', 'mine').expect(200);
  await api('get', '/videos/vid_unknown', headers).expect(404);
  await api('post', '/webhooks', headers).send({ url: 'https://a.example/secret' }).expect(403);
  await api('get', '/videos?limit=0', headers).expect(400);
  await api('get', '/videos', { ...headers, 'x-svc-workspace': plane.workspaceId }).expect(403);
  await request(plane.url).get('/v1/videos').expect(401);
  const found = await logged(workspaceId, 5);
  const short = found.map(({ method, route, path, status, code }: Record<string, unknown>) =>
    [method, route, path, status, code].join(' '),
  );
  expect(short).toEqual([
    'GET /v1/videos /v1/videos 200 ',
    'GET /v1/videos/{id} /v1/videos/vid_unknown 404 video_not_found',
    'POST /v1/webhooks /v1/webhooks 403 insufficient_permissions',
    'GET /v1/videos /v1/videos 400 validation_failed',
    'GET /v1/videos /v1/videos 403 workspace_mismatch',
  ]);
  expect(found[0]).toMatchObject({ requestId: 'mine', apiKey: { last4: secret.slice(-4) } });
  expect(found[0].durationMs).toBeGreaterThanOrEqual(0);
  const { headers: session } = await signIn({ ...plane, workspaceId });
  const { body } = await api('get', `/requests/${found[0].id}`, session).expect(200);
  expect(body).toMatchObject({
    ...found[0],
    query: { limit: 5, q: '[text, length 3]', status: ['[text, length 5]'] },
    requestHeaders: { 'x-svc-workspace': workspaceId },
    requestBody: null,
    responseHeaders: { 'x-request-id': 'mine' },
    responseBody: { data: [], nextCursor: null, hasMore: false },
  });
});

test('a refused HEAD, and a problem with names that the client chose', async () => {
  const { secret: _, ...headers } = await ownWorkspace();
  const workspaceId = headers['x-svc-workspace'] ?? '';
  await request(plane.url).head('/v1/videos?limit=0').set(headers).expect(400);
  const ticket = { filename: 'a.mp4', title: '1980-03-12' };
  for (const more of [{ metadata: { 'Ann is ill': { a: 1 } } }, { 'Ann is ill': 1 }]) {
    await api('post', '/videos/upload-ticket', headers)
      .send({ ...ticket, ...more })
      .expect(400);
  }
  const found = await logged(workspaceId, 3);
  expect(found.map(({ method }: { method: string }) => method)).toEqual(['HEAD', 'POST', 'POST']);
  const { headers: session } = await signIn({ ...plane, workspaceId });
  const [, invalid, unknown] = await Promise.all(
    found.map(async ({ id }: { id: string }) => (await api('get', `/requests/${id}`, session)).body),
  );
  expect(JSON.stringify([invalid, unknown])).not.toMatch(/Ann|1980/);
  expect(invalid.responseBody.errors).toEqual([
    { field: 'body/metadata/[left out]', code: 'type', message: 'must be a string' },
  ]);
  expect(unknown.responseBody).toMatchObject({ errors: [{ field: 'body/[left out]' }] });
  expect(unknown.responseBody.detail).toBe('The request is invalid: see errors.');
});

test('filters and groups', async () => {
  const { secret: _, ...headers } = await ownWorkspace();
  const workspaceId = headers['x-svc-workspace'] ?? '';
  for (const id of ['vid_a', 'vid_b']) await api('get', `/videos/${id}`, headers).expect(404);
  await api('delete', '/videos/vid_a', headers).expect(404);
  const { body: me } = await api('get', '/auth/whoami', headers);
  const all = await logged(workspaceId, 4);
  const { headers: session } = await signIn({ ...plane, workspaceId });
  const count = async (query: string) => (await api('get', `/requests?${query}`, session)).body.data.length;
  const counts = {
    'status=4xx': 3,
    'status=2xx': 1,
    'method=DELETE': 1,
    'path=/v1/videos/vid_a': 2,
    'path=/v1/videos/{id}': 3,
    'code=video_not_found': 3,
    'code=other': 0,
    [`keyId=${me.apiKey.id}`]: 4,
    'keyId=key_other': 0,
    [`requestId=${all[1].requestId}`]: 1,
    [`createdAfter=${all[2].createdAt}&createdBefore=${all[2].createdAt}`]: 0,
    'createdBefore=2020-01-01T00:00:00Z': 0,
  };
  for (const [query, expected] of Object.entries(counts))
    expect([query, await count(query)]).toEqual([query, expected]);
  const { body } = await api('get', '/request-errors', session).expect(200);
  expect(body.data).toEqual([
    expect.objectContaining({
      ...{ method: 'GET', count: 2, code: 'video_not_found', lastId: all[1].id },
      daily: expect.arrayContaining([{ day: all[1].createdAt.slice(0, 10), count: expect.any(Number) }]),
    }),
    expect.objectContaining({
      method: 'DELETE',
      count: 1,
      firstAt: all[2].createdAt,
      lastAt: all[2].createdAt,
    }),
  ]);
  const { body: deletions } = await api('get', '/request-errors?method=DELETE', session);
  expect(deletions.data).toHaveLength(1);
  const other = await ownWorkspace();
  await api('get', `/requests/${all[0].id}`, other).expect(404);
});

test.each([
  ...['requests?path', 'requests?code', 'requests?keyId', 'requests?requestId', 'request-errors?path'],
  ...['audit-events?actorId', 'audit-events?resourceId', 'audit-events/csv?resourceId'],
])('GET /v1/%s refuses a text that the database cannot compare', async (filter) => {
  const { body } = await api('get', `/${filter}=a%00`, plane.credentials).expect(400);
  expect(body.detail).toMatch(/must not contain the character NUL/);
});

/** An entry of a workspace. */
function entry(workspaceId: string, { age = 0, bytes = 100 } = {}): NewEntry {
  return {
    ...{ id: newId('log'), workspace_id: workspaceId, request_id: 'r', key_id: 'key_1', key_last4: 'abcd' },
    ...{
      method: 'GET',
      route: '/v1/videos',
      path: '/v1/videos',
      query: '{}',
      status: 200,
      problem_code: null,
    },
    ...{
      duration_ms: 1,
      request_headers: '{}',
      request_body: null,
      response_headers: '{}',
      response_body: null,
    },
    ...{ bytes, created_at: new Date(Date.now() - age) },
  };
}

const stored = (workspaceId: string) =>
  plane.db
    .selectFrom('request_log')
    .select(['id', 'bytes'])
    .where('workspace_id', '=', workspaceId)
    .execute();
const sizeOf = (workspaceId: string) =>
  plane.db
    .selectFrom('request_log_sizes')
    .select(({ fn }) => [
      fn.sum<number>('entries').as('entries'),
      sql<number>`sum(bytes)::bigint`.as('bytes'),
    ])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();

test('a workspace has at most its entries and bytes, the newest, and takes nothing from others', async () => {
  const [flood = '', other = ''] = [await ownWorkspace(), await ownWorkspace()].map(
    (each) => each['x-svc-workspace'],
  );
  await storeRequests(plane.db, other, [entry(other)]);
  const limits = { entries: 20, bytes: 1_500 };
  for (let age = 30; age > 0; age -= 1) {
    await storeRequests(plane.db, flood, [entry(flood, { age: age * 1000 })], limits);
    const rows = await stored(flood);
    expect(rows.length).toBeLessThanOrEqual(15);
    expect(await sizeOf(flood)).toMatchObject({ entries: rows.length, bytes: rows.length * 100 });
  }
  const newest = entry(flood, { bytes: 10 });
  const many = Array.from({ length: 30 }, (_, age) => entry(flood, { age: 100 + age, bytes: 10 }));
  await storeRequests(plane.db, flood, [...many, newest], limits);
  const rows = await stored(flood);
  expect(rows).toHaveLength(18);
  expect(rows.map(({ id }) => id)).toContain(newest.id);
  expect(await sizeOf(flood)).toMatchObject({ entries: 18, bytes: 180 });
  expect(await stored(other)).toHaveLength(1);
});

/** Sends bytes as they are, and resolves when the server has responded and closed the connection. */
async function sendRaw(lines: readonly string[], body: Buffer = Buffer.alloc(0)): Promise<void> {
  const socket = connect(Number(new URL(plane.url).port), '127.0.0.1');
  const head = [...lines, `content-length: ${body.length}`, 'host: x', 'connection: close', '', ''].join(
    '\r\n',
  );
  // The server may respond to a head that is too large, and close the connection, before it has read all of it.
  socket.on('error', () => {});
  socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body]));
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
}

test('no hostile request loses the others of its workspace, and none makes an entry large', async () => {
  const { secret: _, ...headers } = await ownWorkspace();
  const workspaceId = headers['x-svc-workspace'] ?? '';
  const auth = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const json = [...auth, 'content-type: application/json'];
  const patch = ['PATCH /v1/videos/vid_x HTTP/1.1', ...json];
  const deep = `${'{"metadata":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  const manyFields = JSON.stringify(
    Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n])),
  );
  await Promise.all([
    sendRaw(['GET /v1/videos/vid_\xff\xfe HTTP/1.1', ...auth]),
    sendRaw(['GET /v1/videos?limit=1&q=%00&a%00=%ed%a0%80&status[$ne]=x HTTP/1.1', ...auth]),
    sendRaw([`GET /v1/videos/${'v'.repeat(8_000)} HTTP/1.1`, ...auth]),
    sendRaw(['GET /v1/videos HTTP/1.1', ...auth, `user-agent: ${'\xed\xa0\x80'.repeat(2_000)}`]),
    sendRaw(['GET /v1/videos HTTP/1.1', ...auth, `x-request-id: ${'\xff'.repeat(500)}`]),
    sendRaw(
      patch,
      Buffer.from('{"title":"\\u0000\\ud800","metadata":{"\\u0000":"\\udfff"},"tags":["\\u0000"]}'),
    ),
    sendRaw(patch, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
    sendRaw(patch, Buffer.from('{"keepSourceDays":1e999}')),
    sendRaw(patch, Buffer.from(deep)),
    sendRaw(patch, Buffer.from(manyFields)),
    // Refused before anybody knows whose they are.
    sendRaw(['GET /v1/videos/vid_%ff HTTP/1.1', ...auth]),
    sendRaw(['GET /v1/videos/vid_%00a HTTP/1.1', ...auth]),
    sendRaw(['GET /v1/videos HTTP/1.1', ...auth, `user-agent: ${'a'.repeat(100_000)}`]),
    sendRaw(['GET /v1/videos HTTP/1.1', ...auth, ...Array.from({ length: 10_000 }, (_, n) => `h${n}: 1`)]),
    sendRaw(['GET /v1/videos/a\0b HTTP/1.1', ...auth]),
  ]);
  await api('get', '/auth/whoami', headers).expect(200);
  const found = await logged(workspaceId, 10);
  const short = found.map(({ status, code }: Record<string, unknown>) => `${status} ${code}`);
  expect(short.toSorted()).toEqual([
    ...['200 null', '200 null', '200 null', '400 invalid_json', '400 json_too_deep', '400 unknown_field'],
    ...['400 validation_failed', '400 validation_failed', '404 video_not_found', '413 body_too_large'],
  ]);
  const rows = await plane.db
    .selectFrom('request_log')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .execute();
  expect(rows.length).toBe(found.length);
  for (const row of rows) expect(JSON.stringify(row).length).toBeLessThan(20_000);
});

const DAY_MS = 86_400_000;

/** Stores an entry as if it had been stored `days` ago: the partition of that day exists. */
async function storeEarlier(row: NewEntry, days: number): Promise<string> {
  const day = new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
  const partition = `request_log_${day.replaceAll('-', '')}`;
  await sql`create table if not exists ${sql.table(partition)} partition of request_log
    for values from (${sql.lit(`${day} 00:00:00Z`)}) to (${sql.lit(`${day} 24:00:00Z`)})`.execute(plane.db);
  const created_at = new Date(`${day}T12:00:00Z`);
  await plane.db
    .insertInto('request_log')
    .values({ ...row, created_at } as never)
    .execute();
  const size = { workspace_id: row.workspace_id, day, entries: 1, bytes: row.bytes };
  await plane.db.insertInto('request_log_sizes').values(size).execute();
  return partition;
}

test('the day of requests that are older than seven days is not shown, and dropped with its sums', async () => {
  const workspaceId = (await ownWorkspace())['x-svc-workspace'] ?? '';
  const [old, young] = [entry(workspaceId), entry(workspaceId)];
  const partition = await storeEarlier(old, 8);
  await storeEarlier(young, 6);
  expect((await logged(workspaceId, 1)).map(({ id }: { id: string }) => id)).toEqual([young.id]);
  expect(await sizeOf(workspaceId)).toMatchObject({ entries: 2, bytes: 200 });
  await plane.maintain('keep-request-days');
  expect((await stored(workspaceId)).map(({ id }) => id)).toEqual([young.id]);
  expect(await sizeOf(workspaceId)).toMatchObject({ entries: 1, bytes: 100 });
  const { rows } = await sql`select where to_regclass(${partition}) is null`.execute(plane.db);
  expect(rows).toHaveLength(1);
});

test('errors in groups have the number of each day', async () => {
  const workspaceId = (await ownWorkspace())['x-svc-workspace'] ?? '';
  const failed = () => ({ ...entry(workspaceId), status: 404, problem_code: 'video_not_found' });
  for (const days of [5, 3]) await storeEarlier(failed(), days);
  const newest = failed();
  const other = { ...failed(), created_at: newest.created_at };
  await storeRequests(plane.db, workspaceId, [other, newest, entry(workspaceId)]);
  const { headers } = await signIn({ ...plane, workspaceId });
  const { body } = await api('get', '/request-errors', headers).expect(200);
  const today = newest.created_at.toISOString().slice(0, 10);
  expect(body.data).toMatchObject([{ count: 4, lastAt: newest.created_at.toISOString() }]);
  expect(body.data[0].daily.map(({ count }: { count: number }) => count)).toEqual([1, 1, 2]);
  expect(body.data[0].daily[2].day).toBe(today);
});

test('the oldest requests of all days make room', async () => {
  const workspaceId = (await ownWorkspace())['x-svc-workspace'] ?? '';
  await storeEarlier(entry(workspaceId), 5);
  await storeEarlier(entry(workspaceId), 4);
  const now = Array.from({ length: 9 }, () => entry(workspaceId));
  await storeRequests(plane.db, workspaceId, now, { entries: 10, bytes: 10_000 });
  expect((await stored(workspaceId)).map(({ id }) => id).toSorted()).toEqual(
    now.map(({ id }) => id).toSorted(),
  );
  expect(await sizeOf(workspaceId)).toMatchObject({ entries: 9, bytes: 900 });
});

test('a jump of the clock loses only requests with a wrong time', async () => {
  const workspaceId = (await ownWorkspace())['x-svc-workspace'] ?? '';
  const right = entry(workspaceId);
  const wrong = [entry(workspaceId, { age: 2 * DAY_MS }), entry(workspaceId, { age: -30 * 365 * DAY_MS })];
  expect(await storeRequests(plane.db, workspaceId, [...wrong, right])).toBe(2);
  expect(await storeRequests(plane.db, workspaceId, wrong)).toBe(2);
  expect((await stored(workspaceId)).map(({ id }) => id)).toEqual([right.id]);
});

test('without a partition for today, the first request creates those of the next days', async () => {
  const workspaceId = (await ownWorkspace())['x-svc-workspace'] ?? '';
  const { db, close } = await openTestDatabase();
  await db.insertInto('workspaces').values({ id: workspaceId, name: 'Own' }).execute();
  await Promise.all([1, 2, 3].map(() => storeRequests(db, workspaceId, [entry(workspaceId)])));
  const { rows } =
    await sql`select inhrelid from pg_inherits where inhparent = 'request_log'::regclass`.execute(db);
  expect(rows).toHaveLength(5);
  expect(await db.selectFrom('request_log').select('id').execute()).toHaveLength(3);
  await close();
});

test('with the setting off, nothing is stored', async () => {
  const off = await plane.startAnother({ requestLog: false });
  const { secret: _, ...headers } = await ownWorkspace();
  const workspaceId = headers['x-svc-workspace'] ?? '';
  await request(off.url).get('/v1/videos').set(headers).expect(200);
  await request(plane.url).get('/v1/auth/whoami').set(headers).expect(200);
  expect((await logged(workspaceId, 1)).map(({ path }: { path: string }) => path)).toEqual([
    '/v1/auth/whoami',
  ]);
});

/** A recorder of its own, and a function that records a request as if it had been sent. */
function recording(db: Database) {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const metrics = new Metrics();
  const recorder = new RequestRecorder({ clock: { now: () => new Date() }, db, logger, metrics });
  const headers: Headers = {};
  const record = recorder.handler({});
  const send = (workspace_id: string, query: object = {}) => {
    const listeners: (() => void)[] = [];
    const res = {
      ...{ json: () => {}, locals: {}, headersSent: true, statusCode: 200, getHeaders: () => headers },
      once: (_event: string, listener: () => void) => listeners.push(listener),
    };
    const req = {
      verifiedKey: { id: 'key_1', workspace_id, last4: 'abcd' },
      id: 'r',
      method: 'GET',
      originalUrl: '/v1/videos',
      headers,
      query,
      route: { path: '/v1/videos' },
    };
    record(req as never, res as never, () => {});
    for (const listener of listeners) listener();
  };
  return { recorder, metrics, send };
}

test('a workspace that floods loses requests of its own, and nothing of others', async () => {
  const ids = [];
  for (const _ of [1, 2, 3]) ids.push((await ownWorkspace())['x-svc-workspace'] ?? '');
  const [flood = '', ...others] = ids;
  const { recorder, metrics, send } = recording(plane.db);
  for (let count = 0; count < 20_000; count += 1) {
    send(flood);
    if (count % 1_000 === 0) for (const other of others) send(other);
  }
  await recorder.stop();
  expect(await Promise.all(ids.map(async (id) => (await stored(id)).length))).toEqual([200, 20, 20]);
  expect(await metrics.registry.metrics()).toContain('dropped_total{reason="full"} 19800');
});

test('a database or an entry that fails drops requests, counts them, and delays nobody', async () => {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const db = openDatabase(openPool('postgres://nobody@127.0.0.1:9/none', logger));
  const { recorder, metrics, send } = recording(db);
  for (let count = 0; count < 250; count += 1) send('ws_1');
  for (let count = 0; count < 20; count += 1) send('ws_2');
  // Whatever makes an entry fail, the process goes on.
  send(
    'ws_2',
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('An entry that cannot be made');
        },
      },
    ),
  );
  await recorder.stop();
  await db.destroy();
  const text = await metrics.registry.metrics();
  expect(text).toContain('framelane_request_log_dropped_total{reason="full"} 50');
  expect(text).toContain('framelane_request_log_dropped_total{reason="database"} 220');
  expect(text).toContain('framelane_request_log_dropped_total{reason="failed"} 1');
});
