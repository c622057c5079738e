import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ApiError } from '@framelane/client';
import { requires } from '@framelane/test-kit/requires';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Browser, BrowserContext, Frame, Page } from 'puppeteer-core';
import { findBrowser, type OpenedPage, openPage, seriousFindings, startBrowser } from '../src/browser.ts';
import { makeMp4 } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const publicUrl = target.baseUrl.replace(/\/v1$/, '');
const executable = findBrowser();
const testInBrowser = requires(
  'Chromium and the data directory',
  executable === undefined || target.objectsDir === null ? 'One of them is missing' : null,
).test;

/** Where the screenshots of a run are. */
const SCREENSHOTS = join(import.meta.dirname, '../screenshots');
const ADMIN = join(import.meta.dirname, '../../single-node/src/cli/admin.ts');
const WIDE = { width: 1440, height: 900 };
/** Without `isMobile`, which would load the page again. */
const PHONE = { width: 375, height: 812 };

/** A title that would run a script, and break attributes, if a page did not escape it. */
const HOSTILE = `"'><img src=x onerror="window.attacked=1"><script>window.attacked=1</script>{{7*7}}`;

let directory: string;
let clip: string;
let browser: Browser;
/** Has cookies of its own. */
let context: BrowserContext;

beforeAll(async () => {
  if (executable === undefined) return;
  directory = await mkdtemp(join(tmpdir(), 'framelane-console-'));
  await mkdir(SCREENSHOTS, { recursive: true });
  const audio = { sampleRate: 48_000, channels: 2 };
  const plan = { name: 'console-clip', width: 640, height: 360, rate: '25', seconds: 3, audio };
  [browser, clip] = await Promise.all([startBrowser(executable), makeMp4(directory, plan)]);
});
afterAll(async () => {
  await browser?.close();
  await client.deleteAll();
  if (directory !== undefined) await rm(directory, { recursive: true });
});
beforeEach(async () => {
  if (browser !== undefined) context = await browser.createBrowserContext();
});
afterEach(() => context?.close());

/** A sign-in link, as an administrator makes it. */
async function signInLink(...options: string[]): Promise<string> {
  const args = [ADMIN, 'console-link', '--json', '--workspace', target.workspaceId, ...options];
  const env = { ...process.env, DATA_DIR: dirname(target.objectsDir ?? ''), PUBLIC_URL: publicUrl };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout).url;
}

async function signIn(...options: string[]): Promise<OpenedPage> {
  const opened = await openPage(context, await signInLink(...options), WIDE, 'load');
  await heading(opened.page, 'Videos');
  return opened;
}

/** Waits until the page has this heading, and the document this name. */
async function heading(page: Page, text: string): Promise<void> {
  const words = JSON.stringify(text);
  await page.waitForFunction(
    `document.querySelector('h1')?.textContent.startsWith(${words}) && document.title.startsWith(${words})`,
  );
}

