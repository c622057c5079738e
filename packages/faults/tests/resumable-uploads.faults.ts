import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { findBrowser, openPage, startBrowser } from '@framelane/test-kit/browser';
import { formWith } from '@framelane/test-kit/multipart';
import { Random, testSeed } from '@framelane/test-kit/random';
import { requires } from '@framelane/test-kit/requires';
import { TusClient, type TusResponse } from '@framelane/test-kit/tus-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { Ticket } from '../src/api.ts';
import { cachedAvi, makeClips, padded } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { dropFiles, signInLink } from '../src/console.ts';
import { buildFrontEnd } from '../src/front-ends.ts';
import { logged } from '../src/logged.ts';
import type { ServiceProcess } from '../src/service-process.ts';
import { Uploader } from '../src/uploader.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

const LOOPS = Number(process.env.LOOPS ?? 1);
const SEED = testSeed();
const PART_BYTES = 8 * 1024 ** 2;
/** Ends in the fifth part. */
const FILE_BYTES = 4.1 * PART_BYTES;
/** Bytes that the first request stores. */
const ACKNOWLEDGED = PART_BYTES + 1000;

const browserPath = findBrowser();
const inBrowser = requires('Chromium', browserPath === undefined ? 'It is not installed' : null);

jest.setTimeout(LOOPS * 300_000);

const random = new Random(SEED);
let cluster: Cluster;
let uploader: Uploader;
/** A video, and the same video with bytes that players skip. */
let clip: Buffer;
let file: Buffer;
let first: ServiceProcess;
let second: ServiceProcess;

beforeAll(async () => {
  const clips = await makeClips();
  cluster = await Cluster.start();
  [first, second] = cluster.engines as [ServiceProcess, ServiceProcess];
  clip = await readFile(clips.short);
  uploader = new Uploader(cluster, clip);
  file = padded(clip, FILE_BYTES);
  process.stdout.write(`PROPERTY_SEED=${SEED} LOOPS=${LOOPS}\n`);
});
afterEach(async () => {
  cluster.heal();
  expect(await violationsAtRest(cluster)).toEqual([]);
});
afterAll(async () => {
  await cluster?.stop();
});

/** An upload whose first bytes the first engine has acknowledged. */
type Begun = { ticket: Ticket; client: TusClient; path: string };

async function begin(): Promise<Begun> {
  const ticket = await cluster.api.ticket();
  const client = new TusClient(ticket.uploadToken);
  const path = await client.create(first.url, file.byteLength);
  expect(await client.patch(`${first.url}${path}`, file, 0, ACKNOWLEDGED)).toMatchObject({ status: 204 });
  return { ticket, client, path };
}

/** Sends a PATCH with the bytes up to `end` to the first engine, and keeps the request open. */
function sendUpTo({ client, path }: Begun, end: number) {
  const held = client.holdPatch(`${first.url}${path}`, ACKNOWLEDGED, file.byteLength - ACKNOWLEDGED);
  held.request.write(file.subarray(ACKNOWLEDGED, end));
  return held;
}

/** The bytes of an upload that the bucket has in parts without a gap. */
function storedParts({ ticket }: Begun): number {
  const upload = [...cluster.storage.uploads.values()].find(({ key }) => key.includes(ticket.videoId));
  let parts = 0;
  while (upload?.parts.has(parts + 1)) parts += 1;
  return parts * PART_BYTES;
}

/** The offset of an upload at another engine, once it can be read. */
async function offsetAt(engine: ServiceProcess, { client, path }: Begun): Promise<number> {
  const found = await until(async () => {
    const response = await client.head(`${engine.url}${path}`);
    if (response?.status === 200) return response;
    expect([undefined, 423]).toContain(response?.status);
    return undefined;
  });
  return Number(found.headers['upload-offset']);
}

/** Sends the rest of a file as clients do: after a temporary failure, they continue at the offset. */
async function finishAt(engine: ServiceProcess, begun: Begun): Promise<void> {
  await until(async () => {
    const offset = await offsetAt(engine, begun);
    const response = await begun.client.patch(`${engine.url}${begun.path}`, file, offset);
    if (response?.status === 204) return true;
    expect([undefined, 409, 503]).toContain(response?.status);
    return false;
  });
}

