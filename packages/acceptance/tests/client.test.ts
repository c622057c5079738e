import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type UploadTicket, unwrap } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { newPage, startBrowser } from '@framelane/test-kit/browser';
import { freePorts } from '@framelane/test-kit/free-ports';
import { installPackage } from '@framelane/test-kit/installed-package';
import { runProgram } from '@framelane/test-kit/run-program';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { makeMp4, pad } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { browserPath, describeInBrowser } from '../src/in-browser.ts';
import { StartedProgram } from '../src/started-program.ts';
import { readTarget } from '../src/target.ts';

const CLIENT = join(import.meta.dirname, '..', '..', 'client');

const target = readTarget(process.env);
const client = new FramelaneClient(target);
/** Environment variables of the examples. */
const settings = {
  FRAMELANE_BASE_URL: target.baseUrl,
  FRAMELANE_API_KEY: target.apiKey,
  FRAMELANE_WORKSPACE_ID: target.workspaceId,
};

/** A directory outside of this repository, in which the packed client is installed. */
let directory: string;
let clip: string;
/** The clip in a file that is sent as a resumable upload. */
let largeClip: string;
let examples: string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-customer-'));
  await installPackage('client', directory);
  await cp(join(CLIENT, 'examples', 'upload-page'), directory, { recursive: true });
  const readme = await readFile(join(CLIENT, 'README.md'), 'utf8');
  examples = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  // Noise makes the file some megabytes large.
  clip = await makeMp4(directory, {
    name: 'holiday',
    width: 640,
    height: 360,
    rate: '25',
    seconds: 3,
    audio: null,
    noise: { from: 0, to: 3 },
  });
  largeClip = await pad(clip, 80 * 1024 ** 2);
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

describe('the README', () => {
  test('uploads a file and plays its stream', async () => {
    await writeFile(join(directory, 'upload.mjs'), examples[0] ?? '');
    const lines = await run('upload.mjs', clip);
    const hls = lines.at(-1) ?? '';
    client.deleteAtEnd(/vid_\w+/.exec(hls)?.[0] ?? '');
    expect(lines).toContain('sent: 100 %');
    expect(lines).toContain('ready: 100 %');
    expect((await fetch(hls)).status).toBe(200);
  });

  test('sends requests, reads a list and shows an error', async () => {
    await writeFile(join(directory, 'calls.mjs'), examples[1] ?? '');
    const { id, title } = await client.publish(clip);
    const lines = await run('calls.mjs');
    const { workspace } = await unwrap(client.api.GET('/auth/whoami'));
    expect(lines[0]).toBe(workspace.name);
    expect(lines).toContain(`${id} ${title}`);
    expect(lines.at(-1)).toMatch(/^404 video_not_found .*\. req_\w+$/);
  });

  test('gets a page with its response headers', async () => {
    await writeFile(join(directory, 'page.mjs'), examples[2] ?? '');
    await client.publish(clip);
    expect(await run('page.mjs')).toEqual([expect.stringMatching(/^[1-9]\d* (W\/)?"\S+"$/)]);
  });

  test('shows the page that uploads', async () => {
    expect(examples[3]).toBe(await readFile(join(directory, 'page.js'), 'utf8'));
  });

  test('downloads the uploaded file', async () => {
    await writeFile(join(directory, 'original.mjs'), examples[5] ?? '');
    const { id } = await client.publish(clip);
    const original = join(directory, 'original.mp4');
    await run('original.mjs', id, original);
    expect((await readFile(original)).equals(await readFile(clip))).toBe(true);
  });

  // Only a node of this machine sends events to a loopback address.
  const testOnLocalNode = new URL(target.baseUrl).hostname === 'localhost' ? test : test.skip;

  testOnLocalNode('accepts signed events and refuses others', async () => {
    await writeFile(join(directory, 'endpoint.mjs'), examples[4] ?? '');
    const [port] = await freePorts(1);
    const url = `http://localhost:${port}/`;
    const { id, secret = '' } = await unwrap(client.api.POST('/webhooks', { body: { url } }));
    const endpoint = new StartedProgram(directory, 'endpoint.mjs', {
      WEBHOOK_SECRET: secret,
      PORT: String(port),
    });
    try {
      const unsigned = await until(() => fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined));
      expect(unsigned.status).toBe(401);
      await endpoint.waitForOutput(/^webhook_not_verified /m);

      await unwrap(client.api.POST('/webhooks/{id}/test', { params: { path: { id } } }));
      await endpoint.waitForOutput(/^evt_\w+ webhook\.test$/m);
      const video = await client.publish(clip);
      await endpoint.waitForOutput(new RegExp(`^${video.id} ${video.hls}$`, 'm'));
    } finally {
      await endpoint.stop();
      await unwrap(client.api.DELETE('/webhooks/{id}', { params: { path: { id } } }));
    }
  });

  /** Runs a program in `directory` and resolves with its lines of output. */
  async function run(...args: string[]): Promise<string[]> {
    const program = [join(directory, args[0] ?? ''), ...args.slice(1)];
    const { stdout } = await runProgram(process.execPath, program, {
      env: settings,
    });
    return stdout.trim().split('\n');
  }
});

