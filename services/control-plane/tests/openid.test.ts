import { inspect } from 'node:util';
import { newId } from '@framelane/contracts/ids';
import type { Logger } from '@framelane/service-kit/logger';
import { redact } from '@framelane/service-kit/redact';
import { freePorts } from '@framelane/test-kit/free-ports';
import { type Account, OPENID_CLIENT, OpenIdProviderServer } from '@framelane/test-kit/openid-provider';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import { PERMISSIONS } from '../src/api-keys/permissions.ts';
import { runAdminOn } from './admin/run-admin-on.ts';
import { Browser } from './support/browser.ts';
import { signIn as signInWithLink } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

const PUBLIC_URL = 'http://framelane.test';
const REDIRECT_URI = `${PUBLIC_URL}/console/sign-in/callback`;

let provider: OpenIdProviderServer;
let plane: TestControlPlane;
/** Claims by account. All other accounts have the default claims. */
const accounts = new Map<string, Account>();
/** Runs when the provider has computed the times of an ID token, before it signs the token. */
let onIdToken = () => {};
let logged: { event: string; fields: Record<string, unknown> }[] = [];

beforeAll(async () => {
  provider = await OpenIdProviderServer.start({
    redirectUri: REDIRECT_URI,
    claimsOf: (email) => accounts.get(email) ?? { email, email_verified: true, name: 'Ada Lovelace' },
    ttl: {
      IdToken: () => {
        setImmediate(onIdToken);
        return 600;
      },
    },
  });
  const collect = (event: string, fields: Record<string, unknown>) => void logged.push({ event, fields });
  const logger = { debug: collect, info: collect, warn: collect, error: collect } as unknown as Logger;
  plane = await startControlPlane((config) => ({ ...config, openId: settings() }), {}, { logger });
});
afterAll(async () => {
  await plane.stop();
  await provider.stop();
});
beforeEach(() => {
  logged = [];
});

const settings = () => ({
  issuer: provider.issuer,
  clientId: OPENID_CLIENT.id,
  clientSecret: OPENID_CLIENT.secret,
  name: 'Acme',
});

/** A browser that sends requests for PUBLIC_URL to this control plane. */
const browser = (url = plane.url) => new Browser({ [PUBLIC_URL]: url });

/** Runs a command of the administrator. */
async function admin(...args: string[]): Promise<string> {
  const { code, output, errors } = await runAdminOn(plane.databaseUrl, args, { publicUrl: () => PUBLIC_URL });
  if (code !== 0) throw new Error(errors);
  return output;
}

const START = `${PUBLIC_URL}/console/sign-in/start`;

/** Signs in at the provider. Resolves with the redirect URL back to the console, without requesting it. */
async function authorise(person: Browser, email: string, change = (url: string) => url): Promise<string> {
  const start = await person.get(START);
  const page = await person.follow(await person.get(change(start.location)), (url) =>
    url.startsWith(REDIRECT_URI),
  );
  if (page.url.startsWith(REDIRECT_URI)) return page.url;
  const posted = await person.post(page.url, { email });
  return (await person.follow(posted, (url) => url.startsWith(REDIRECT_URI))).url;
}

async function signIn(person: Browser, email: string) {
  return person.get(await authorise(person, email));
}

const session = async (person: Browser) => {
  const response = await person.get(`${PUBLIC_URL}/v1/console/session`);
  return [response.status, JSON.parse(response.text)];
};