/** Expects that each ticket has one ready video, whose only source has exactly the bytes of `content`. */
async function expectFile(tickets: readonly Ticket[], content = file): Promise<void> {
  await uploader.expectReady(tickets);
  const sha256 = createHash('sha256').update(content).digest('hex');
  for (const ticket of tickets) {
    await until(() => uploader.sourcesOf(ticket).length === 1);
    const source = await fetch(
      `${cluster.storage.endpoint}/${cluster.storage.bucket}/${uploader.sourcesOf(ticket)}`,
    );
    expect(
      createHash('sha256')
        .update(Buffer.from(await source.arrayBuffer()))
        .digest('hex'),
    ).toBe(sha256);
    expect(await cluster.api.video(ticket.videoId)).toMatchObject({ source: { sha256 } });
  }
}

test('an engine killed during an upload loses no acknowledged byte and no stored part', async () => {
  for (let loop = 0; loop < LOOPS; loop += 1) {
    const uploads = await Promise.all([begin(), begin()]);
    const ends = uploads.map(() => 3 * PART_BYTES + Math.floor(random.fraction() * PART_BYTES));
    uploads.forEach((begun, index) => void sendUpTo(begun, ends[index] as number));
    await until(() => uploads.every((begun) => storedParts(begun) >= 2 * PART_BYTES));
    await pause(random.fraction() * 200);
    const stored = uploads.map(storedParts);
    await first.end('SIGKILL');
    const restarted = first.start();
    for (const [index, begun] of uploads.entries()) {
      const offset = await offsetAt(second, begun);
      expect(offset).toBeGreaterThanOrEqual(Math.max(ACKNOWLEDGED, stored[index] as number));
      expect(offset).toBeLessThanOrEqual(ends[index] as number);
    }
    await Promise.all(uploads.map((begun) => finishAt(second, begun)));
    await restarted;
    await expectFile(uploads.map(({ ticket }) => ticket));
  }
});

test('an engine stopped with SIGTERM during an upload loses nothing', async () => {
  const begun = await begin();
  sendUpTo(begun, 3 * PART_BYTES + 5);
  await until(() => storedParts(begun) >= 2 * PART_BYTES);
  await first.end('SIGTERM');
  const pauses = () =>
    logged([first], 'upload.paused').filter(({ videoId }) => videoId === begun.ticket.videoId);
  // The last lines of a process may arrive after its exit.
  await until(() => pauses().length > 0);
  expect(pauses()).toHaveLength(1);
  expect(await offsetAt(second, begun)).toBe(pauses()[0]?.bytes);
  await Promise.all([first.start(), finishAt(second, begun)]);
  await expectFile([begun.ticket]);
});

test('an engine that hangs while another one finishes the upload changes nothing afterwards', async () => {
  const begun = await begin();
  const held = sendUpTo(begun, 3 * PART_BYTES + 5);
  await until(() => storedParts(begun) >= 2 * PART_BYTES);
  process.kill(Number(first.pid), 'SIGSTOP');
  try {
    held.request.end(file.subarray(3 * PART_BYTES + 5));
    await finishAt(second, begun);
  } finally {
    process.kill(Number(first.pid), 'SIGCONT');
  }
  expect((await held.response)?.status).not.toBe(204);
  await expectFile([begun.ticket]);
});

test('a HEAD alone completes an upload whose engine was killed before the registration', async () => {
  const begun = await begin();
  cluster.storage.inject('HeadObject', 'hang', 1);
  const response = begun.client.patch(`${first.url}${begun.path}`, file, ACKNOWLEDGED);
  await until(() => uploader.sourcesOf(begun.ticket).some((key) => key.endsWith('/original')));
  await first.end('SIGKILL');
  expect(await response).toBeUndefined();
  expect(await offsetAt(second, begun)).toBe(file.byteLength);
  await first.start();
  await expectFile([begun.ticket]);
  expect(await begun.client.head(`${first.url}${begun.path}`)).toMatchObject({
    status: 200,
    headers: { 'upload-offset': String(file.byteLength) },
  });
});

