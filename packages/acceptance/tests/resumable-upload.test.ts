import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { UploadTicket } from '@framelane/client';
import { newPage, startBrowser } from '@framelane/test-kit/browser';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'puppeteer-core';
import { type Fault, FaultyProxy } from '../src/faulty-proxy.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { browserPath, describeInBrowser } from '../src/in-browser.ts';
import { readTarget } from '../src/target.ts';

/** The clients of docs/uploads.md upload through a proxy that loses connections and responses. */

const MIB = 1024 ** 2;
/** More than the buffers of connections hold, so that an interrupted upload is not complete. */
const BYTES = 20 * MIB;
/** Enough for a fault after 5 MiB. */
const SMALL_BYTES = 8 * MIB;

const target = readTarget(process.env);
const client = new FramelaneClient(target);

/** The examples of the guide: a program for Node, and a module for web pages. */
let guide: string[];
let program: string;
let directory: string;
let file: string;
let smallFile: string;
let proxy: FaultyProxy;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-tus-'));
  file = join(directory, 'file.mp4');
  smallFile = join(directory, 'small-file.mp4');
  // No video, so that the engine does not transcode what arrives.
  await writeFile(file, randomBytes(BYTES));
  await writeFile(smallFile, randomBytes(SMALL_BYTES));
  proxy = await FaultyProxy.start(target.engineUrl);
  const markdown = await readFile(join(import.meta.dirname, '../../../docs/uploads.md'), 'utf8');
  guide = [...markdown.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  program = join(directory, 'upload.mjs');
  await writeFile(program, guide[0] ?? '');
  await symlink(join(import.meta.dirname, '../node_modules'), join(directory, 'node_modules'));
});
afterAll(async () => {
  await proxy.stop();
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

/** A ticket, and its `tusUrl` at the proxy. */
async function requestTicket(): Promise<UploadTicket> {
  const ticket = await client.requestTicket({ filename: 'clip.mp4' });
  return { ...ticket, tusUrl: ticket.tusUrl.replace(target.engineUrl, proxy.url) };
}

/** The video has the whole file. */
async function expectArrived({ videoId }: UploadTicket, path: string): Promise<void> {
  const response = await client.call('GET', `/videos/${videoId}/source`);
  expect(response.status).toBe(200);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.equals(await readFile(path))).toBe(true);
}

/** Faults during an upload. After each of them, the client must continue the upload or begin again. */
const FAULTS: [what: string, method: string, fault: Fault][] = [
  ['a response to the creation that is lost', 'POST', 'lost'],
  ['a creation with 503', 'POST', 503],
  ['a connection that breaks', 'PATCH', { afterBytes: 5 * MIB }],
  ['a PATCH with 409', 'PATCH', 409],
  ['a PATCH with 503', 'PATCH', 503],
  ['a last response that is lost', 'PATCH', 'lost'],
  ['a HEAD with 423', 'HEAD', 423],
  ['a HEAD with 503', 'HEAD', 503],
  ['a HEAD whose response is lost', 'HEAD', 'lost'],
];

/** A HEAD is sent only after an interruption. */
function inject(method: string, fault: Fault): void {
  if (method === 'HEAD') proxy.inject('PATCH', { afterBytes: 5 * MIB });
  proxy.inject(method, fault);
}

describe('tus-js-client in Node', () => {
  test.each(FAULTS)('uploads one complete file in spite of %s', async (_what, method, fault) => {
    const ticket = await requestTicket();
    inject(method, fault);
    expect(await run(ticket, smallFile)).toMatch(/^arrived$/m);
    expect(proxy.pending).toBe(0);
    await expectArrived(ticket, smallFile);
  });

  test('continues an upload whose process was killed', async () => {
    const ticket = await requestTicket();
    const controller = new AbortController();
    proxy.inject('PATCH', { afterBytes: 15 * MIB });
    for (let retry = 0; retry < 5; retry += 1) proxy.inject('HEAD', 423);
    const killed = run(ticket, file, controller.signal).catch(() => '');
    // The program waits for seconds before its next HEAD.
    await until(() => proxy.pending === 2);
    controller.abort();
    expect(await killed).toBe('');
    proxy.clearFaults();

    const lines = (await run(ticket, file)).trim().split('\n');
    expect(lines.at(-1)).toBe('arrived');
    // After the creation, tus-js-client sends the beginning again until it gets 409, and then asks for the offset.
    const percents = lines.slice(0, -1).map((line) => Number.parseInt(line, 10));
    const jumps = percents.map((percent, index) => percent - (percents[index - 1] ?? 0));
    expect(Math.max(...jumps)).toBeGreaterThan(20);
    await expectArrived(ticket, file);
  });
});

/** Runs the program of the guide. Resolves with its output. */
async function run(
  { tusUrl, uploadToken }: UploadTicket,
  path: string,
  signal?: AbortSignal,
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, path, tusUrl, uploadToken], {
    signal,
  });
  return stdout;
}

