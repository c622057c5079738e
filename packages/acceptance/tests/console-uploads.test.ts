import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ApiError } from '@framelane/client';
import { pngOf } from '@framelane/test-kit/png';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { makeMp4, pad } from '../src/clips.ts';
import {
  click,
  client,
  fill,
  follow,
  heading,
  inspect,
  openConsole,
  openTab,
  problemsOf,
  publicUrl,
  signIn,
  testInBrowser,
  untilGone,
  untilText,
  useConsole,
} from '../src/console.ts';

const MIB = 1024 ** 2;
/** A pause and a reload abort a request with bytes of the file. */
const ABORTED = /\/files\/\S+ failed$/;
const HOSTILE = `"'><img src=x onerror="window.attacked=1">{{7*7}}`;

useConsole();

let directory: string;
let clip: string;
/** A video that takes some seconds on a slow line. */
let big: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-console-uploads-'));
  const plan = { name: 'import-clip', width: 320, height: 180, rate: '25', seconds: 1, audio: null };
  clip = await makeMp4(directory, plan);
  big = await pad(clip, 24 * MIB);
});
afterAll(() => rm(directory, { recursive: true }));

/** Limits the uploads of the page to this many bytes a second; 0 for no limit. */
async function limitLine(page: Page, bytesPerSecond: number): Promise<void> {
  await page.emulateNetworkConditions(
    bytesPerSecond === 0 ? null : { upload: bytesPerSecond, download: -1, latency: 0 },
  );
}

/** The offsets of the requests with bytes of files, in the order of the requests. */
function recordOffsets(page: Page): number[] {
  const offsets: number[] = [];
  page.on('request', (request) => {
    const offset = request.headers()['upload-offset'];
    if (request.method() === 'PATCH' && offset !== undefined) offsets.push(Number(offset));
  });
  return offsets;
}

async function choose(page: Page, button: string, path: string): Promise<void> {
  const [chooser] = await Promise.all([page.waitForFileChooser(), click(page, button)]);
  await chooser.accept([path]);
}

/** Waits until this percentage of a file was sent. */
async function untilSent(page: Page, name: string, percent: number): Promise<void> {
  await page.waitForFunction(
    `Number(document.querySelector('[aria-label="Upload of ${name}"][role=progressbar], [aria-label="Upload of ${name}"] [role=progressbar]')
      ?.getAttribute('aria-valuenow')) >= ${percent}`,
  );
}

/** The entries of the unfinished uploads that the browser keeps. */
function stored(page: Page): Promise<string[]> {
  return page.evaluate(
    `Object.entries(localStorage).filter(([key]) => key.startsWith('framelane upload')).map(([, text]) => text)`,
  ) as Promise<string[]>;
}

/** The videos whose title contains a text. They are deleted after the tests. */
async function videosWith(title: string): Promise<{ id: string; status: string }[]> {
  const response = await client.call('GET', `/videos?q=${encodeURIComponent(title)}`);
  const { data } = (await response.json()) as { data: { id: string; status: string }[] };
  for (const { id } of data) client.deleteAtEnd(id);
  return data;
}

testInBrowser(
  'an upload is paused and resumed, continues after a reload, and does not begin again',
  async () => {
    const opened = await signIn();
    const { page } = opened;
    const name = basename(big);
    const offsets = recordOffsets(page);
    page.on('dialog', (dialog) => void dialog.accept());
    await limitLine(page, 4 * MIB);
    await choose(page, 'Upload files', big);
    await untilText(page, 'MB/s');
    await untilSent(page, name, 20);
    await click(page, `Pause ${name}`);
    await untilText(page, 'paused');
    await inspect(opened, 'paused', ABORTED);
    await click(page, `Resume ${name}`);
    await untilSent(page, name, 50);

    await page.reload();
    await untilText(page, 'choose the file again to continue');
    const [record] = await stored(page);
    const other = join(directory, 'other.mp4');
    await writeFile(other, 'other');
    await choose(page, `Choose file again: ${name}`, other);
    await untilText(page, 'this is another file');
    await inspect(opened, 'unfinished', ABORTED);
    const second = await openConsole(`${publicUrl}/console/videos`);
    await untilText(second.page, 'choose the file again to continue');

    await page.bringToFront();
    await choose(page, `Choose file again: ${name}`, big);
    await untilText(page, 'MB/s');
    // The tab that does not send the file no longer offers it.
    await second.page.bringToFront();
    await second.page.waitForFunction(`!document.querySelector('.uploads')`);
    await page.bringToFront();
    await limitLine(page, 0);
    await untilText(page, '1 of 1 uploaded');

    expect(offsets).toHaveLength(3);
    expect(offsets[0]).toBe(0);
    expect(offsets[1]).toBeGreaterThan(0);
    expect(offsets[2]).toBeGreaterThan(offsets[1] as number);
    expect(await stored(page)).toEqual([]);
    const { videoId } = JSON.parse(record ?? '');
    const source = await client.call('GET', `/videos/${videoId}/source`);
    expect(sha256(Buffer.from(await source.arrayBuffer()))).toBe(sha256(await readFile(big)));
    expect(await videosWith('import-clip-padded')).toHaveLength(1);
    expect(problemsOf(opened, ABORTED)).toEqual([]);
  },
);

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