/** Why a sign-in failed: the reason on the page, with the id of the request in the log. */
function failureOf({ location }: { location: string }): string | null {
  const { hash, href } = new URL(location);
  const values = new URLSearchParams(hash.slice(1));
  expect(href).toMatch(/^http:\/\/framelane\.test\/console\/#failure=\w+&request=req_\w+$/);
  expect(logged).toContainEqual({
    event: 'console_sign_in.failed',
    fields: {
      requestId: values.get('request'),
      reason: values.get('failure'),
      error: expect.any(Error),
    },
  });
  return values.get('failure');
}

test('a person who was added gets a session for their workspaces', async () => {
  const { id } = JSON.parse(await admin('workspace', 'create', '--json', '--name', 'Second'));
  await admin('console-person', 'add', '--email', 'Ada@Example.com', '--workspace', plane.workspaceId);
  await admin(
    ...['console-person', 'add', '--email', 'ada@example.com', '--workspace', id],
    ...['--permissions', 'videos:read', '--environment', 'test', '--administrator'],
  );
  const person = browser();
  const { status, location } = await signIn(person, 'ADA@example.com');
  expect([status, location]).toEqual([303, `${PUBLIC_URL}/console/`]);
  const [, body] = await session(person);
  expect(body).toMatchObject({ name: 'Ada Lovelace', email: 'ada@example.com', administrator: true });
  expect(body.workspaces).toHaveLength(2);
  expect(body.workspaces).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: plane.workspaceId, permissions: PERMISSIONS }),
      expect.objectContaining({ id, environments: ['test'], permissions: ['videos:read'] }),
    ]),
  );
  const signedIn = plane.db.selectFrom('audit_events').selectAll().where('action', '=', 'signed_in');
  expect(await signedIn.where('workspace_id', '=', id).execute()).toMatchObject([
    { actor_type: 'person', actor_name: 'Ada Lovelace', operation: 'openIdSignIn', resource_type: 'session' },
  ]);
});

