import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { openPage, startBrowser } from '@framelane/test-kit/browser';
import { runProgram } from '@framelane/test-kit/run-program';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { seriousFindings } from '../src/serious-findings.ts';
import { readTarget } from '../src/target.ts';

const BUILD_PROGRAM = join(import.meta.dirname, '../../../infra/docs-site/main.js');
/** The static files are below this path, as on a server that has other pages, too. */
const SUB_PATH = '/help/docs/';
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

const target = readTarget(process.env);
const site = target.baseUrl.replace(/\/v1$/, '/docs/');

let browser: Browser | undefined;
beforeAll(async () => {
  if (browserPath !== '') browser = await startBrowser(browserPath);
  // A node that was just started may still build the pages.
  await until(async () => (await fetch(site)).status === 200, { what: 'the documentation is built' });
});
afterAll(async () => browser?.close());

async function open(url: string, viewport = DESKTOP) {
  if (browser === undefined) throw new Error('The browser was not started');
  return openPage(browser, url, viewport);
}

/** Searches with the keyboard, and opens the second result. Resolves when its page has loaded. */
async function search(page: Page, words: string): Promise<void> {
  await page.keyboard.press('/');
  await page.waitForSelector('#query:focus');
  await page.type('#query', words);
  await page.waitForFunction(`document.querySelectorAll('#results a').length > 1`);
  expect(await seriousFindings(page)).toEqual([]);
  const second = String(await page.evaluate(`document.querySelectorAll('#results a')[1].href`));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    `location.href === ${JSON.stringify(second)} && document.readyState === 'complete'`,
  );
}

/** The parts of the page that have moved while it loaded. */
function layoutShifts(page: Page): Promise<unknown> {
  return page.evaluate(`new Promise((resolve) => {
    const moved = ({ sources }) => sources.map(({ node }) => (node?.outerHTML ?? '').slice(0, 100));
    new PerformanceObserver((list) => resolve(list.getEntries().flatMap(moved)))
      .observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve([])));
  })`);
}

testInBrowser('a reader searches, follows a result, changes the theme and reads on a phone', async () => {
  const { page, requested, problems } = await open(site);
  expect(await page.title()).toBe('Framelane docs');
  expect(await layoutShifts(page)).toEqual([]);
  expect(await seriousFindings(page)).toEqual([]);

  await search(page, 'resumable upload');
  expect(await page.$('#pages a[aria-current="page"]')).not.toBeNull();

  await page.goto(`${site}architecture`, { waitUntil: 'load' });
  await page.click('#theme');
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  await page.waitForFunction(`document.querySelector('.diagram .of-dark').complete`);
  expect(await page.evaluate(`document.querySelector('.diagram .of-dark').naturalWidth`)).toBeGreaterThan(
    100,
  );
  expect(await seriousFindings(page)).toEqual([]);
  await page.reload({ waitUntil: 'load' });
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');

  await page.setViewport(PHONE);
  await page.goto(`${site}errors/video_not_found`, { waitUntil: 'load' });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
  await page.click('#menu');
  await page.waitForSelector('#pages a[aria-current="page"]', { visible: true });
  expect(await seriousFindings(page)).toEqual([]);

  expect(requested.filter((url) => !url.startsWith(site))).toEqual([]);
  expect(problems).toEqual([]);
});

testInBrowser('the static files work below any path of any server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'framelane-static-docs-'));
  await runProgram(process.execPath, [BUILD_PROGRAM, folder, SUB_PATH]);
  const server = await serve(folder);
  try {
    const { port } = server.address() as AddressInfo;
    const { page, requested, problems } = await open(
      `http://127.0.0.1:${port}${SUB_PATH}errors/video_not_found.html`,
    );
    await page.click('.brand');
    await page.waitForFunction(
      `location.pathname === '${SUB_PATH}index.html' && document.readyState === 'complete'`,
    );
    await search(page, 'webhook secret');
    expect(new URL(page.url()).pathname).toMatch(new RegExp(`^${SUB_PATH}[\\w/-]+\\.html$`));
    expect(requested.filter((url) => !url.startsWith(`http://127.0.0.1:${port}${SUB_PATH}`))).toEqual([]);
    expect(problems).toEqual([]);

    await page.goto(`http://127.0.0.1:${port}${SUB_PATH}errors/no/such/page`, { waitUntil: 'load' });
    expect(await page.title()).toMatch(/^Page not found/);
    await search(page, 'webhook secret');
    expect(await page.title()).not.toMatch(/^Page not found/);
  } finally {
    server.close();
    server.closeAllConnections();
    await rm(folder, { recursive: true });
  }
});

/** A server of files that knows nothing about them. */
async function serve(folder: string): Promise<Server> {
  const server = createServer(async (req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://localhost');
    const content = await readFile(join(folder, pathname.replace(SUB_PATH, ''))).catch(() => undefined);
    if (content)
      res.writeHead(200, { 'Content-Type': TYPES[extname(pathname)] ?? 'text/plain' }).end(content);
    else res.writeHead(404, { 'Content-Type': 'text/html' }).end(await readFile(join(folder, '404.html')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test.each([
  ['the control plane', () => fetch(`${target.baseUrl}/videos`), 'missing_api_key'],
  ['the engine', () => fetch(`${target.engineUrl}/upload`, { method: 'POST' }), 'upload_token_missing'],
])('the type of a problem of %s is the URL of a page about it', async (_, request, code) => {
  const problem = (await (await request()).json()) as { type: string; code: string };
  expect(problem).toMatchObject({ code, type: `${site}errors/${code}` });
  const page = await fetch(problem.type);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain(`<h1 id="${code}"`);
});

test('machines get an index, and pages as Markdown', async () => {
  const index = await (await fetch(site.replace('/docs/', '/llms.txt'))).text();
  const [, link = ''] = /^- \[Uploads\]\((.+)\):/m.exec(index) ?? [];
  const page = await fetch(link);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
  expect(await page.text()).toMatch(/^# Uploads\n/);
});