testInBrowser('an upload can be cancelled or retried, and a sign-out forgets it', async () => {
  const { page } = await signIn();
  const name = basename(big);
  const pauseAt = async (percent: number) => {
    await limitLine(page, 4 * MIB);
    await untilSent(page, name, percent);
    await click(page, 'Pause all');
    await untilText(page, 'paused');
    await limitLine(page, 0);
    const [record] = await stored(page);
    return JSON.parse(record ?? '').videoId as string;
  };
  await limitLine(page, 4 * MIB);
  await choose(page, 'Upload files', big);
  const cancelled = await pauseAt(5);
  await click(page, `Cancel ${name}`);
  await untilText(page, `What has arrived of “${name}” is deleted.`);
  await click(page, 'Cancel upload');
  await untilGone(page, '0 of 1 uploaded');
  await page.waitForFunction(`!document.querySelector('.uploads')`);
  expect(await stored(page)).toEqual([]);
  await expectDeleted(cancelled);

  // A file whose video was deleted elsewhere is refused; the retry creates another video.
  await limitLine(page, 4 * MIB);
  await choose(page, 'Upload files', big);
  const refused = await pauseAt(5);
  await client.delete(refused);
  await click(page, 'Resume all');
  await untilText(page, '1 failed');
  await limitLine(page, 4 * MIB);
  await click(page, `Retry ${name}`);
  const retried = await pauseAt(5);
  expect(retried).not.toBe(refused);
  // The page asks once for the state of the video. If the video were deleted before the response, the reload below would show nothing.
  const asked = page.waitForResponse((response) => response.url().endsWith(`/v1/videos/${retried}`));
  await page.reload();
  expect((await asked).status()).toBe(200);
  await untilText(page, 'choose the file again to continue');
  await client.delete(retried);
  await page.reload();
  await untilText(page, 'the video was deleted');
  expect(await stored(page)).toEqual([]);
  await click(page, `Remove ${name}`);
  await page.waitForFunction(`!document.querySelector('.uploads')`);

  await limitLine(page, 4 * MIB);
  await choose(page, 'Upload files', big);
  client.deleteAtEnd(await pauseAt(5));
  await click(page, 'Sign out');
  await heading(page, 'Sign in');
  expect(await stored(page)).toEqual([]);
});

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

async function expectDeleted(videoId: string): Promise<void> {
  await until(() => client.video(videoId).then(() => false, isNotFound));
}

testInBrowser('a video is imported from a URL, and a failed import says what to do', async () => {
  const server = await HeldFile.start(await readFile(clip));
  try {
    const opened = await signIn();
    const { page } = opened;
    await click(page, 'Import from URL');
    await fill(page, 'URL of the file', 'ftp://media.example.com/clip.mp4');
    await click(page, 'Import');
    await untilText(page, 'Must be an absolute http:// or https:// URL');
    await fill(page, 'URL of the file', server.url);
    await fill(page, 'Title', HOSTILE);
    await fill(page, 'Request headers', 'Bearer abc');
    await untilText(page, 'not “Bearer abc”');
    await fill(page, 'Request headers', 'X-Secret: import-secret');
    await fill(page, 'End at', '0:00.4');
    await inspect(opened, 'import', /responded with 400|status of 400/);
    await click(page, 'Import');
    await untilText(page, 'Importing 50 %');
    await follow(page, HOSTILE);
    await heading(page, HOSTILE);
    await untilText(page, 'Framelane fetches the file: 50 %.');
    expect(await page.content()).not.toContain('import-secret');
    await inspect(opened, 'importing', /responded with 400|status of 400/);
    server.release();
    await untilText(page, 'Ready');
    expect(server.secrets).toContain('import-secret');
    await untilText(page, '0:00 to 0:00.4 of the file');

    await page.goBack();
    await click(page, 'Import from URL');
    await fill(page, 'URL of the file', 'http://10.0.0.1/clip.mp4');
    await click(page, 'Import');
    await page.waitForSelector('[role="dialog"] [aria-invalid="true"]');
    await fill(page, 'URL of the file', new URL('/missing-import.mp4', server.url).href);
    await click(page, 'Import');
    // While the dialog is open, it would get the click.
    await page.waitForFunction(`!document.querySelector('[role="dialog"]')`);
    await follow(page, 'missing-import');
    await untilText(page, 'Check the URL, then import the video again.');
    expect(await page.evaluate(`'attacked' in window`)).toBe(false);
    await videosWith('missing-import');
    await videosWith('onerror');
  } finally {
    await server.stop();
  }
});