describe('a sign-in is refused', () => {
  beforeAll(() =>
    admin('console-person', 'add', '--email', 'eve@example.com', '--workspace', plane.workspaceId),
  );
  const expectNoSession = async (person: Browser) => expect((await session(person))[0]).toBe(401);

  test.each([
    [
      'with another state',
      'expired',
      (url: string) => url,
      (url: string) => url.replace(/state=[^&]+/, 'state=x'),
    ],
    ['without a state', 'expired', (url: string) => url, (url: string) => url.replace(/state=[^&]+/, '')],
    [
      'with another nonce',
      'rejected',
      (url: string) => url.replace(/nonce=[^&]+/, 'nonce=x'),
      (url: string) => url,
    ],
    [
      'with another code challenge',
      'rejected',
      (url: string) => url.replace(/code_challenge=[^&]+/, `code_challenge=${'x'.repeat(43)}`),
      (url: string) => url,
    ],
    [
      'with another code',
      'rejected',
      (url: string) => url,
      (url: string) => url.replace(/code=[^&]+/, 'code=x'),
    ],
    [
      'with another issuer',
      'rejected',
      (url: string) => url,
      (url: string) => url.replace(/iss=[^&]+/, 'iss=x'),
    ],
  ])('%s: %s', async (_, reason, changeRequest, changeResponse) => {
    const person = browser();
    const url = changeResponse(await authorise(person, 'eve@example.com', changeRequest));
    expect(failureOf(await person.get(url))).toBe(reason);
    await expectNoSession(person);
  });

  test('in another browser, with and without a sign-in of its own', async () => {
    const [attacker, other, empty] = [browser(), browser(), browser()];
    const url = await authorise(attacker, 'eve@example.com');
    await other.get(START);
    for (const person of [other, empty]) {
      expect(failureOf(await person.get(url))).toBe('expired');
      await expectNoSession(person);
    }
  });

  test('with a cookie that was not sealed here', async () => {
    const person = browser();
    const url = await authorise(person, 'eve@example.com');
    for (const forged of ['x', 'eyJhbGciOiJub25lIn0.e30.', Buffer.from('{}').toString('base64url')]) {
      person.cookies.get('framelane.test')?.set('framelane-sign-in', forged);
      expect(failureOf(await person.get(url))).toBe('expired');
    }
  });

  test('with a code that was used before', async () => {
    const person = browser();
    const url = await authorise(person, 'eve@example.com');
    const attempt = person.cookies.get('framelane.test')?.get('framelane-sign-in') ?? '';
    expect((await person.get(url)).location).toBe(`${PUBLIC_URL}/console/`);
    // The browser requests the callback URL again.
    expect(failureOf(await person.get(url))).toBe('expired');
    const thief = browser();
    thief.cookies.set('framelane.test', new Map([['framelane-sign-in', attempt]]));
    expect(failureOf(await thief.get(url))).toBe('rejected');
    await expectNoSession(thief);
  });

  test('after ten minutes', async () => {
    const person = browser();
    const url = await authorise(person, 'eve@example.com');
    const later = performance.now() + 10 * 60_000;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(later);
    const { location } = await person.get(url).finally(() => clock.mockRestore());
    expect(location).toContain('#failure=expired&');
    await expectNoSession(person);
  });

  test('with an ID token that has expired', async () => {
    const person = browser();
    const url = await authorise(person, 'eve@example.com');
    const later = Date.now() + 15 * 60_000;
    onIdToken = () => void jest.spyOn(Date, 'now').mockReturnValue(later);
    const failed = await person.get(url).finally(() => {
      onIdToken = () => {};
      jest.restoreAllMocks();
    });
    expect(failureOf(failed)).toBe('rejected');
    expect(String(inspect(logged, { depth: 9 }))).toContain('OAUTH_JWT_TIMESTAMP_CHECK_FAILED');
    await expectNoSession(person);
  });

  test.each<[string, Account]>([
    ['unverified', { email: 'eve@example.com', email_verified: false }],
    ['of unknown verification', { email: 'eve@example.com' }],
    [
      'unverified, although the owner of its domain is verified',
      { email: 'eve@example.com', email_verified: false, xms_edov: true },
    ],
    [
      'of unknown verification, from another provider than Entra',
      { email: 'eve@example.com', xms_edov: true },
    ],
    ['not there', {}],
    ['no address', { email: 'eve', email_verified: true }],
  ])('when the email address is %s', async (_, account) => {
    const person = browser();
    accounts.set('account-of-eve', account);
    expect(failureOf(await signIn(person, 'account-of-eve'))).toBe('unverified');
    await expectNoSession(person);
  });

  test('when the person was not added, even if their email address looks like an added one', async () => {
    await admin('console-person', 'add', '--email', 'kim@example.com', '--workspace', plane.workspaceId);
    for (const email of ['stranger@example.com', '\u212Aim@example.com']) {
      const person = browser();
      expect(failureOf(await signIn(person, email))).toBe('not_added');
      await expectNoSession(person);
    }
  });

  test('when the person cancels it', async () => {
    expect(failureOf(await signIn(browser(), ''))).toBe('denied');
  });

  test('when the provider does not know the client', async () => {
    const changed = await plane.startAnother({ openId: { ...settings(), clientSecret: 'another' } });
    expect(failureOf(await signIn(browser(changed.url), 'eve@example.com'))).toBe('misconfigured');
    await changed.stop();
  });

  test('when the provider fails or refuses the request; the limit of refused sign-ins does not count it', async () => {
    const limited = await plane.startAnother({ rateLimits: { requestsPerMinute: 0, failuresPerMinute: 1 } });
    for (const [error, reason] of [
      ['server_error', 'unavailable'],
      ['temporarily_unavailable', 'unavailable'],
      ['invalid_scope', 'misconfigured'],
    ]) {
      const person = browser(limited.url);
      const url = (await authorise(person, 'eve@example.com')).replace(/code=[^&]+/, `error=${error}`);
      expect(failureOf(await person.get(url))).toBe(reason);
    }
    await limited.stop();
  });

  test('after too many refused ones from one network', async () => {
    const limited = await plane.startAnother({ rateLimits: { requestsPerMinute: 0, failuresPerMinute: 2 } });
    const person = browser(limited.url);
    for (const expected of ['rejected', 'rejected', 'too_many']) {
      const url = (await authorise(person, 'eve@example.com')).replace(/code=[^&]+/, `code=${newId('req')}`);
      expect(failureOf(await person.get(url))).toBe(expected);
    }
    await limited.stop();
  });
});