test('a text of any characters arrives in the query', async () => {
  const label = `It's "English" (US) + 100 % more: a/b?c=d&e#f, ü*!`;
  const { id } = await client.publish(clip);
  const captions = await client.api.captions.set(id, 'en', 'WEBVTT\n\n00:00.000 --> 00:01.000\nHi\n', {
    label,
  });
  expect(captions.label).toBe(label);
});

describeInBrowser('a web page', () => {
  let server: StartedProgram;
  let browser: Browser;
  let page: Page;
  /** All tickets that the page got. */
  let tickets: UploadTicket[];

  beforeAll(async () => {
    server = new StartedProgram(directory, 'server.mjs', { ...settings, PORT: '0' });
    browser = await startBrowser(browserPath);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  beforeEach(async () => {
    const [, url = ''] = await server.waitForOutput(/Open (\S+)/);
    tickets = [];
    page = await newPage(browser);
    page.on('response', async (response) => {
      if (response.url() !== `${url}/tickets`) return;
      const ticket: UploadTicket = await response.json();
      client.deleteAtEnd(ticket.videoId);
      tickets.push(ticket);
    });
    await page.goto(url);
    // Tickets of earlier tests.
    await page.evaluate('localStorage.clear()');
    await watchProgress();
  });
  afterEach(() => page.close());

  test('a kept ticket that was used means that the file has arrived; an unknown one is replaced', async () => {
    await choose(clip, -1);
    const arrived = await output();
    const [ticket] = tickets;
    for (const { kept, expected, requested } of [
      { kept: ticket, expected: arrived, requested: 1 },
      { kept: { ...ticket, uploadToken: 'ut_unknown' }, expected: / has arrived$/, requested: 2 },
    ]) {
      await page.evaluate(`{
        const [{ name, size, lastModified }] = document.querySelector('input').files;
        const ticket = ${JSON.stringify(JSON.stringify(kept))};
        localStorage.setItem(['framelane', name, size, lastModified].join(' '), ticket);
      }`);
      await page.reload();
      await choose(clip, -1);
      expect(await output()).toMatch(expected);
      expect(tickets).toHaveLength(requested);
    }
  });

  test('a page that may not store the ticket uploads a file as well, also after a pause', async () => {
    await page.evaluate(`Object.defineProperty(window, 'localStorage', {
      get() { throw new DOMException('Access is denied', 'SecurityError'); },
    })`);
    await choose(largeClip, 20_000_000);
    await until(async () => Number(await page.evaluate(`document.querySelector('progress').value`)) > 0.2);
    await page.click('button');
    expect(await output()).toBe('Paused');
    await page.click('button');
    await until(async () => / has arrived$/.test(await output()));
    expect(tickets).toHaveLength(1);
  });

  async function watchProgress(): Promise<void> {
    await page.evaluate(`
      window.seen = [];
      const bar = document.querySelector('progress');
      new MutationObserver(() => seen.push(bar.value)).observe(bar, { attributes: true });`);
  }

  /** The only video of the page has this file. */
  async function expectArrived(path: string): Promise<void> {
    const { source } = await client.ready(tickets[0]?.videoId ?? '');
    expect(source?.sha256).toBe(
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    );
  }

  /** Selects a file for upload, with this many bytes per second. */
  async function choose(path: string, bytesPerSecond: number): Promise<void> {
    await page.emulateNetworkConditions({
      offline: false,
      upload: bytesPerSecond,
      download: -1,
      latency: 0,
    });
    const input = await page.waitForSelector('input');
    await (input as Awaited<ReturnType<typeof page.$<'input'>>>)?.uploadFile(path);
  }

  async function output(): Promise<string> {
    return until(async () => {
      const text = await page.evaluate(`document.querySelector('output').textContent`);
      return typeof text === 'string' && text !== '' ? text : undefined;
    });
  }

  test('uploads a file directly to the engine and shows the progress', async () => {
    await choose(clip, 2_000_000);
    expect(await output()).toMatch(/^vid_\w+ has arrived$/);
    const seen = (await page.evaluate('seen')) as number[];
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(1);
    await expectArrived(clip);
  });

  test('pauses an upload; the ticket stays valid', async () => {
    await choose(clip, 100_000);
    await until(async () => await page.evaluate('seen.length'));
    await page.click('button');
    expect(await output()).toBe('Paused');
    const [ticket] = tickets;
    if (ticket === undefined) throw new Error('The page got no ticket');
    // The token is leased until the engine notices the disconnect.
    const receipt = await until(() =>
      upload(clip, ticket).catch((error) => {
        if (error.code !== 'upload_in_progress') throw error;
        return undefined;
      }),
    );
    expect(receipt.videoId).toBe(ticket.videoId);
  });

  test('continues a large upload after a pause and after a reload', async () => {
    const fraction = async () => Number(await page.evaluate(`document.querySelector('progress').value`));
    await choose(largeClip, 20_000_000);
    await until(async () => (await fraction()) > 0.2);
    await page.click('button');
    expect(await output()).toBe('Paused');

    await page.click('button');
    await until(async () => (await fraction()) > 0.5);
    await page.reload();
    await watchProgress();
    await choose(largeClip, 20_000_000);
    expect(await output()).toBe(`${tickets[0]?.videoId} has arrived`);
    const seen = (await page.evaluate('seen')) as number[];
    expect(seen.find((value) => value > 0)).toBeGreaterThan(0.2);
    expect(tickets).toHaveLength(1);
    await expectArrived(largeClip);
    expect(await page.evaluate('localStorage.length')).toBe(0);
  });

  /** Uploads this many bytes from the page. Resolves with the error. */
  async function refusal(uploadUrl: string, bytes: number): Promise<unknown> {
    return page.evaluate(`(async () => {
      const { upload, FramelaneError } = await import('@framelane/client/browser');
      const permit = { uploadUrl: ${JSON.stringify(uploadUrl)}, uploadToken: 'ut_nobody_knows_it' };
      const error = await upload(new Blob([new Uint8Array(${bytes})]), permit).catch((error) => error);
      return { ours: error instanceof FramelaneError, ...error, message: error.message };
    })()`);
  }

  test('gets the error of the engine, also during the upload', async () => {
    expect(await refusal(`${target.engineUrl}/upload`, 200_000_000)).toMatchObject({
      ours: true,
      code: 'upload_token_invalid',
      status: 401,
      requestId: expect.stringMatching(/^req_/),
      problem: { title: 'Upload Token Invalid' },
    });
  });

  test('gets an error if the engine is unreachable', async () => {
    const [port] = await freePorts(1);
    expect(await refusal(`http://localhost:${port}/upload`, 1000)).toMatchObject({
      ours: true,
      code: 'connection_failed',
      status: null,
    });
  });
});