testInBrowser('a trim is chosen for the next upload, and applies once', async () => {
  const opened = await signIn();
  const { page } = opened;
  await click(page, 'Trim: none');
  await fill(page, 'Begin at', 'soon');
  await untilText(page, 'Write a time such as 1:02.5.');
  await fill(page, 'Begin at', '0:00.2');
  await fill(page, 'End at', '0:00.8');
  await inspect(opened, 'trim');
  await click(page, 'Use');
  await untilText(page, 'Trim: on');
  const path = join(directory, 'trimmed.mp4');
  await writeFile(path, await readFile(clip));
  await choose(page, 'Upload files', path);
  await untilText(page, 'Trim: none');
  await follow(page, 'trimmed');
  await untilText(page, '0:00.2 to 0:00.8 of the file');
  await untilText(page, 'Ready');
  const [video] = await videosWith('trimmed');
  expect(await client.video(video?.id ?? '')).toMatchObject({
    trim: { start: 0.2, end: 0.8 },
    duration: 0.6,
  });
});

testInBrowser('a packaging, codecs and high dynamic range are chosen for the next uploads', async () => {
  const opened = await signIn();
  const { page } = opened;
  await click(page, 'Packaging: default');
  await page.select('::-p-aria([name="Segments"])', 'ts');
  await page.select('::-p-aria([name="Codecs"])', 'h264,av1');
  await page.select('::-p-aria([name="High dynamic range"])', 'keep');
  await inspect(opened, 'packaging');
  await click(page, 'Use');
  await untilText(page, 'Packaging: CMAF, H.264, AV1, HDR');
  const path = join(directory, 'fragmented.mp4');
  await writeFile(path, await readFile(clip));
  await choose(page, 'Upload files', path);
  await follow(page, 'fragmented');
  await openTab(page, 'Outputs');
  await untilText(page, 'CMAF (fragmented MP4)');
  await untilText(page, 'Keep in AV1 and HEVC');
  const [video] = await videosWith('fragmented');
  expect(await client.video(video?.id ?? '')).toMatchObject({
    packaging: 'cmaf',
    codecs: [{ codec: 'h264' }, { codec: 'av1' }],
    hdr: 'keep',
  });
});

testInBrowser('a watermark is uploaded, chosen for the next uploads, and deleted', async () => {
  const image = join(directory, 'logo.png');
  await writeFile(image, pngOf(64, 32));
  const opened = await signIn();
  const { page } = opened;
  await click(page, 'Watermark: none');
  await choose(page, 'Add an image', clip);
  await untilText(page, 'It is neither PNG nor JPEG.');
  await choose(page, 'Add an image', image);
  await page.waitForFunction("document.querySelector('img.watermark')?.naturalWidth === 64");
  await fill(page, 'Opacity, in percent', '120');
  await untilText(page, 'Write a number from 0 to 100');
  await fill(page, 'Opacity, in percent', '50');
  await inspect(opened, 'watermark', /responded with 400|status of 400/);
  await click(page, 'Use');
  await untilText(page, 'Watermark: on');
  const path = join(directory, 'marked.mp4');
  await writeFile(path, await readFile(clip));
  await choose(page, 'Upload files', path);
  await follow(page, 'marked');
  await untilText(page, 'Top right, 15 % of the width, 50 % opaque');
  const [watermark] = await client.api.watermarks.list();
  expect(watermark).toMatchObject({ name: 'logo.png', width: 64, height: 32 });
  await videosWith('marked');

  await page.goBack();
  await click(page, 'Watermark: on');
  await click(page, 'Delete this image');
  await click(page, 'Delete');
  await untilGone(page, 'New videos cannot use it any more.');
  await click(page, 'Cancel');
  await untilText(page, 'Watermark: none');
  expect(await client.api.watermarks.list()).toEqual([]);
});

/** Serves a file whose second half waits for the test. */
class HeldFile {
  readonly #server: Server;
  /** The values of the header `X-Secret` of the requests. */
  readonly secrets: unknown[] = [];
  readonly #released = Promise.withResolvers<void>();

  static async start(file: Buffer): Promise<HeldFile> {
    const held = new HeldFile(file);
    held.#server.listen(0, '127.0.0.1');
    await once(held.#server, 'listening');
    return held;
  }

  private constructor(file: Buffer) {
    this.#server = createServer((req, res) => {
      if (req.url?.startsWith('/missing')) return void res.writeHead(404).end();
      this.secrets.push(req.headers['x-secret']);
      res.writeHead(200, { 'Content-Length': file.length });
      const half = Math.ceil(file.length / 2);
      res.write(file.subarray(0, half));
      void this.#released.promise.then(() => res.end(file.subarray(half)));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/clip.mp4`;
  }

  release(): void {
    this.#released.resolve();
  }

  async stop(): Promise<void> {
    this.release();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