describe('the sessions of a person', () => {
  /** The status of a request in a workspace. */
  const statusIn = async (person: Browser, workspaceId: string) =>
    (await person.get(`${PUBLIC_URL}/v1/videos`, { 'X-Svc-Workspace': workspaceId })).status;

  test('end at once when the person is removed, from one workspace or from all', async () => {
    const { id } = JSON.parse(await admin('workspace', 'create', '--json', '--name', 'Third'));
    const add = ['console-person', 'add', '--email', 'bob@example.com'];
    await admin(...add, '--workspace', plane.workspaceId, id);
    const [person, other] = [browser(), browser()];
    await signIn(person, 'bob@example.com');
    await signIn(other, 'bob@example.com');
    expect(await statusIn(person, id)).toBe(200);

    await admin('console-person', 'remove', '--email', 'Bob@example.com', '--workspace', id);
    for (const each of [person, other]) {
      expect([await statusIn(each, id), await statusIn(each, plane.workspaceId)]).toEqual([403, 200]);
    }
    await admin('console-person', 'remove', '--email', 'bob@example.com');
    for (const each of [person, other]) expect((await session(each))[0]).toBe(401);
    expect(failureOf(await signIn(person, 'bob@example.com'))).toBe('not_added');
    await expect(admin('console-person', 'remove', '--email', 'bob@example.com')).rejects.toThrow(
      'There is no person bob@example.com.',
    );
  });

  test('end when the grants of the person change', async () => {
    const add = ['console-person', 'add', '--email', 'carl@example.com', '--workspace', plane.workspaceId];
    await admin(...add, '--administrator');
    const person = browser();
    await signIn(person, 'carl@example.com');
    expect((await session(person))[1]).toMatchObject({ administrator: true });
    await admin(...add, '--permissions', 'usage:read');
    expect((await session(person))[0]).toBe(401);
    await signIn(person, 'carl@example.com');
    expect((await session(person))[1]).toMatchObject({ administrator: false, permissions: ['usage:read'] });
    expect(JSON.parse(await admin('console-person', 'list', '--json'))).toContainEqual({
      email: 'carl@example.com',
      workspaceId: plane.workspaceId,
      environments: ['live', 'test'],
      permissions: ['usage:read'],
      administrator: false,
      addedAt: expect.any(String),
    });
  });

  test('end when the person is removed during the sign-in', async () => {
    const person = browser();
    for (let round = 0; round < 5; round++) {
      await admin('console-person', 'add', '--email', 'dan@example.com', '--workspace', plane.workspaceId);
      const url = await authorise(person, 'dan@example.com');
      await Promise.all([person.get(url), admin('console-person', 'remove', '--email', 'dan@example.com')]);
      expect((await session(person))[0]).toBe(401);
    }
  });

  test('end without those of sign-in links, which have no email address', async () => {
    const { headers } = await signInWithLink(plane, { name: 'By a link' });
    await admin('console-person', 'add', '--email', 'fay@example.com', '--workspace', plane.workspaceId);
    const person = browser();
    await signIn(person, 'fay@example.com');
    const list = async () => (await request(plane.url).get('/v1/console/sessions').set(headers)).body.data;
    expect((await list()).slice(0, 2)).toMatchObject([
      { name: 'Ada Lovelace', email: 'fay@example.com' },
      { name: 'By a link', email: null },
    ]);
    await admin('console-person', 'remove', '--email', 'fay@example.com');
    expect((await list())[0]).toMatchObject({ name: 'By a link', current: true });
  });
});

