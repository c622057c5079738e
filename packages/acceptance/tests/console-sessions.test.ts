import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unwrap } from '@framelane/client';
import { expect } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import {
  admin,
  click,
  client,
  endSession,
  fill,
  follow,
  heading,
  inspect,
  openConsole,
  publicUrl,
  signIn,
  signInLink,
  target,
  testAtProvider,
  testInBrowser,
  textOf,
  untilGone,
  untilText,
  useConsole,
} from '../src/console.ts';
import { seriousFindings } from '../src/serious-findings.ts';

useConsole();

testInBrowser('a session that ends in the middle of a form keeps the form', async () => {
  const { page } = await signIn();
  await follow(page, 'Keys');
  await click(page, 'Create key');
  await fill(page, 'Name', 'Typed before the end');
  await endSession(page);
  await click(page, 'Create');
  await untilText(page, 'Your session has ended');
  expect(await seriousFindings(page)).toEqual([]);

  const other = await signIn();
  await other.page.close();
  await page.bringToFront();
  await untilGone(page, 'Your session has ended');
  expect(await textOf(page, 'Name')).toBe('Typed before the end');
});

testInBrowser(
  'without a session there is only the sign-in, and a permission that is missing hides its pages',
  async () => {
    const link = await signInLink('--permissions', 'videos:read');
    const opened = await openConsole(link);
    const { page } = opened;
    await heading(page, 'Home');
    expect(await page.$('input[type="file"]')).toBeNull();
    expect(await page.$('a[href$="/keys"]')).toBeNull();
    await page.goto(`${publicUrl}/console/keys`);
    await untilText(page, 'Insufficient Permissions');
    await page.waitForSelector('.request-id');

    await click(page, 'Sign out');
    await heading(page, 'Sign in');
    // With the settings that the command shares with the node, but without their values if they are paths.
    expect(await textOf(page, 'Command for a sign-in link')).toMatch(
      /^DATA_DIR=… PORT=\d+ npm run admin -- console-link --administrator$/,
    );
    // The link was used before. Only the fragment of the address changes.
    await page.goto(link);
    await untilText(page, 'This link is not valid');
    await inspect(opened, 'sign-in', /(status of|responded with) 40[13]/);
  },
);

/** Signs in at the provider, from the sign-in page on. */
async function signInAtProvider(page: Page, email: string): Promise<void> {
  await click(page, `Sign in with ${target.signInProvider}`, 'link');
  await fill(page, 'Email', email);
  expect(new URL(page.url()).hostname).toBe('127.0.0.1');
  await click(page, 'Continue');
}

testAtProvider(
  'a person who was added can sign in at the provider, which is another site; their removal ends the session',
  async () => {
    const email = 'ada@example.com';
    const opened = await openConsole(`${publicUrl}/console/keys`);
    const { page } = opened;
    await signInAtProvider(page, email);
    await untilText(page, 'You have no access yet');
    await page.waitForSelector('.request-id');
    expect(page.url()).toBe(`${publicUrl}/console/`);
    await inspect(opened, 'sign-in-refused', /(status of|responded with) 40[13]/);

    await admin('console-person', 'add', '--email', email, '--workspace', target.workspaceId);
    // The provider knows the browser.
    await click(page, `Sign in with ${target.signInProvider}`, 'link');
    await heading(page, 'Home');
    const cookies = await page.cookies();
    expect(cookies).toMatchObject([{ name: 'framelane', sameSite: 'Strict', httpOnly: true }]);
    await page.reload();
    await heading(page, 'Home');
    await follow(page, 'Sessions');
    await untilText(page, email);
    await inspect(opened, 'sessions-of-people', /(status of|responded with) 40[13]/);

    await admin('console-person', 'remove', '--email', email);
    await page.bringToFront();
    await follow(page, 'Keys');
    await untilText(page, 'Your session has ended');
    await page.reload();
    await heading(page, 'Sign in');
  },
);

testInBrowser('the sessions page ends another session, and all of them', async () => {
  const { page: other } = await signIn('--name', 'Studio laptop');
  const cookies = await other.cookies();
  const opened = await signIn('--name', 'Ada');
  const { page } = opened;
  await follow(page, 'Sessions');
  await heading(page, 'Sessions');
  await untilText(page, 'This session');
  await untilText(page, 'Studio laptop');
  await inspect(opened, 'sessions');
  await click(page, 'End Studio laptop');
  await click(page, 'End session');
  await page.waitForFunction(`document.querySelector('[aria-label="End Studio laptop"]') === null`);
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const ended = await fetch(`${publicUrl}/v1/auth/whoami`, { headers: { cookie } });
  expect([ended.status, await ended.json()]).toMatchObject([401, { code: 'console_session_invalid' }]);

  await click(page, 'Sign out everywhere');
  await untilText(page, 'API keys stay valid.');
  await click(page, 'End all sessions');
  await untilText(page, 'Your session has ended');
});

