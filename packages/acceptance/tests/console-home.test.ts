import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Schemas } from '@framelane/client';
import { expect } from '@jest/globals';
import type { HTTPRequest, Page } from 'puppeteer-core';
import {
  click,
  client,
  follow,
  heading,
  inspect,
  problemsOf,
  signInAt,
  target,
  testInBrowser,
  textOf,
  untilGone,
  untilText,
  useConsole,
} from '../src/console.ts';

useConsole();

/** The commands that the page shows. */
let code: string;

/** Runs the commands in a folder with a file of that name. Returns the id of the video. */
async function runCode(file: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-console-home-'));
  try {
    await writeFile(join(directory, 'holiday.mp4'), file);
    const env = { ...process.env, KEY: target.apiKey };
    const { stdout } = await promisify(execFile)('sh', ['-c', code], { cwd: directory, env });
    const [ticket = '', upload = '', record = ''] = stdout.split('\n');
    const { videoId } = JSON.parse(ticket);
    expect(JSON.parse(upload)).toMatchObject({ videoId, status: 'processing' });
    expect(JSON.parse(record)).toMatchObject({ id: videoId });
    return videoId;
  } finally {
    await rm(directory, { recursive: true });
  }
}

const stepsDone = (page: Page) => page.$$eval('.steps [data-done="true"]', (steps) => steps.length);

