import type { Logger } from '@framelane/service-kit/logger';
import { redact } from '@framelane/service-kit/redact';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request, { type Response } from 'supertest';
import { PERMISSIONS } from '../src/api-keys/permissions.ts';
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
  secure = await plane.startAnother({ publicUrl: 'https://video.example.com' });
});
afterAll(() => plane.stop());

const send = (code: unknown, headers: Record<string, string> = {}, url = plane.url) =>
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
      workspace: { id: plane.workspaceId, name: 'Default' },
      environment: 'test',
      permissions: ['videos:read', 'usage:read'],
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
    const responses = await Promise.all(urls.map((url) => send(code, {}, url)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(401)]);
    expect(outcome(await send(code))).toEqual([401, 'console_code_invalid']);
  });

  test('an expired and an unknown code are refused, and set no cookie', async () => {
    const code = await createCode(plane);
    await plane.db
      .updateTable('console_codes')
      .set({ expires_at: new Date(Date.now() - 1) })
      .execute();
    for (const each of [code, 'console_code_unknown', `${code} `]) {
      const response = await send(each);
      expect(outcome(response)).toEqual([401, 'console_code_invalid']);
      expect(response.headers).not.toHaveProperty('set-cookie');
    }
  });

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another port of the host', { origin: 'http://framelane.test:8090' }],
    ['an opaque origin', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['the same site', { origin: CONSOLE_ORIGIN, 'sec-fetch-site': 'same-site' }],
  ])('from %s it is refused, and spends no code', async (_, headers) => {
    const code = await createCode(plane);
    expect(outcome(await send(code, headers))).toEqual(CSRF);
    expect((await send(code, { origin: CONSOLE_ORIGIN, 'sec-fetch-site': 'same-origin' })).status).toBe(201);
  });

  test('guesses from one network are limited', async () => {
    const limited = await plane.startAnother({ rateLimits: { requestsPerMinute: 0, failuresPerMinute: 3 } });
    for (let n = 0; n < 3; n++) expect((await send(`guess-${n}`, {}, limited.url)).status).toBe(401);
    expect(outcome(await send('guess-4', {}, limited.url))).toEqual([429, 'rate_limited']);
    expect(outcome(await send(await createCode(plane), {}, limited.url))).toEqual([429, 'rate_limited']);
    await limited.stop();
  });

  test('a session token that is sent as a code or as a key still works as a cookie', async () => {
    const limited = await plane.startAnother({ rateLimits: { requestsPerMinute: 0, failuresPerMinute: 9 } });
    const { token, headers } = await signIn(plane);
    expect((await send(token, {}, limited.url)).status).toBe(401);
    expect((await whoami({ authorization: `Bearer ${token}` }, limited.url)).status).toBe(401);
    expect((await whoami(headers, limited.url)).status).toBe(200);
    await limited.stop();
  });
});

