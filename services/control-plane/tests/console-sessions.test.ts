import { inspect } from 'node:util';
import { newId } from '@framelane/contracts/ids';
import type { Logger } from '@framelane/service-kit/logger';
import { redact } from '@framelane/service-kit/redact';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request, { type Response } from 'supertest';
import { PERMISSIONS } from '../src/api-keys/permissions.ts';
import { hashToken } from '../src/auth/secret-tokens.ts';
import { CONSOLE_ORIGIN, type ConsoleSession, createCode, signIn } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let plane: TestControlPlane;
let another: { url: string };
let secure: { url: string };
/** Everything that the control planes logged, before redaction. */
const logged: unknown[] = [];

beforeAll(async () => {
  const collect = (...line: unknown[]) => void logged.push(line);
  const logger = { debug: collect, info: collect, warn: collect, error: collect } as unknown as Logger;
  plane = await startControlPlane((config) => config, {}, { logger });
  another = await plane.startAnother();
  secure = await plane.startAnother({ publicUrl: SECURE_ORIGIN });
});
afterAll(() => plane.stop());

const FROM_CONSOLE = { origin: CONSOLE_ORIGIN };
const SECURE_ORIGIN = 'https://video.example.com';
const send = (code: unknown, headers: Record<string, string> = FROM_CONSOLE, url = plane.url) =>
  request(url).post('/v1/console/sessions').set(headers).send({ code });
const current = (headers: Record<string, string>, url = plane.url) =>
  request(url).get('/v1/console/session').set(headers);
const whoami = (headers: Record<string, string>, url = plane.url) =>
  request(url).get('/v1/auth/whoami').set(headers);
const outcome = ({ status, body }: Response) => [status, body.code];

const INVALID = [401, 'console_session_invalid'];
const CSRF = [403, 'csrf_check_failed'];

describe('sign-in', () => {
  test('a code becomes a session with what the link grants', async () => {
    const code = await createCode(plane, {
      name: 'Studio',
      environment: 'test',
      permissions: ['videos:read', 'usage:read'],
    });
    const { status, body, headers } = await send(code, { 'user-agent': 'A browser', origin: CONSOLE_ORIGIN });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^ses_/),
      name: 'Studio',
      email: null,
      workspace: { id: plane.workspaceId, name: 'Default' },
      workspaces: [
        {
          id: plane.workspaceId,
          name: 'Default',
          environments: ['test'],
          permissions: ['videos:read', 'usage:read'],
        },
      ],
      environment: 'test',
      permissions: ['videos:read', 'usage:read'],
      administrator: false,
      csrfToken: expect.stringMatching(/^[\w-]{43}$/),
      userAgent: 'A browser',
      createdAt: expect.any(String),
      lastSeenAt: body.createdAt,
      idleExpiresAt: new Date(Date.parse(body.createdAt) + 8 * HOUR).toISOString(),
      expiresAt: new Date(Date.parse(body.createdAt) + 7 * DAY).toISOString(),
    });
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    expect((await current({ cookie })).body).toEqual(body);
    const { body: who } = await whoami({ cookie });
    expect(who).toEqual({
      workspace: body.workspace,
      apiKey: null,
      environment: 'test',
      permissions: body.permissions,
    });
    expect(JSON.stringify([body, who])).not.toContain(cookie.split('=')[1]);
  });

  test('a code works once, also for concurrent requests to two control planes', async () => {
    const code = await createCode(plane);
    const urls = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? plane.url : another.url));
    const responses = await Promise.all(urls.map((url) => send(code, FROM_CONSOLE, url)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(401)]);
    expect(outcome(await send(code))).toEqual([401, 'console_code_invalid']);
  });

  test('an expired and an unknown code are refused, and set no cookie', async () => {
    const [expired, live] = [await createCode(plane, { name: 'Old' }), await createCode(plane)];
    await plane.db
      .updateTable('console_codes')
      .set({ expires_at: new Date(Date.now() - 1) })
      .where('name', '=', 'Old')
      .execute();
    for (const each of [expired, 'console_code_unknown', `${live} `]) {
      const response = await send(each);
      expect(outcome(response)).toEqual([401, 'console_code_invalid']);
      expect(response.headers).not.toHaveProperty('set-cookie');
    }
  });

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another port of the host', { origin: 'http://framelane.test:8090' }],
    ['an opaque origin', { origin: 'null' }],
    ['another site', { origin: CONSOLE_ORIGIN, 'sec-fetch-site': 'cross-site' }],
    ['a request without an origin', {}],
    ['a request without an origin that claims to be from the console', { 'sec-fetch-site': 'same-origin' }],
    ['another origin of the same site', { origin: CONSOLE_ORIGIN, 'sec-fetch-site': 'same-site' }],
  ])('from %s it is refused, and the code stays valid', async (_, headers) => {
    const code = await createCode(plane);
    expect(outcome(await send(code, headers))).toEqual(CSRF);
    expect((await send(code, { origin: CONSOLE_ORIGIN, 'sec-fetch-site': 'same-origin' })).status).toBe(201);
  });

  test('guesses from one network are limited', async () => {
    const limited = await plane.startAnother({ rateLimits: { requestsPerMinute: 0, failuresPerMinute: 3 } });
    for (let n = 0; n < 3; n++)
      expect((await send(`guess-${n}`, FROM_CONSOLE, limited.url)).status).toBe(401);
    expect(outcome(await send('guess-4', FROM_CONSOLE, limited.url))).toEqual([429, 'rate_limited']);
    expect(outcome(await send(await createCode(plane), FROM_CONSOLE, limited.url))).toEqual([
      429,
      'rate_limited',
    ]);
    await limited.stop();
  });

  test('a session token that is sent as a code or as a key still works as a cookie', async () => {
    // Only a control plane with a limit remembers invalid credentials.
    const limited = await plane.startAnother({ rateLimits: { requestsPerMinute: 0, failuresPerMinute: 9 } });
    const { token, headers } = await signIn(plane);
    expect((await send(token, FROM_CONSOLE, limited.url)).status).toBe(401);
    expect((await whoami({ authorization: `Bearer ${token}` }, limited.url)).status).toBe(401);
    expect((await whoami(headers, limited.url)).status).toBe(200);
    await limited.stop();
  });
});