async function untilText(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)})`);
}

async function untilGone(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`!document.body.innerText.includes(${JSON.stringify(text)})`);
}

async function untilRows(page: Page, count: number): Promise<void> {
  await page.waitForFunction(`document.querySelectorAll('.rows > li').length === ${count}`);
}

const click = (page: Page, name: string, role = 'button') =>
  page.locator(`::-p-aria([name="${name}"][role="${role}"])`).click();

const fill = (page: Page, name: string, value: string) =>
  page.locator(`::-p-aria([name="${name}"][role="textbox"])`).fill(value);

/** The text of a field that can be copied, or of an input. */
async function textOf(page: Page, name: string): Promise<string> {
  const field = await page.waitForSelector(`::-p-aria([name="${name}"][role="textbox"])`);
  return String(await (await field?.getProperty('value'))?.jsonValue());
}

/** Opens a page of the console as its links do, so that the session's page is not loaded again. */
const follow = (page: Page, name: string) => click(page, name, 'link');

/**
 * The problems of a page. A page that is left aborts its requests, which is none; other failures also have a line in the console.
 */
function problemsOf({ problems }: OpenedPage, expected?: RegExp): string[] {
  return problems.filter((each) => !/\/v1\/\S+ failed$/.test(each) && !expected?.test(each));
}

/** Checks a page in light and dark, wide and on a phone, and keeps the screenshots. */
async function inspect(opened: OpenedPage, name: string, expected?: RegExp): Promise<void> {
  const { page } = opened;
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.waitForSelector(`html[data-mantine-color-scheme="${scheme}"]`);
    for (const viewport of [WIDE, PHONE]) {
      await page.setViewport(viewport);
      // Transitions between the colours of both would count as too little contrast.
      await page.waitForFunction('document.getAnimations().length === 0');
      await page.screenshot({ path: join(SCREENSHOTS, `console-${name}-${viewport.width}-${scheme}.png`) });
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect({ name, scheme, overflow }).toEqual({ name, scheme, overflow: 0 });
    }
    expect({ name, scheme, findings: await seriousFindings(page) }).toEqual({ name, scheme, findings: [] });
  }
  await page.setViewport(WIDE);
  expect(problemsOf(opened, expected)).toEqual([]);
}

/** Drops a file on the page, as from a file manager. */
async function drop(page: Page, name: string, content: string): Promise<void> {
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }`);
}

/** Waits until the list shows this status of a video. The list asks for it by itself. */
async function untilStatus(page: Page, title: string, status: string): Promise<void> {
  await page.waitForFunction(
    `[...document.querySelectorAll('.rows > li')].some((row) =>
      row.querySelector('a')?.textContent === ${JSON.stringify(title)} && row.textContent.includes(${JSON.stringify(status)}))`,
  );
}

const idIn = (page: Page) => new URL(page.url()).pathname.split('/').pop() ?? '';

testInBrowser('from the link to a playing video, and its deletion', async () => {
  const opened = await signIn();
  const { page, requested } = opened;
  expect(new URL(page.url()).hash).toBe('');
  expect(await page.evaluate('document.cookie')).toBe('');

  const [chooser] = await Promise.all([page.waitForFileChooser(), click(page, 'Choose files')]);
  await chooser.accept([clip]);
  await drop(page, 'console-notes.mp4', 'These are notes and no video.');
  await untilText(page, '2 of 2 uploaded');
  await untilStatus(page, 'console-notes', 'Failed');
  await untilStatus(page, 'console-clip', 'Ready');
  await inspect(opened, 'uploads');
  await click(page, 'Clear uploaded');

  await follow(page, 'console-clip');
  await heading(page, 'console-clip');
  const videoId = idIn(page);
  client.adopt(videoId);
  const frame = await (await page.waitForSelector('iframe'))?.contentFrame();
  await play(frame as Frame);
  await inspect(opened, 'video');
  expect(await textOf(page, 'Video')).toBe(videoId);
  expect(await textOf(page, 'Playlist (HLS)')).toBe((await client.video(videoId)).hls);

  await page.goBack();
  await heading(page, 'Videos');
  await follow(page, 'console-notes');
  await heading(page, 'console-notes');
  const notesId = idIn(page);
  client.adopt(notesId);
  await untilText(page, 'Check that you chose the right file.');
  await inspect(opened, 'failed');
  await click(page, 'Delete video');
  await fill(page, 'Type the title to confirm: console-notes', 'console-note');
  const isDisabled = () => page.evaluate(`document.querySelector('button[type=submit]').disabled`);
  expect(await isDisabled()).toBe(true);
  await fill(page, 'Type the title to confirm: console-notes', 'console-notes');
  expect(await isDisabled()).toBe(false);
  await click(page, 'Delete');
  await heading(page, 'Videos');
  await untilGone(page, 'console-notes');
  await expect(client.video(notesId)).rejects.toThrow(ApiError);

  expect(problemsOf(opened)).toEqual([]);
  const origins = new Set(
    requested
      .map((url) => new URL(url))
      .filter(({ protocol }) => protocol !== 'blob:')
      .map(({ origin }) => origin),
  );
  expect([...origins].sort()).toEqual([new URL(publicUrl).origin, new URL(target.engineUrl).origin].sort());
});