testInBrowser('workspace and environment are switched at the top, and stay after a reload', async () => {
  const { id } = JSON.parse(await admin('workspace', 'create', '--json', '--name', 'Second workspace'));
  const opened = await openConsole(await signInLink('--workspace', target.workspaceId, id));
  const { page } = opened;
  await heading(page, 'Home');
  const choice = async (name: string) => {
    const field = await page.waitForSelector(`::-p-aria([name="${name}"][role="combobox"])`);
    return String(await (await field?.getProperty('value'))?.jsonValue());
  };
  const choose = async (name: string, value: string) => {
    const field = await page.waitForSelector(`select[aria-label="${name}"]`);
    await field?.select(value);
    await page.waitForFunction(
      `document.querySelector('select[aria-label="${name}"]:not(:disabled)')?.value === ${JSON.stringify(value)}`,
    );
  };
  // A check of the session for the first workspace ends after the switch.
  await page.evaluate(`{
    const send = fetch;
    globalThis.fetch = async (request) => {
      const response = await send(request);
      if (request.url.endsWith('/console/session') && globalThis.release === undefined)
        await new Promise((resolve) => { globalThis.release = resolve; });
      return response;
    };
    dispatchEvent(new Event('hashchange'));
  }`);
  await page.waitForFunction('globalThis.release !== undefined');
  await choose('Workspace', id);
  await page.evaluate('release()');
  const requestOfKeys = page.waitForRequest((request) => request.url().includes('/v1/api-keys'));
  await follow(page, 'Keys');
  expect((await requestOfKeys).headers()).toMatchObject({ 'x-svc-workspace': id });
  await untilText(page, 'This workspace has no keys.');
  await choose('Environment', 'test');
  await click(page, 'Create key');
  await fill(page, 'Name', 'Made in the second workspace');
  await click(page, 'Create');
  await untilText(page, 'Copy the key now.');
  expect(await textOf(page, 'Key “Made in the second workspace”')).toMatch(/^svc_test_/);
  await click(page, 'Done');
  await inspect(opened, 'workspaces');

  await page.reload();
  await untilText(page, 'Made in the second workspace');
  expect([await choice('Workspace'), await choice('Environment')]).toEqual([id, 'test']);
  await choose('Workspace', target.workspaceId);
  await untilGone(page, 'Made in the second workspace');
  await heading(page, 'Keys');
});

testInBrowser('a page on another port of the same host can do nothing with the session', async () => {
  const { page } = await signIn();
  const names = async () => (await unwrap(client.api.GET('/api-keys'))).data.map(({ name }) => name);
  const server = createServer((_req, res) =>
    res.setHeader('content-type', 'text/html').end('<!doctype html><title>Other</title>'),
  );
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { hostname } = new URL(publicUrl);
  try {
    await page.goto(`http://${hostname}:${port}/`);
    const outcomes = await page.evaluate(`(async () => {
      const api = ${JSON.stringify(`${publicUrl}/v1`)};
      const body = JSON.stringify({ name: 'Forged' });
      const send = (path, options) =>
        fetch(api + path, { credentials: 'include', ...options }).then(({ status, type }) => [type, status], () => 'refused');
      return [
        await send('/auth/whoami'),
        await send('/api-keys', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }),
        await send('/api-keys', { method: 'POST', mode: 'no-cors', body }),
        await send('/console/session', { method: 'DELETE' }),
      ];
    })()`);
    // The page cannot read a response. The list of keys shows that the requests had no effect, either.
    expect(outcomes).toEqual(['refused', 'refused', 'refused', 'refused']);
    const form = `<form method="post" enctype="text/plain" action="${publicUrl}/v1/api-keys"><input name='{"name":"Forged","x":"' value='"}'></form>`;
    await page.setContent(form);
    const [response] = await Promise.all([
      page.waitForNavigation(),
      page.evaluate('document.forms[0].submit()'),
    ]);
    expect(response?.status()).toBeGreaterThanOrEqual(400);
    expect(await names()).not.toContain('Forged');
    await page.goto(`${publicUrl}/console/`);
    await heading(page, 'Home');
  } finally {
    server.close();
  }
});