describe('the cookie', () => {
  const cookiesOf = ({ headers }: Response) => headers['set-cookie'] as unknown as string[];

  test('is for this host only, unreadable for scripts, and Secure if the console uses TLS', async () => {
    const [http] = cookiesOf(await send(await createCode(plane)));
    expect(http).toMatch(
      /^framelane=\w+; Max-Age=604800; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Strict$/,
    );
    const [https] = cookiesOf(await send(await createCode(plane), { origin: SECURE_ORIGIN }, secure.url));
    expect(https).toMatch(
      /^__Host-framelane=\w+; Max-Age=604800; Path=\/; Expires=[^;]+ GMT; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  test('has one name for http and another for https', async () => {
    const { token } = await signIn(plane);
    expect((await current({ cookie: `a=b; __Host-framelane=${token}` }, secure.url)).status).toBe(200);
    expect((await current({ cookie: `x__Host-framelane=${token}` }, secure.url)).status).toBe(401);
    expect((await current({ cookie: `framelane=${token}` }, secure.url)).status).toBe(401);
    expect((await current({ cookie: `__Host-framelane=${token}` })).status).toBe(401);
  });

  test('without it: 401', async () => {
    for (const headers of [{}, { cookie: 'framelane=' }, { cookie: 'other=1' }]) {
      expect(outcome(await current(headers))).toEqual([401, 'console_session_missing']);
    }
    expect(outcome(await whoami({ cookie: 'framelane=' }))).toEqual([401, 'missing_api_key']);
    expect(outcome(await current({ cookie: 'framelane=console_session_unknown' }))).toEqual(INVALID);
  });

  test('an Authorization header takes precedence', async () => {
    const { headers } = await signIn(plane);
    for (const authorization of ['Bearer nonsense', 'Bearer ', 'Basic dXNlcjpwYXNz']) {
      expect((await whoami({ ...headers, authorization })).status).toBe(401);
      expect(outcome(await current({ ...headers, authorization }))).toEqual([401, 'console_session_missing']);
    }
    const { body } = await whoami({ cookie: 'framelane=nonsense', ...plane.credentials });
    expect(body.apiKey).toMatchObject({ name: 'First key' });
    // The CSRF check is for cookies.
    const created = await request(plane.url)
      .post('/v1/api-keys')
      .set({ ...plane.credentials, cookie: headers.cookie ?? '', origin: 'https://evil.example' })
      .send({ name: 'By a key' });
    expect(created.status).toBe(201);
  });
});

describe('expiry', () => {
  /** Moves the times of a session into the past. */
  const age = (id: string, ms: number) =>
    sql`update console_sessions set
      last_seen_at = last_seen_at - ${ms / 1000} * interval '1 second',
      idle_expires_at = idle_expires_at - ${ms / 1000} * interval '1 second',
      expires_at = expires_at - ${ms / 1000} * interval '1 second'
      where id = ${id}`.execute(plane.db);
  const rowOf = (id: string) =>
    plane.db.selectFrom('console_sessions').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  test('8 hours after the last request', async () => {
    const { id, headers } = await signIn(plane);
    await age(id, 8 * HOUR - 60_000);
    expect((await current(headers)).status).toBe(200);
    await until(async () => (await rowOf(id)).idle_expires_at.getTime() > Date.now() + 7 * HOUR);
    await age(id, 8 * HOUR);
    expect(outcome(await current(headers))).toEqual(INVALID);
    expect(outcome(await whoami(headers))).toEqual(INVALID);
  });

  test('7 days after the sign-in, whatever is requested', async () => {
    const { id, headers } = await signIn(plane);
    await age(id, 7 * DAY - HOUR);
    const { expires_at } = await rowOf(id);
    const idle = { idle_expires_at: expires_at };
    await plane.db.updateTable('console_sessions').set(idle).where('id', '=', id).execute();
    expect((await current(headers)).status).toBe(200);
    await until(async () => (await rowOf(id)).last_seen_at.getTime() > Date.now() - HOUR);
    expect((await rowOf(id)).idle_expires_at).toEqual(expires_at);
    await age(id, HOUR);
    expect(outcome(await current(headers))).toEqual(INVALID);
  });

  test('the time of the last request is stored at most once a minute', async () => {
    const { id, headers } = await signIn(plane);
    const { id: unused } = await signIn(plane);
    await age(unused, 120_000);
    const before = await rowOf(unused);
    const { last_seen_at } = await rowOf(id);
    await current(headers);
    await age(id, 59_000);
    await current(headers);
    expect((await rowOf(id)).last_seen_at.getTime()).toBe(last_seen_at.getTime() - 59_000);
    await age(id, 2_000);
    await current(headers);
    await until(async () => (await rowOf(id)).last_seen_at >= last_seen_at);
    expect(await rowOf(unused)).toEqual(before);
  });

  test('maintenance deletes expired codes and sessions, and no others', async () => {
    const [expired, live] = [await signIn(plane), await signIn(plane)];
    await age(expired.id, 8 * HOUR);
    // A code stays for a day, so that a late use of it is recognized.
    for (const [name, hours] of Object.entries({ Expired: 25, Recent: 23 })) {
      await createCode(plane, { name });
      const expires_at = new Date(Date.now() - hours * HOUR);
      await plane.db.updateTable('console_codes').set({ expires_at }).where('name', '=', name).execute();
    }
    const code = await createCode(plane, { name: 'Live' });
    await plane.maintain('prune-console-sessions');
    const sessions = await plane.db.selectFrom('console_sessions').select('id').execute();
    expect(sessions.map(({ id }) => id)).toContain(live.id);
    expect(sessions.map(({ id }) => id)).not.toContain(expired.id);
    const codes = await plane.db.selectFrom('console_codes').select('name').execute();
    expect(codes.map(({ name }) => name)).not.toContain('Expired');
    expect(codes.map(({ name }) => name)).toContain('Recent');
    expect((await send(code)).status).toBe(201);
  });
});

describe('the end of a session', () => {
  const remove = (path: string, headers: Record<string, string>, url = plane.url) =>
    request(url).delete(`/v1/console/${path}`).set(headers);
  const list = async (headers: Record<string, string>) =>
    (await request(plane.url).get('/v1/console/sessions?limit=100').set(headers)).body.data;

  test('signing out is effective at once on every control plane, and deletes the cookie', async () => {
    const { headers } = await signIn(plane, { permissions: ['usage:read'] });
    const other = await signIn(plane);
    const response = await remove('session', headers);
    expect(response.status).toBe(204);
    expect(String(response.headers['set-cookie'])).toMatch(/^framelane=; Max-Age=0; Path=\/; .*HttpOnly/);
    for (const url of [plane.url, another.url]) expect(outcome(await whoami(headers, url))).toEqual(INVALID);
    expect(outcome(await remove('session', headers))).toEqual(INVALID);
    expect((await whoami(other.headers)).status).toBe(200);
  });

  test('the list shows the sessions of the workspace that have not expired, without their secrets', async () => {
    const own = await signIn(plane, { name: 'Own', permissions: ['api_keys:read'] });
    const other = await signIn(plane, { name: 'Other', environment: 'test' });
    const listed = await list(own.headers);
    expect(listed.slice(0, 2)).toMatchObject([
      { id: other.id, name: 'Other', environments: ['test'], current: false, permissions: PERMISSIONS },
      { id: own.id, name: 'Own', environments: ['live'], current: true, permissions: ['api_keys:read'] },
    ]);
    expect(Object.keys(listed[0]).filter((name) => /token|hash|csrf/i.test(name))).toEqual([]);
    const byKey = await list(plane.credentials);
    expect(byKey.filter(({ current }: { current: boolean }) => current)).toEqual([]);
    const page = await request(plane.url).get('/v1/console/sessions?limit=1').set(own.headers);
    expect(page.body).toMatchObject({ data: [{ id: other.id }], hasMore: true });
    expect(page.headers.link).toContain('/v1/console/sessions?limit=1&cursor=');
    const ended = { idle_expires_at: new Date(Date.now() - 1) };
    await plane.db.updateTable('console_sessions').set(ended).where('id', '=', other.id).execute();
    expect((await list(own.headers)).map(({ id }: { id: string }) => id)).not.toContain(other.id);
  });

  test.each([
    ['signs out', () => 'session'],
    ['signs out everywhere', () => 'sessions'],
    ['ends the own session', ({ id }: ConsoleSession) => `sessions/${id}`],
  ])('a browser that %s deletes the responses that it stored', async (_, pathOf) => {
    const session = await signIn(plane);
    const { headers } = await remove(pathOf(session), session.headers);
    expect(headers['clear-site-data']).toBe('"cache"');
  });

  test('the end of other sessions deletes nothing in the browser', async () => {
    const [own, other] = [await signIn(plane), await signIn(plane)];
    const responses = [
      await remove(`sessions/${other.id}`, own.headers),
      await remove('sessions', plane.credentials),
    ];
    expect(responses.map(({ status, headers }) => [status, headers['clear-site-data']])).toEqual([
      [204, undefined],
      [204, undefined],
    ]);
  });

  test('a revoked session ends at once, and only that one', async () => {
    const [own, other] = [await signIn(plane), await signIn(plane)];
    expect((await remove(`sessions/${other.id}`, own.headers)).status).toBe(204);
    for (const url of [plane.url, another.url]) {
      expect(outcome(await whoami(other.headers, url))).toEqual(INVALID);
    }
    expect((await whoami(own.headers)).status).toBe(200);
    expect(outcome(await remove(`sessions/${other.id}`, own.headers))).toEqual([
      404,
      'console_session_not_found',
    ]);
  });

  test('signing out everywhere ends all sessions and links of the workspace', async () => {
    const sessions = [await signIn(plane), await signIn(plane), await signIn(plane, { environment: 'test' })];
    const code = await createCode(plane);
    expect((await remove('sessions', (sessions[0] as ConsoleSession).headers)).status).toBe(204);
    for (const { headers } of sessions) expect(outcome(await whoami(headers))).toEqual(INVALID);
    expect(outcome(await send(code))).toEqual([401, 'console_code_invalid']);
    expect((await whoami(plane.credentials)).status).toBe(200);
  });
});

describe('nobody grants or ends rights that exceed their own', () => {
  const NARROW = ['api_keys:write', 'videos:read'] as const;
  const createKey = (body: object, headers: Record<string, string> = plane.credentials) =>
    request(plane.url)
      .post('/v1/api-keys')
      .set(headers)
      .send({ name: 'Test', ...body });
  const asKey = (secret: string) => ({
    authorization: `Bearer ${secret}`,
    'x-svc-workspace': plane.workspaceId,
  });

  /** Creates a key or a session. Resolves with its path and the headers of its requests. */
  const CREDENTIALS = {
    'live key': () => newKey({}),
    'test key': () => newKey({ environment: 'test' }),
    'narrow key': () => newKey({ permissions: NARROW }),
    'live session': () => newSession({}),
    'test session': () => newSession({ environment: 'test' }),
    'narrow session': () => newSession({ permissions: NARROW }),
    'session for both': () =>
      newSession({
        grants: [
          { workspaceId: plane.workspaceId, environments: ['test', 'live'], permissions: PERMISSIONS },
        ],
      }),
    administrator: () => newSession({ administrator: true }),
  };
  type Name = keyof typeof CREDENTIALS;
  const NAMES = Object.keys(CREDENTIALS) as Name[];
  const newKey = async (body: object) => {
    const { body: key } = await createKey(body);
    return { path: `/v1/api-keys/${key.id}`, headers: asKey(key.secret) };
  };
  const newSession = async (link: Parameters<typeof signIn>[1]) => {
    const { id, headers } = await signIn(plane, link);
    return { path: `/v1/console/sessions/${id}`, headers };
  };
  const end = (path: string, headers: Record<string, string>) => request(plane.url).delete(path).set(headers);

  const LIVE: Name[] = NAMES.filter((name) => name !== 'administrator');
  const TEST: Name[] = ['test key', 'test session'];
  const OF_NARROW: Name[] = ['narrow key', 'narrow session'];

  test.each<[Name, Name[]]>([
    ['live key', LIVE],
    ['test key', TEST],
    ['narrow key', OF_NARROW],
    ['live session', LIVE],
    ['test session', TEST],
    ['narrow session', OF_NARROW],
    ['session for both', LIVE],
    ['administrator', NAMES],
  ])('%s', async (name, covered) => {
    const caller = await CREDENTIALS[name]();
    const ended = await Promise.all(
      NAMES.map(async (other) => {
        const target = await CREDENTIALS[other]();
        const response = await end(target.path, caller.headers);
        const isValid = (await whoami(target.headers)).status === 200;
        const isRefused = response.status === 403 && response.body.code === 'insufficient_permissions';
        if (isRefused !== isValid) throw new Error(`${other}: ${response.status}, valid: ${isValid}`);
        return isRefused ? [] : [other];
      }),
    );
    expect(ended.flat()).toEqual(covered);
    // Its own end is always allowed.
    expect((await end(caller.path, caller.headers)).status).toBe(204);
  });

  test('a session for test reaches no live key, also not by way of a test key', async () => {
    const { headers } = await signIn(plane, { environment: 'test' });
    const { body: testKey } = await createKey({ environment: 'test' }, headers);
    const live = await createKey({ environment: 'live' }, asKey(testKey.secret));
    expect(outcome(live)).toEqual([403, 'permission_escalation']);
    expect(live.body.detail).toBe(
      'A key can grant only rights that it has. This one lacks the environment live.',
    );
  });

  test('all sessions of a workspace end only if none of them, and no unused link, exceeds the caller', async () => {
    await end('/v1/console/sessions', (await signIn(plane, { administrator: true })).headers).expect(204);
    const caller = await signIn(plane, { permissions: NARROW });
    const code = await createCode(plane);
    const refused = await end('/v1/console/sessions', caller.headers);
    expect(outcome(refused)).toEqual([403, 'insufficient_permissions']);
    expect(refused.body.detail).toContain('A session can end only sessions and links whose rights it has.');
    const other = await signIn(plane, { environment: 'test', permissions: NARROW });
    const usual = await send(code);
    expect(usual.status).toBe(201);
    expect(outcome(await end('/v1/console/sessions', caller.headers))).toEqual([
      403,
      'insufficient_permissions',
    ]);
    expect((await whoami(other.headers)).status).toBe(200);
    await end(`/v1/console/sessions/${usual.body.id}`, plane.credentials).expect(204);
    await end('/v1/console/sessions', caller.headers).expect(204);
    for (const { headers } of [caller, other]) expect(outcome(await whoami(headers))).toEqual(INVALID);
  });
});

describe('a session with several workspaces', () => {
  let other: string;
  let session: ConsoleSession;
  beforeAll(async () => {
    other = newId('ws');
    await plane.db.insertInto('workspaces').values({ id: other, name: 'Other' }).execute();
  });
  beforeEach(async () => {
    session = await signIn(plane, {
      grants: [
        {
          workspaceId: plane.workspaceId,
          environments: ['live', 'test'],
          permissions: ['videos:read', 'videos:write', 'api_keys:read', 'api_keys:write'],
        },
        { workspaceId: other, environments: ['test'], permissions: ['usage:read'] },
      ],
    });
  });
  const choosing = (workspace: string, environment?: string) => ({
    ...session.headers,
    'x-svc-workspace': workspace,
    ...(environment && { 'x-framelane-environment': environment }),
  });
  /** Requests of another session, in the other workspace only. */
  const requestInOther = async (method: 'get' | 'delete', path: string) => {
    const { headers } = await signIn({ ...plane, workspaceId: other });
    return request(plane.url)[method](`/v1/console/${path}`).set(headers);
  };
  /** The session as the other workspace lists it: after the newer session that requests the list. */
  const listedInOther = async () => (await requestInOther('get', 'sessions')).body.data[1];

  test('each request chooses its workspace and environment, with the permissions there', async () => {
    const first = await whoami(choosing(plane.workspaceId));
    expect(first.body).toMatchObject({ workspace: { id: plane.workspaceId }, environment: 'live' });
    expect((await whoami(choosing(plane.workspaceId, 'test'))).body).toMatchObject({ environment: 'test' });
    const second = await whoami(choosing(other));
    expect(second.body).toMatchObject({
      workspace: { id: other, name: 'Other' },
      environment: 'test',
      permissions: ['usage:read'],
    });
    const usage = (headers: Record<string, string>) => request(plane.url).get('/v1/auth/usage').set(headers);
    expect(outcome(await usage(choosing(plane.workspaceId)))).toEqual([403, 'insufficient_permissions']);
    expect((await usage(choosing(other))).body).toMatchObject({ environment: 'test' });
    const videos = await request(plane.url).get('/v1/videos').set(choosing(other));
    expect(outcome(videos)).toEqual([403, 'insufficient_permissions']);
  });

  test('what it creates is in the chosen environment', async () => {
    const create = (headers: Record<string, string>) =>
      request(plane.url).post('/v1/api-keys').set(headers).send({ name: 'A' });
    expect((await create(choosing(plane.workspaceId, 'test'))).body).toMatchObject({ environment: 'test' });
    expect((await create(choosing(plane.workspaceId))).body).toMatchObject({ environment: 'live' });
  });

  test('a link to a file chooses the workspace in its query', async () => {
    const read = (query: string, path = `/videos/${newId('vid')}/source`) =>
      request(plane.url)
        .get(`/v1${path}${query}`)
        .set({ cookie: session.headers.cookie ?? '' });
    expect(outcome(await read(`?workspace=${plane.workspaceId}`))).toEqual([404, 'video_not_found']);
    expect(outcome(await read(`?workspace=${newId('ws')}`))).toEqual([403, 'workspace_mismatch']);
    expect(outcome(await read('?workspace=a&workspace=b'))).toEqual([400, 'workspace_header_missing']);
    expect(outcome(await read(`?workspace=${plane.workspaceId}`, '/videos'))).toEqual([
      400,
      'workspace_header_missing',
    ]);
    const write = await request(plane.url)
      .post(`/v1/api-keys?workspace=${plane.workspaceId}`)
      .set(session.headers)
      .send({ name: 'A' });
    expect(outcome(write)).toEqual([400, 'workspace_header_missing']);
  });

  test('a request that chooses no workspace is refused, except to read the session', async () => {
    expect(outcome(await whoami(session.headers))).toEqual([400, 'workspace_header_missing']);
    const { body } = await current(session.headers);
    expect(body).toMatchObject({
      workspace: { id: [plane.workspaceId, other].sort()[0] },
      workspaces: [{ id: plane.workspaceId }, { id: other, name: 'Other', environments: ['test'] }].sort(
        (a, b) => (a.id < b.id ? -1 : 1),
      ),
    });
    expect((await current(choosing(other))).body).toMatchObject({ workspace: { id: other } });
  });

  test('a workspace and an environment that it lacks are refused', async () => {
    expect(outcome(await whoami(choosing(newId('ws'))))).toEqual([403, 'workspace_mismatch']);
    expect(outcome(await whoami(choosing(other, 'live')))).toEqual([403, 'environment_mismatch']);
    for (const environment of ['TEST', 'nonsense']) {
      const response = await whoami(choosing(other, environment));
      expect(outcome(response)).toEqual([400, 'validation_failed']);
      expect(response.body.errors).toMatchObject([{ message: 'must be one of live, test' }]);
    }
    const ofKey = { ...plane.credentials, 'x-framelane-environment': 'test' };
    expect(outcome(await whoami(ofKey))).toEqual([403, 'environment_mismatch']);
  });

  test('in one workspace, only the part of the session in that workspace can be listed and ended', async () => {
    const listed = await listedInOther();
    expect(listed).toMatchObject({ name: 'Test', environments: ['test'], permissions: ['usage:read'] });
    const { id: elsewhere } = (await current(choosing(plane.workspaceId))).body;
    const { data } = (await requestInOther('get', 'sessions')).body;
    expect(data.map(({ id }: ConsoleSession) => id)).not.toContain(elsewhere);
    expect((await requestInOther('delete', `sessions/${listed.id}`)).status).toBe(204);
    expect(outcome(await whoami(choosing(other)))).toEqual([403, 'workspace_mismatch']);
    expect((await whoami(session.headers)).body).toMatchObject({ workspace: { id: plane.workspaceId } });
    const { id } = (await current(session.headers)).body;
    expect(outcome(await requestInOther('delete', `sessions/${id}`))).toEqual([
      404,
      'console_session_not_found',
    ]);
    expect((await whoami(session.headers)).status).toBe(200);
  });

  test('signing out everywhere in one workspace keeps the other workspaces of sessions and unused links', async () => {
    const grants = [plane.workspaceId, other].map((workspaceId) => ({
      workspaceId,
      environments: ['live'] as const,
      permissions: PERMISSIONS,
    }));
    const code = await createCode(plane, { grants });
    expect((await requestInOther('delete', 'sessions')).status).toBe(204);
    expect((await current(session.headers)).body.workspaces).toMatchObject([{ id: plane.workspaceId }]);
    expect((await send(code)).body.workspaces).toMatchObject([{ id: plane.workspaceId }]);
  });

  test('signing out works from a page whose workspace the session has lost', async () => {
    const { id } = await listedInOther();
    expect((await requestInOther('delete', `sessions/${id}`)).status).toBe(204);
    const response = await request(plane.url).delete('/v1/console/session').set(choosing(other, 'test'));
    expect(response.status).toBe(204);
    expect(outcome(await whoami(choosing(plane.workspaceId)))).toEqual(INVALID);
  });

  test('an Idempotency-Key is valid in one environment', async () => {
    const create = (environment: string) =>
      request(plane.url)
        .post('/v1/api-keys')
        .set({ ...choosing(plane.workspaceId, environment), 'idempotency-key': 'one' })
        .send({ name: 'A' });
    expect((await create('live')).status).toBe(201);
    expect(outcome(await create('test'))).toEqual([422, 'idempotency_key_reused']);
  });

  test('it creates keys only for its environments', async () => {
    const { headers } = await signIn(plane, { environment: 'test' });
    const create = (environment: string) =>
      request(plane.url).post('/v1/api-keys').set(headers).send({ name: 'A', environment });
    expect(outcome(await create('live'))).toEqual([403, 'environment_mismatch']);
    expect((await create('test')).body).toMatchObject({ environment: 'test' });
  });

  test('signing out ends it in all workspaces', async () => {
    const response = await request(plane.url).delete('/v1/console/session').set(choosing(other));
    expect(response.status).toBe(204);
    for (const workspace of [plane.workspaceId, other]) {
      expect(outcome(await whoami(choosing(workspace)))).toEqual(INVALID);
    }
  });

  test('a request in one workspace moves the idle expiry in all workspaces', async () => {
    const idleExpiries = async () => {
      const rows = await plane.db
        .selectFrom('console_sessions')
        .select('idle_expires_at')
        .where('token_hash', '=', hashToken(session.token))
        .execute();
      return rows.map(({ idle_expires_at }) => idle_expires_at.getTime());
    };
    await sql`update console_sessions set last_seen_at = last_seen_at - interval '2 hours',
      idle_expires_at = idle_expires_at - interval '2 hours'
      where token_hash = ${hashToken(session.token)}`.execute(plane.db);
    await whoami(choosing(other));
    await until(async () => (await idleExpiries()).every((time) => time > Date.now() + 7 * HOUR));
    expect(await idleExpiries()).toHaveLength(2);
  });

  test('it plays signed videos of the workspaces in which it may read videos', async () => {
    const { videoId } = await plane.readyVideo();
    const play = async (workspaceId: string) => {
      const url = `/v1/hls/${workspaceId}/${videoId}/master.m3u8`;
      return outcome(await request(plane.url).get(url).set(session.headers));
    };
    const update = (changes: object) =>
      plane.db.updateTable('videos').set(changes).where('id', '=', videoId).execute();
    await update({ playback_policy: 'signed' });
    expect((await play(plane.workspaceId))[0]).toBe(200);
    await plane.db.updateTable('videos').set({ workspace_id: other }).where('id', '=', videoId).execute();
    expect(await play(other)).toEqual([403, 'insufficient_permissions']);
  });
});

describe('requests of other pages', () => {
  let session: ConsoleSession;
  beforeAll(async () => {
    session = await signIn(plane);
  });
  const create = (headers: Record<string, string>) =>
    request(plane.url).post('/v1/api-keys').set(headers).send({ name: 'Made in the console' });
  const without = (name: string) =>
    Object.fromEntries(Object.entries(session.headers).filter(([each]) => each !== name));

  test.each<[string, () => Record<string, string>]>([
    ['without the CSRF token', () => without('x-framelane-csrf')],
    ['with a wrong CSRF token', () => ({ ...session.headers, 'x-framelane-csrf': 'x'.repeat(43) })],
    ['with an empty CSRF token', () => ({ ...session.headers, 'x-framelane-csrf': '' })],
    [
      'with the session token as CSRF token',
      () => ({ ...session.headers, 'x-framelane-csrf': session.token }),
    ],
    ['without an origin', () => without('origin')],
    ['from another site', () => ({ ...session.headers, origin: 'https://evil.example' })],
    ['from another port', () => ({ ...session.headers, origin: 'http://framelane.test:8090' })],
    ['from a subdomain', () => ({ ...session.headers, origin: 'http://a.framelane.test' })],
    [
      'from the same host over https, while the console has http',
      () => ({ ...session.headers, origin: 'https://framelane.test' }),
    ],
    ['from a sandboxed frame', () => ({ ...session.headers, origin: 'null' })],
    ...['cross-site', 'same-site', 'none'].map((site): [string, () => Record<string, string>] => [
      `with Sec-Fetch-Site: ${site}`,
      () => ({ ...session.headers, 'sec-fetch-site': site }),
    ]),
  ])('%s, a write is refused', async (_, headers) => {
    const response = await create(headers());
    expect(outcome(response)).toEqual(CSRF);
  });

  test('a CSRF token is valid only for its session', async () => {
    const other = await signIn(plane);
    const token = other.headers['x-framelane-csrf'] ?? '';
    expect(outcome(await create({ ...session.headers, 'x-framelane-csrf': token }))).toEqual(CSRF);
    expect((await create({ ...session.headers, 'sec-fetch-site': 'same-origin' })).status).toBe(201);
  });

  test('reads are refused from another site, and need no CSRF token', async () => {
    const { cookie = '' } = session.headers;
    expect(outcome(await whoami({ cookie, 'sec-fetch-site': 'cross-site' }))).toEqual(CSRF);
    expect(outcome(await whoami({ cookie, origin: 'https://evil.example' }))).toEqual(CSRF);
    expect(outcome(await current({ cookie, 'sec-fetch-site': 'cross-site' }))).toEqual(CSRF);
    for (const site of ['same-origin', 'same-site', 'none']) {
      expect((await whoami({ cookie, 'sec-fetch-site': site })).status).toBe(200);
    }
    const head = await request(plane.url)
      .head('/v1/auth/whoami')
      .set({ cookie, 'sec-fetch-site': 'cross-site' });
    expect(head.status).toBe(403);
  });

  test('no response, not even one for players, allows another origin to send credentials', async () => {
    const origin = 'https://evil.example';
    const { videoId } = await plane.readyVideo();
    const playlist = `/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8`;
    const embed = `/v1/embed/${plane.workspaceId}/${videoId}/state`;
    const responses = [
      await send(await createCode(plane), { origin }),
      await request(plane.url).options('/v1/console/sessions').set({ origin }),
      await request(plane.url)
        .options('/v1/api-keys')
        .set({ origin, 'access-control-request-method': 'POST' }),
      await whoami({ ...session.headers, origin }),
      await request(plane.url)
        .get(playlist)
        .set({ ...session.headers, origin }),
      await request(plane.url).options(playlist).set({ origin }),
      await request(plane.url)
        .get(embed)
        .set({ ...session.headers, origin }),
      await request(plane.url)
        .get('/console/')
        .set({ ...session.headers, origin }),
    ];
    for (const { headers } of responses)
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    for (const { headers } of responses.slice(0, 4)) {
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });
});

test('a session plays signed videos of its workspace, with the permission', async () => {
  const { videoId } = await plane.readyVideo();
  await plane.db.updateTable('videos').set({ playback_policy: 'signed' }).where('id', '=', videoId).execute();
  const play = async (headers: Record<string, string>) =>
    outcome(await request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/master.m3u8`).set(headers));
  const { headers } = await signIn(plane, { permissions: ['videos:read'] });
  expect((await play(headers))[0]).toBe(200);
  expect(await play({ ...headers, 'sec-fetch-site': 'cross-site' })).toEqual(CSRF);
  const limited = await signIn(plane, { permissions: ['usage:read'] });
  expect(await play(limited.headers)).toEqual([403, 'insufficient_permissions']);
  expect(await play({ cookie: 'framelane=nonsense' })).toEqual(INVALID);
  expect(await play({})).toEqual([401, 'playback_token_required']);
});

test('a session creates keys that outlast it, with no permission that it lacks', async () => {
  const { headers } = await signIn(plane, {
    permissions: ['api_keys:write', 'videos:read'],
    environment: 'test',
  });
  const create = (body: object) => request(plane.url).post('/v1/api-keys').set(headers).send(body);
  const { body: key } = await create({ name: 'A' });
  expect(key).toMatchObject({
    environment: 'test',
    permissions: ['api_keys:write', 'videos:read'],
    expiresAt: null,
    createdBy: null,
  });
  const escalated = await create({ name: 'B', permissions: ['videos:write'] });
  expect(outcome(escalated)).toEqual([403, 'permission_escalation']);
  expect(escalated.body.detail).toBe(
    'A session can grant only rights that it has. This one lacks videos:write.',
  );
  await request(plane.url).delete('/v1/console/session').set(headers).expect(204);
  const asKey = { authorization: `Bearer ${key.secret}`, 'x-svc-workspace': plane.workspaceId };
  expect((await whoami(asKey)).status).toBe(200);
});

test('the database and the log have no code, no session token and no CSRF token', async () => {
  const code = await createCode(plane);
  const { token, headers } = await signIn(plane);
  const rows = await plane.db.selectFrom('console_sessions').selectAll().execute();
  const codes = await plane.db.selectFrom('console_codes').selectAll().execute();
  expect([rows.length, codes.length]).not.toContain(0);
  await send(code);
  await send(code);
  await request(plane.url).post('/v1/api-keys').set(headers).send({ name: 1 });
  await request(plane.url).delete('/v1/console/session').set(headers);
  await current(headers);
  expect(logged.length).toBeGreaterThan(0);
  const text = inspect([rows, codes, logged], { depth: null, maxArrayLength: null, maxStringLength: null });
  for (const secret of [code, token, headers['x-framelane-csrf']]) {
    expect(text).not.toContain(String(secret).replace(/^console_\w+?_/, ''));
  }
  expect(redact({ url: `${CONSOLE_ORIGIN}/console/#code=${code}`, header: headers.cookie })).toEqual({
    url: `${CONSOLE_ORIGIN}/console/#code=console_code_[redacted]`,
    header: 'framelane=console_session_[redacted]',
  });
});