test('an upload continues after the control planes and the broker were unreachable', async () => {
  const begun = await begin();
  const held = sendUpTo(begun, 3 * PART_BYTES);
  await until(() => storedParts(begun) >= 2 * PART_BYTES);
  cluster.proxies.internal.cut();
  cluster.proxies.broker.cut();
  const url = `${first.url}${begun.path}`;
  held.request.end(file.subarray(3 * PART_BYTES));
  expect(await held.response).toMatchObject({ status: 503, code: 'unavailable' });
  expect(await begun.client.head(url)).toMatchObject({ status: 423 });
  expect(await begun.client.patch(url, file, ACKNOWLEDGED)).toMatchObject({ status: 503 });
  cluster.proxies.internal.heal();
  cluster.proxies.broker.heal();
  expect(await offsetAt(second, begun)).toBeGreaterThanOrEqual(ACKNOWLEDGED);
  await finishAt(second, begun);
  await expectFile([begun.ticket]);
});

test('an upload whose video is deleted ends, and nothing of it is left', async () => {
  const begun = await begin();
  const held = sendUpTo(begun, 3 * PART_BYTES);
  await until(() => storedParts(begun) >= 2 * PART_BYTES);
  await cluster.api.delete(begun.ticket.videoId);
  held.request.end(file.subarray(3 * PART_BYTES));
  const response = await held.response;
  expect([undefined, 409, 503]).toContain(response?.status);
  expect(await begun.client.head(`${second.url}${begun.path}`)).toMatchObject({ status: 401 });
});

test('of resumable uploads and forms with one token, exactly one is accepted', async () => {
  for (let loop = 0; loop < LOOPS; loop += 1) {
    const ticket = await cluster.api.ticket();
    const client = new TusClient(ticket.uploadToken);
    const isAccepted = (response: TusResponse | undefined) => response?.status === 204;
    const resumable = async (engine: ServiceProcess, metadata: string) => {
      await pause(random.fraction() * 20);
      const headers = { 'Upload-Metadata': metadata };
      const path = await client.create(engine.url, clip.byteLength, headers).catch(() => undefined);
      return path !== undefined && isAccepted(await client.patch(`${engine.url}${path}`, clip, 0));
    };
    const form = async () => {
      await pause(random.fraction() * 20);
      return (await uploader.send({ token: ticket.uploadToken, body: formWith(clip) })).status === 202;
    };
    const accepted = await Promise.all([
      ...[first, second].map((engine) => resumable(engine, 'filename YQ==')),
      resumable(second, 'filename Yg=='),
      form(),
      form(),
    ]);
    const count = accepted.filter(Boolean).length;
    expect(count).toBeLessThanOrEqual(1);
    // If none was accepted, each may have been refused because of another one that was refused later.
    await until(async () => {
      const { status, code } = await uploader.send({ token: ticket.uploadToken, body: formWith(clip) });
      return status === 202 || code === 'upload_token_used';
    });
    await expectFile([ticket], clip);
  }
});

inBrowser.test(
  '20 files dropped in the console arrive, each as one video, while an engine is killed',
  async () => {
    const content = await readFile(await cachedAvi({ size: '160x90', seconds: 1 }));
    const files = Array.from({ length: 20 }, (_, index) => ({
      title: `dropped-${index}`,
      // Players ignore what follows the last chunk. It tells the files apart.
      content: Buffer.concat([content, randomBytes(1024 ** 2)]),
    }));
    await buildFrontEnd('console');
    const browser = await startBrowser(browserPath ?? '');
    try {
      const { page } = await openPage(
        browser,
        (await signInLink(cluster)).replace('/console/', '/console/videos'),
        { width: 1200, height: 800 },
        'load',
      );
      await page.waitForSelector('::-p-aria(Upload files)');
      // Slow enough that the engine is killed in the middle.
      await page.emulateNetworkConditions({ upload: 8 * 1024 ** 2, download: -1, latency: 0 });
      await dropFiles(page, files);
      // The panel says "5 of 20 uploaded".
      const uploaded = (count: number) =>
        page.waitForFunction(
          `parseInt(document.querySelector('.uploads [aria-hidden]').textContent) >= ${count}`,
        );
      await uploaded(5);
      await first.end('SIGKILL');
      await uploaded(20);
    } finally {
      await browser.close();
    }
    await first.start();
    const videos = await Array.fromAsync(cluster.api.client.videos.list({ q: 'dropped-' }));
    expect(videos.map(({ title }) => title).sort()).toEqual(files.map(({ title }) => title).sort());
    for (const { id, title } of videos) {
      const { source } = await cluster.api.client.videos.waitUntilReady(id);
      const file = files.find((each) => each.title === title);
      expect(source?.sha256).toBe(
        createHash('sha256')
          .update(file?.content ?? '')
          .digest('hex'),
      );
    }
  },
);