test('a control plane starts without the provider, and uses it as soon as it is there', async () => {
  const [port = 0] = await freePorts(1);
  const issuer = `http://127.0.0.1:${port}`;
  const another = await plane.startAnother({ openId: { ...settings(), issuer } });
  await admin('console-person', 'add', '--email', 'gil@example.com', '--workspace', plane.workspaceId);
  const person = browser(another.url);
  expect(failureOf(await person.get(START))).toBe('unavailable');
  const late = await OpenIdProviderServer.start({ redirectUri: REDIRECT_URI, port });
  const url = await authorise(person, 'gil@example.com');
  await late.stop();
  expect(failureOf(await person.get(url))).toBe('unavailable');
  const again = await OpenIdProviderServer.start({ redirectUri: REDIRECT_URI, port });
  expect((await signIn(person, 'gil@example.com')).location).toBe(`${PUBLIC_URL}/console/`);
  await again.stop();
  await another.stop();
});

test('the cookies are for this host only, unreadable for scripts, and Secure if the console uses TLS', async () => {
  const [http = ''] = (await browser().get(START)).setCookie;
  expect(http).toMatch(/^framelane-sign-in=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax$/);
  const secure = await plane.startAnother({ publicUrl: 'https://video.example.com' });
  const person = new Browser({ 'https://video.example.com': secure.url });
  const started = await person.get('https://video.example.com/console/sign-in/start');
  expect(started.setCookie).toEqual([
    expect.stringMatching(/^__Host-framelane-sign-in=[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
  ]);
  expect(new URL(started.location).searchParams.get('redirect_uri')).toBe(
    'https://video.example.com/console/sign-in/callback',
  );
  await secure.stop();
});

test('the browser goes to the provider and to the console, and nowhere else', async () => {
  const evil = encodeURIComponent('https://evil.example');
  const query = ['redirect_uri', 'redirect', 'return_to', 'next', 'target']
    .map((name) => `${name}=${evil}`)
    .join('&');
  const person = browser();
  const { location } = await person.get(`${START}?${query}`);
  expect(location).toMatch(`${provider.issuer}/auth?`);
  expect(Object.fromEntries(new URL(location).searchParams)).toEqual({
    client_id: OPENID_CLIENT.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid email profile',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
  expect(failureOf(await person.get(`${REDIRECT_URI}?${query}`))).toBe('expired');
});

test('without a provider, sign-in by OpenID Connect does not exist', async () => {
  const without = await plane.startAnother({ openId: undefined });
  const responseTo = async (url: string) => {
    const { status, location, text } = await browser(without.url).get(url);
    return { status, location, text };
  };
  const ofOtherPath = await responseTo(`${PUBLIC_URL}/console/sign-in/another`);
  expect(ofOtherPath).toMatchObject({ status: 200, location: '' });
  for (const url of [START, REDIRECT_URI]) expect(await responseTo(url)).toEqual(ofOtherPath);
  await without.stop();
});

test('the log has no code, no token and no secret', async () => {
  const person = browser();
  await admin('console-person', 'add', '--email', 'hal@example.com', '--workspace', plane.workspaceId);
  const url = await authorise(person, 'hal@example.com');
  const attempt = person.cookies.get('framelane.test')?.get('framelane-sign-in') ?? '';
  await person.get(url);
  person.cookies.get('framelane.test')?.set('framelane-sign-in', attempt);
  await person.get(url);
  expect(logged.map(({ event }) => event)).toContain('console_session.created');
  expect(logged.map(({ event }) => event)).toContain('console_sign_in.failed');
  const text = JSON.stringify(redact(logged));
  const token = person.cookies.get('framelane.test')?.get('framelane') ?? '';
  const code = new URL(url).searchParams.get('code') ?? '';
  for (const secret of [code, attempt, token, OPENID_CLIENT.secret]) {
    expect(secret).not.toBe('');
    expect(text).not.toContain(secret);
  }
});