describe('the cookie', () => {
  const cookiesOf = ({ headers }: Response) => headers['set-cookie'] as unknown as string[];

  test('is for this host alone, unreadable for scripts, and needs TLS where there is TLS', async () => {
    const [http] = cookiesOf(await send(await createCode(plane)));
    expect(http).toMatch(
      /^framelane=\w+; Max-Age=604800; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Strict$/,
    );
    const [https] = cookiesOf(await send(await createCode(plane), {}, secure.url));
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

  test('the last request is stored by the minute', async () => {
    const { id, headers } = await signIn(plane);
    const { last_seen_at } = await rowOf(id);
    await current(headers);
    await age(id, 59_000);
    await current(headers);
    expect((await rowOf(id)).last_seen_at.getTime()).toBe(last_seen_at.getTime() - 59_000);
    await age(id, 2_000);
    await current(headers);
    await until(async () => (await rowOf(id)).last_seen_at >= last_seen_at);
  });

  test('maintenance deletes expired codes and sessions, and no others', async () => {
    const [expired, live] = [await signIn(plane), await signIn(plane)];
    await age(expired.id, 8 * HOUR);
    await createCode(plane, { name: 'Expired' });
    await plane.db
      .updateTable('console_codes')
      .set({ expires_at: new Date(Date.now() - 1) })
      .where('name', '=', 'Expired')
      .execute();
    const code = await createCode(plane, { name: 'Live' });
    await plane.maintain('prune-console-sessions');
    const sessions = await plane.db.selectFrom('console_sessions').select('id').execute();
    expect(sessions.map(({ id }) => id)).toContain(live.id);
    expect(sessions.map(({ id }) => id)).not.toContain(expired.id);
    const codes = await plane.db.selectFrom('console_codes').select('name').execute();
    expect(codes.map(({ name }) => name)).not.toContain('Expired');
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
    const response = await remove('session', headers);
    expect(response.status).toBe(204);
    expect(String(response.headers['set-cookie'])).toMatch(/^framelane=; Max-Age=0; Path=\/; .*HttpOnly/);
    for (const url of [plane.url, another.url]) expect(outcome(await whoami(headers, url))).toEqual(INVALID);
    expect(outcome(await remove('session', headers))).toEqual(INVALID);
  });

  test('the list shows the live sessions of the workspace, without their secrets', async () => {
    const own = await signIn(plane, { name: 'Own', permissions: ['api_keys:read'] });
    const other = await signIn(plane, { name: 'Other', environment: 'test' });
    const listed = await list(own.headers);
    expect(listed.slice(0, 2)).toMatchObject([
      { id: other.id, name: 'Other', environment: 'test', current: false, permissions: PERMISSIONS },
      { id: own.id, name: 'Own', environment: 'live', current: true, permissions: ['api_keys:read'] },
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
    ['over TLS, which this origin lacks', () => ({ ...session.headers, origin: 'https://framelane.test' })],
    ['from a sandboxed frame', () => ({ ...session.headers, origin: 'null' })],
    ...['cross-site', 'same-site', 'none'].map((site): [string, () => Record<string, string>] => [
      `with Sec-Fetch-Site: ${site}`,
      () => ({ ...session.headers, 'sec-fetch-site': site }),
    ]),
  ])('%s, a write is refused', async (_, headers) => {
    const response = await create(headers());
    expect(outcome(response)).toEqual(CSRF);
  });

  test('a CSRF token is for its session', async () => {
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

  test('no response allows another origin to send credentials, not even those for players', async () => {
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
  expect((await create({ name: 'A' })).body).toMatchObject({
    environment: 'test',
    permissions: ['api_keys:write', 'videos:read'],
    expiresAt: null,
    createdBy: null,
  });
  const escalated = await create({ name: 'B', permissions: ['videos:write'] });
  expect(outcome(escalated)).toEqual([403, 'permission_escalation']);
  expect(escalated.body.detail).toBe(
    'A session can grant only permissions that it has. This one lacks videos:write.',
  );
});

test('the database and the log have no code, no session token and no CSRF token', async () => {
  const code = await createCode(plane);
  const { token, headers } = await signIn(plane);
  await send(code);
  await send(code);
  await request(plane.url).post('/v1/api-keys').set(headers).send({ name: 1 });
  await request(plane.url).delete('/v1/console/session').set(headers);
  await current(headers);
  const rows = await plane.db.selectFrom('console_sessions').selectAll().execute();
  const codes = await plane.db.selectFrom('console_codes').selectAll().execute();
  expect(logged.length).toBeGreaterThan(0);
  const text = JSON.stringify([rows, codes, logged]);
  for (const secret of [code, token, headers['x-framelane-csrf']]) {
    expect(text).not.toContain(String(secret).replace(/^console_\w+?_/, ''));
  }
  expect(redact({ url: `${CONSOLE_ORIGIN}/console/#code=${code}`, header: headers.cookie })).toEqual({
    url: `${CONSOLE_ORIGIN}/console/#code=console_code_[redacted]`,
    header: 'framelane=console_session_[redacted]',
  });
});
