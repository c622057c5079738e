import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findBrowser, type OpenedPage, openPage, startBrowser } from '@framelane/test-kit/browser';
import { requires } from '@framelane/test-kit/requires';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { cutElements, showScheme, untilStill } from './console-layout.ts';
import { FramelaneClient } from './framelane-client.ts';
import { COLOUR_RULES, seriousFindings } from './serious-findings.ts';
import { readTarget } from './target.ts';

/** The node under test. In tests that need a browser, the workspace is one that no other file uses. */
export let target = readTarget(process.env);
/** Deletes its videos after the tests of the file. */
export let client = new FramelaneClient(target);
export const publicUrl = target.baseUrl.replace(/\/v1$/, '');

const executable = findBrowser();

/** A test of the console. It needs Chromium, and the data directory for sign-in links. */
export const testInBrowser = requires(
  'Chromium and the data directory',
  executable === undefined || target.objectsDir === null ? 'One of them is missing' : null,
).test;

/** The same for sign-ins at the provider. */
export const testAtProvider = requires(
  'Chromium and the data directory and an OpenID Connect provider',
  executable === undefined || target.objectsDir === null || target.signInProvider === null
    ? 'One of them is missing'
    : null,
).test;

/** The folder for the screenshots of a run. */
export const SCREENSHOTS = join(import.meta.dirname, '../screenshots');
const ADMIN = join(import.meta.dirname, '../../single-node/src/cli/admin.ts');
const WIDE = { width: 1440, height: 900 };
/** Without `isMobile`, which would load the page again. */
const PHONE = { width: 375, height: 812 };

let browser: Browser | undefined;
/** Has cookies of its own. */
let context: BrowserContext | undefined;

/** Starts one browser and creates a workspace for the tests of the file. Each test has cookies of its own. */
export function useConsole(): void {
  beforeAll(async () => {
    if (executable === undefined) return;
    await mkdir(SCREENSHOTS, { recursive: true });
    if (target.objectsDir !== null) await useOwnWorkspace();
    browser = await startBrowser(executable);
  });
  afterAll(async () => {
    await browser?.close();
    await client.deleteAll();
    // This module stays loaded for the next test file.
    browser = undefined;
    useTarget(readTarget(process.env));
  });
  beforeEach(async () => {
    context = await browser?.createBrowserContext();
  });
  afterEach(() => context?.close());
}

async function useOwnWorkspace(): Promise<void> {
  const { id } = JSON.parse(await admin('workspace', 'create', '--json', '--name', 'Studio'));
  const key = await admin('key', 'create', '--json', '--workspace', id, '--name', 'Tests');
  useTarget({ ...target, workspaceId: id, apiKey: JSON.parse(key).secret });
}

function useTarget(next: typeof target): void {
  target = next;
  client = new FramelaneClient(target);
}

/** Runs a command of the administrator. Resolves with its output. */
export async function admin(...args: string[]): Promise<string> {
  const env = { ...process.env, DATA_DIR: dirname(target.objectsDir ?? ''), PUBLIC_URL: publicUrl };
  const { stdout } = await promisify(execFile)(process.execPath, [ADMIN, ...args], { env });
  return stdout;
}

/** A sign-in link that an administrator creates, by default for the workspace of the target. */
export async function signInLink(...options: string[]): Promise<string> {
  const workspace = options.includes('--workspace') ? [] : ['--workspace', target.workspaceId];
  return JSON.parse(await admin('console-link', '--json', ...workspace, ...options)).url;
}

/** Opens a page of the console with the cookies of the test. */
export function openConsole(url: string): Promise<OpenedPage> {
  if (context === undefined) throw new Error('The test file has not called useConsole()');
  return openPage(context, url, WIDE, 'load');
}

/** Signs in with a new link, and opens the list of videos. `options` are those of `admin console-link`. */
export async function signIn(...options: string[]): Promise<OpenedPage> {
  const opened = await signInAt('videos', ...options);
  await heading(opened.page, 'Videos');
  return opened;
}