async function play(frame: Frame): Promise<void> {
  await frame.waitForFunction(`document.querySelector('framelane-video')?.readyState >= 2`);
  await frame.evaluate(`document.querySelector('media-play-button.large').click()`);
  await frame.waitForFunction(`document.querySelector('framelane-video').currentTime > 0.5`);
}

testInBrowser('a title cannot run a script, and search, filter and pages are in the address', async () => {
  const series = `console-${Date.now()}-`;
  await Promise.all(
    [HOSTILE, ...Array.from({ length: 26 }, (_, n) => `${series}${n}`)].map((title) =>
      client.requestTicket({ filename: 'clip.mp4', title }),
    ),
  );
  const opened = await signIn();
  const { page } = opened;
  await page.locator('input[type="search"]').fill(series);
  await page.waitForFunction(
    `location.search === '?q=${series}' && !document.querySelector('[aria-busy=true]')`,
  );
  await click(page, 'Next');
  await untilRows(page, 1);
  await page.reload();
  await untilRows(page, 1);
  await click(page, 'Previous');
  await untilRows(page, 25);
  await page.select('select', 'ready');
  await untilText(page, 'No video matches.');
  expect(new URL(page.url()).search).toBe(`?q=${series}&status=ready`);

  await page.goto(`${publicUrl}/console/videos?q=${encodeURIComponent('onerror')}`);
  await untilText(page, HOSTILE);
  await page.locator('.rows a').click();
  await heading(page, HOSTILE);
  await inspect(opened, 'hostile-title');
  await click(page, 'Delete video');
  await untilText(page, `Type the title to confirm: ${HOSTILE}`);
  expect(await page.evaluate(`'attacked' in window`)).toBe(false);
  expect(await page.$('h1 *')).toBeNull();
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('a key is created, used and revoked', async () => {
  const opened = await signIn();
  const { page } = opened;
  await follow(page, 'Keys');
  await heading(page, 'Keys');
  await click(page, 'Create key');
  await fill(page, 'Name', 'Console key');
  await inspect(opened, 'create-key');
  await click(page, 'Create');
  await untilText(page, 'Copy the key now.');
  const secret = await textOf(page, 'Key “Console key”');
  const whoami = () =>
    fetch(`${target.baseUrl}/auth/whoami`, {
      headers: { Authorization: `Bearer ${secret}`, 'X-Svc-Workspace': target.workspaceId },
    });
  const used = await whoami();
  expect(used.status).toBe(200);
  expect(await used.json()).toMatchObject({ permissions: ['videos:read', 'videos:write'] });

  await click(page, 'Done');
  await page.reload();
  await untilText(page, 'Console key');
  expect(await page.content()).not.toContain(secret);
  await inspect(opened, 'keys');
  await click(page, 'Revoke Console key');
  await click(page, 'Revoke key');
  await page.waitForFunction(`document.querySelector('[aria-label="Revoke Console key"]') === null`);
  expect((await whoami()).status).toBe(401);
});

testInBrowser('a session that ends in the middle of a form keeps the form', async () => {
  const { page } = await signIn();
  await follow(page, 'Keys');
  await click(page, 'Create key');
  await fill(page, 'Name', 'Typed before the end');
  await client.call('DELETE', '/console/sessions');
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
    const opened = await openPage(context, link, WIDE, 'load');
    const { page } = opened;
    await heading(page, 'Videos');
    expect(await page.$('input[type="file"]')).toBeNull();
    expect(await page.$('a[href$="/keys"]')).toBeNull();
    await page.goto(`${publicUrl}/console/keys`);
    await untilText(page, 'Insufficient Permissions');
    await page.waitForSelector('.request-id');

    await click(page, 'Sign out');
    await heading(page, 'Sign in');
    // The link was used before. Only the fragment of the address changes.
    await page.goto(link);
    await untilText(page, 'This link is not valid');
    await inspect(opened, 'sign-in', /(status of|responded with) 40[13]/);
  },
);