testInBrowser('without videos, one click leads to a sample video that plays on the same page', async () => {
  const opened = await signInAt('');
  const { page } = opened;
  await heading(page, 'Home');
  await untilText(page, 'Drop a video here');
  // The workspace has the key of the tests.
  await page.waitForFunction(`document.querySelectorAll('.steps [data-done="true"]').length === 1`);
  await page.locator('summary').click();
  code = await textOf(page, 'curl, with the secret of an API key in KEY');
  expect(code).toContain(target.workspaceId);
  expect(code).toContain(`${target.baseUrl}/videos/upload-ticket`);
  await inspect(opened, 'home-empty');

  await click(page, 'Try a sample video');
  await page.waitForSelector('iframe.player');
  await page.waitForFunction(`document.querySelectorAll('.steps [data-done="true"]').length === 2`);
  const frame = await (await page.$('iframe.player'))?.contentFrame();
  await frame?.waitForFunction(`document.querySelector('framelane-video')?.readyState >= 2`);
  await frame?.evaluate(`{
    const video = document.querySelector('framelane-video');
    video.muted = true;
    video.play();
  }`);
  await page.waitForFunction(`document.querySelectorAll('.steps [data-done="true"]').length === 3`);
  await untilText(page, 'Show the overview');
  await inspect(opened, 'home-first-video');
  await click(page, 'Show the overview');
  await untilText(page, '1 uploaded · 1 ready');
  await untilText(page, 'No video has failed in the last seven days');
  expect(await stepsDone(page)).toBe(0);
  await follow(page, 'Sample');
  await heading(page, 'Sample');
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('with videos it says what happened since the last visit, and what needs somebody', async () => {
  const text = 'These are notes and no video.';
  const ticket = await client.requestTicket({ filename: 'notes.mp4', title: 'Notes' });
  await client.upload(ticket, new Blob([text]));
  for (const id of [ticket.videoId, await runCode(text)])
    expect((await client.settled(id)).status).toBe('failed');
  const webhook = { url: 'http://127.0.0.1:9/events', events: ['video.deleted'] };
  await client.call('POST', '/webhooks', webhook);
  const gone = await client.requestTicket({ filename: 'gone.mp4' });
  await client.call('DELETE', `/videos/${gone.videoId}`);

  const opened = await signInAt('');
  const { page, requested } = opened;
  await untilText(page, 'A webhook fails');
  await untilText(page, 'First failure');
  // Two videos and one reason.
  await untilText(page, 'and 1 more');
  await untilText(page, 'Check that you chose the right file.');
  await untilText(page, '2 failed');
  const requests = requested.filter((url) => /\/v1\/(?!console\/|hls\/)/.test(url));
  expect(new Set(requests).size).toBeLessThanOrEqual(6);
  await inspect(opened, 'home');

  // A later visit, one hour after the last one. A page that is left stores its time, so the next document does this.
  const visit = async (stored: string) => {
    const { identifier } = await page.evaluateOnNewDocument(
      `localStorage.setItem('framelane.visit.${target.workspaceId}', JSON.stringify(${stored}))`,
    );
    await page.reload();
    await page.removeScriptToEvaluateOnNewDocument(identifier);
  };
  await visit('{ since: null, seen: Date.now() - 3_700_000 }');
  await untilText(page, 'Since your last visit');
  await untilText(page, '1 hour ago');
  await untilText(page, '2 failed');
  await visit('{ since: Date.now(), seen: Date.now() }');
  await untilText(page, 'Since your last visit: nothing new');
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('a part that cannot be loaded leaves the others', async () => {
  const opened = await signInAt('');
  const { page } = opened;
  await heading(page, 'Home');
  const problem = (path: string) => ({
    type: 'https://video.example.com/docs/errors/unavailable',
    title: 'Unavailable',
    status: 503,
    code: 'unavailable',
    detail: `A part of the service is unavailable (${path}). Retry later.`,
    instance: path,
    requestId: 'req_1',
  });
  let fails = ['/v1/auth/usage', '/v1/analytics', '/v1/webhooks'];
  await page.setRequestInterception(true);
  page.on('request', (request: HTTPRequest) => {
    const path = new URL(request.url()).pathname;
    if (!fails.includes(path)) return void request.continue();
    const body = JSON.stringify(problem(path));
    void request.respond({ status: 503, contentType: 'application/problem+json', body });
  });
  await page.reload();
  for (const path of fails) await untilText(page, `(${path})`);
  await untilText(page, 'Check that you chose the right file.');
  fails = [];
  await page.reload();
  await untilText(page, 'Transcoded this month');
  await untilGone(page, 'Retry later.');
});

testInBrowser('one button retries the videos that failed for the same reason', async () => {
  const opened = await signInAt('');
  const { page } = opened;
  const failed = (await (await client.call('GET', '/videos?status=failed')).json()) as Schemas['VideoPage'];
  const data = failed.data.map((video) => ({ ...video, retryable: true }));
  const retried: string[] = [];
  await page.setRequestInterception(true);
  page.on('request', (request: HTTPRequest) => {
    const { pathname, searchParams } = new URL(request.url());
    const respond = (status: number, body: object) =>
      void request.respond({ status, contentType: 'application/json', body: JSON.stringify(body) });
    if (pathname.endsWith('/retry')) {
      retried.push(pathname);
      respond(202, data[0] ?? {});
    } else if (searchParams.get('status') === 'failed') respond(200, { ...failed, data });
    else void request.continue();
  });
  await page.reload();
  await click(page, 'Retry 2');
  await untilText(page, '2 videos are retried');
  expect(retried.toSorted()).toEqual(data.map(({ id }) => `/v1/videos/${id}/retry`).toSorted());
});

testInBrowser('what was watched and used is said in one line, or with what to do', async () => {
  const opened = await signInAt('');
  const { page } = opened;
  await heading(page, 'Home');
  const read = async (path: string) => (await client.call('GET', path)).json();
  const usage = (await read('/auth/usage')) as Schemas['Usage'];
  const analytics = (await read('/analytics?groupBy=day')) as Schemas['Analytics'];
  const day = { date: '2026-11-30', views: 12, uniqueViewers: 9, watchSeconds: 240, averagePercentage: 50 };
  let watched = { ...analytics, days: [day] };
  const storedBytes = { used: 950, reserved: 0, limit: 1000 };
  const responses: Record<string, () => object> = {
    '/v1/analytics': () => watched,
    '/v1/auth/usage': () => ({ ...usage, limits: { ...usage.limits, storedBytes } }),
  };
  await page.setRequestInterception(true);
  page.on('request', (request: HTTPRequest) => {
    const response = responses[new URL(request.url()).pathname];
    if (response === undefined) return void request.continue();
    const body = JSON.stringify(response());
    void request.respond({ status: 200, contentType: 'application/json', body });
  });
  await page.reload();
  await untilText(page, '12 views');
  await untilText(page, '950 B of 1.0 kB');
  await untilText(page, 'The storage is full, or nearly.');
  await inspect(opened, 'home-figures');
  watched = { ...watched, enabled: false };
  await page.reload();
  await untilText(page, 'Analytics is switched off now.');
  watched = { ...watched, days: [] };
  await page.reload();
  await untilText(page, 'Analytics is switched off: no views are counted.');
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('it shows only what the session may see', async () => {
  const { page } = await signInAt('', '--permissions', 'videos:read');
  await untilText(page, 'Check that you chose the right file.');
  const main = await page.$eval('main', (element) => element.textContent ?? '');
  expect(main).toContain('the permission “View what is watched”');
  for (const words of ['Upload files', 'Retry', 'Usage', 'webhook fails'])
    expect([words, main.includes(words)]).toEqual([words, false]);
});