/** Signs in with a new link at a path below `/console/`. */
export async function signInAt(path: string, ...options: string[]): Promise<OpenedPage> {
  return openConsole((await signInLink(...options)).replace('/console/', `/console/${path}`));
}

/** Ends the session of a page from elsewhere. The test files that run at the same time keep theirs. */
export async function endSession(page: Page): Promise<void> {
  const id = await page.evaluate(
    `fetch('/v1/console/session').then((response) => response.json()).then(({ id }) => id)`,
  );
  expect((await client.call('DELETE', `/console/sessions/${id}`)).status).toBe(204);
}

/** Waits until the heading of the page and the title of the document begin with this text. */
export async function heading(page: Page, text: string): Promise<void> {
  const words = JSON.stringify(text);
  await page.waitForFunction(
    `document.querySelector('h1')?.textContent.startsWith(${words}) && document.title.startsWith(${words})`,
  );
}

export async function untilText(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)})`);
}

export async function untilGone(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`!document.body.innerText.includes(${JSON.stringify(text)})`);
}

/** Clicks an element once nothing covers it, such as a dialog that fades out. */
export const click = (page: Page, name: string, role = 'button') =>
  page
    .locator(`::-p-aria([name="${name}"][role="${role}"])`)
    .filter((element) => {
      element.scrollIntoView({ block: 'center', behavior: 'instant' });
      const { x, y, width, height } = element.getBoundingClientRect();
      return element.contains(element.ownerDocument.elementFromPoint(x + width / 2, y + height / 2));
    })
    .click();

export const fill = (page: Page, name: string, value: string) =>
  page.locator(`::-p-aria([name="${name}"][role="textbox"])`).fill(value);

/** The text of a field that can be copied, or of an input. */
export async function textOf(page: Page, name: string): Promise<string> {
  const field = await page.waitForSelector(`::-p-aria([name="${name}"][role="textbox"])`);
  return String(await field?.evaluate((each) => ('value' in each ? each.value : each.textContent)));
}

/** The code in a block of lines that can be copied. */
export async function codeOf(page: Page, name: string): Promise<string> {
  const lines = await page.waitForSelector(`.code-lines[aria-label="${name}"]`);
  return String(await lines?.evaluate((each) => each.textContent));
}

/** Shows a part of the page of a video. */
export const openTab = (page: Page, name: string) => click(page, name, 'tab');

/** Clicks a link of the console, which does not load the document again. */
export const follow = (page: Page, name: string) => click(page, name, 'link');

/**
 * The problems of a page, without failed requests to the API: those of a page that was left are aborted, and all others also have a line in
 * the browser's console.
 */
export function problemsOf({ problems }: OpenedPage, expected?: RegExp): string[] {
  return problems.filter((each) => !/\/v1\/\S+ failed$/.test(each) && !expected?.test(each));
}

/** Checks a page in light and dark, wide and on a phone, and keeps the screenshots. Accessibility is checked on the phone. */
export async function inspect(opened: OpenedPage, name: string, expected?: RegExp): Promise<void> {
  const { page } = opened;
  for (const scheme of ['light', 'dark'] as const) {
    await showScheme(page, scheme);
    for (const viewport of [WIDE, PHONE]) {
      await page.setViewport(viewport);
      await untilStill(page);
      const path = join(SCREENSHOTS, `console-${name}-${viewport.width}-${scheme}.png`);
      await page.screenshot({ path, optimizeForSpeed: true });
      expect({ name, scheme, cut: await cutElements(page) }).toEqual({ name, scheme, cut: [] });
    }
    // Between the schemes only colours differ.
    const findings = await seriousFindings(page, scheme === 'light' ? undefined : COLOUR_RULES);
    expect({ name, scheme, findings }).toEqual({ name, scheme, findings: [] });
  }
  await page.setViewport(WIDE);
  expect(problemsOf(opened, expected)).toEqual([]);
}