/** Programs of the page. Both find the file of an earlier upload by its fingerprint. `createUppy` is that of the guide. */
const PROGRAMS = `
  import * as tus from 'tus-js-client';
  const state = { sent: 0, result: null };
  const finish = (result) => { state.result = result; };
  window.state = state;
  window.withTus = async (ticket) => {
    Object.assign(state, { sent: 0, result: null });
    const upload = new tus.Upload(document.querySelector('input').files[0], {
      endpoint: ticket.tusUrl,
      headers: { 'X-Upload-Token': ticket.uploadToken },
      metadata: { filename: 'clip.mp4' },
      retryDelays: [100, 200, 400, 800, 1600],
      onProgress: (sent) => { state.sent = sent; state.first ??= sent; },
      onSuccess: () => finish('done'),
      onError: (error) => finish(String(error)),
    });
    const [earlier] = await upload.findPreviousUploads();
    if (earlier) upload.resumeFromPreviousUpload(earlier);
    window.pause = () => upload.abort();
    window.resume = () => upload.start();
    upload.start();
  };
  window.withUppy = (ticket) => {
    Object.assign(state, { sent: 0, result: null });
    const uppy = createUppy(ticket);
    uppy.on('upload-progress', (_file, { bytesUploaded }) => { state.sent = bytesUploaded; state.first ??= bytesUploaded; });
    uppy.on('complete', ({ failed }) => finish(failed?.length ? failed[0].error : 'done'));
    const [file] = document.querySelector('input').files;
    uppy.addFile({ name: file.name, type: file.type, data: file });
    window.pause = () => uppy.pauseAll();
    window.resume = () => uppy.resumeAll();
    uppy.upload();
  };`;

describeInBrowser('in Chromium', () => {
  let browser: Browser;
  let pages: Page[];

  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: `${guide[1]}\n${PROGRAMS}`, resolveDir: import.meta.dirname },
      bundle: true,
      format: 'esm',
      write: false,
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    proxy.pages.set(
      '/',
      '<!doctype html><script type="module" src="/programs.js"></script><input type="file">',
    );
    proxy.pages.set('/programs.js', outputFiles[0]?.text ?? '');
    proxy.pages.set('/favicon.ico', '');
    browser = await startBrowser(browserPath);
  });
  afterAll(() => browser.close());
  beforeEach(() => {
    pages = [];
  });
  afterEach(async () => {
    await pages[0]?.evaluate('localStorage.clear()');
    for (const page of pages) await page.close();
  });

  /** A page with a file selected. Uploads send this many bytes per second. */
  async function openPage(path: string, bytesPerSecond = -1): Promise<Page> {
    const page = await newPage(browser);
    pages.push(page);
    await page.emulateNetworkConditions({
      offline: false,
      upload: bytesPerSecond,
      download: -1,
      latency: 0,
    });
    await page.goto(proxy.url);
    await choose(page, path);
    return page;
  }

  async function choose(page: Page, path: string): Promise<void> {
    await page.waitForFunction('window.withUppy !== undefined');
    const input = await page.waitForSelector('input');
    await (input as Awaited<ReturnType<typeof page.$<'input'>>>)?.uploadFile(path);
  }

  const start = (page: Page, program: string, ticket: UploadTicket) =>
    page.evaluate(`${program}(${JSON.stringify(ticket)})`);

  const sent = async (page: Page) => Number(await page.evaluate('state.sent'));

  /** How many bytes of the upload that the page remembers are stored. The page has sent more: connections hold some. */
  async function storedOf(page: Page, { uploadToken }: UploadTicket): Promise<number> {
    const url = await page.evaluate(
      'JSON.parse(Object.values(localStorage).find((value) => value.includes("uploadUrl"))).uploadUrl',
    );
    const headers = { 'Tus-Resumable': '1.0.0', 'X-Upload-Token': uploadToken };
    const response = await fetch(String(url), { method: 'HEAD', headers });
    return Number(response.headers.get('Upload-Offset'));
  }

  async function expectDone(page: Page): Promise<void> {
    expect(await until(() => page.evaluate('state.result'), { what: 'result' })).toBe('done');
  }

  test.each(FAULTS)('Uppy uploads one complete file in spite of %s', async (_what, method, fault) => {
    const page = await openPage(smallFile);
    const ticket = await requestTicket();
    inject(method, fault);
    await start(page, 'withUppy', ticket);
    await expectDone(page);
    expect(proxy.pending).toBe(0);
    await expectArrived(ticket, smallFile);
  });

  test.each(['withTus', 'withUppy'])('%s pauses, resumes and continues after a reload', async (program) => {
    const page = await openPage(file, 8 * MIB);
    const ticket = await requestTicket();
    await start(page, program, ticket);
    await until(async () => (await sent(page)) > 4 * MIB);
    await page.evaluate('pause()');
    await page.evaluate('resume()');
    await until(async () => (await sent(page)) > 8 * MIB);
    await page.reload();
    await choose(page, file);
    const stored = await storedOf(page, ticket);
    expect(stored).toBeGreaterThan(0);
    await start(page, program, ticket);
    await expectDone(page);
    expect(await page.evaluate('state.first')).toBeGreaterThanOrEqual(stored);
    await expectArrived(ticket, file);
  });

  test.each(['withTus', 'withUppy'])('%s uploads the same file for a second ticket', async (program) => {
    const page = await openPage(smallFile);
    const tickets = [await requestTicket(), await requestTicket()];
    for (const ticket of tickets) {
      await start(page, program, ticket);
      await expectDone(page);
    }
    for (const ticket of tickets) await expectArrived(ticket, smallFile);
  });

  test('two tabs with the same ticket and file upload one complete file', async () => {
    const tabs = [await openPage(file, 8 * MIB), await openPage(file, 8 * MIB)];
    const ticket = await requestTicket();
    for (const tab of tabs) await start(tab, 'withTus', ticket);
    await Promise.all(tabs.map(expectDone));
    await expectArrived(ticket, file);
  });

  test('an upload of another token is not continued', async () => {
    const page = await openPage(file, 8 * MIB);
    const [first, second] = [await requestTicket(), await requestTicket()];
    await start(page, 'withTus', first);
    await until(async () => (await sent(page)) > 4 * MIB);
    await page.evaluate('pause()');
    await start(page, 'withTus', second);
    await expectDone(page);
    await expectArrived(second, file);
    expect((await client.video(first.videoId)).status).toBe('uploading');
  });
});
