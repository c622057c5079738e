import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { median, print } from '@framelane/test-kit/benchmark-table';
import { findBrowser, startBrowser } from '@framelane/test-kit/browser';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import type { Browser } from 'puppeteer-core';
import { makeMp4 } from '../../src/clips.ts';

/** Prints how long the player page takes from its address to the first frame, in Chromium on this machine. */

const RUNS = 7;
const WORKSPACE_ID = 'ws_01j9z3w8x2f5m7k4q6r8t0v1ye';

const executable = findBrowser();
if (executable === undefined) throw new Error('Chromium is not installed');
const directory = await mkdtemp(join(tmpdir(), 'framelane-bench-player-'));
const apiKey = `svc_live_${randomBytes(32).toString('hex')}`;
const node = await SingleNodeProcess.start(join(directory, 'data'), {
  BOOTSTRAP_WORKSPACE_ID: WORKSPACE_ID,
  BOOTSTRAP_API_KEY: apiKey,
});
const browser = await startBrowser(executable);
try {
  const client = createClient({ baseUrl: node.baseUrl, apiKey, workspaceId: WORKSPACE_ID });
  const audio = { sampleRate: 48_000, channels: 2 };
  const clip = await makeMp4(directory, {
    name: 'clip',
    width: 1280,
    height: 720,
    rate: '25',
    seconds: 20,
    audio,
  });
  const ticket = await client.uploadTickets.create({ filename: 'clip.mp4' });
  await upload(clip, ticket);
  const { embed } = await client.videos.waitUntilReady(ticket.videoId);
  const url = `${embed}?autoplay=1&muted=1`;
  const first: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const context = await browser.createBrowserContext();
    first.push(await firstFrame(context, url));
    await context.close();
  }
  await firstFrame(browser, url);
  const again: number[] = [];
  for (let run = 0; run < RUNS; run += 1) again.push(await firstFrame(browser, url));
  print(`From the address to the first frame, 720p, ms: median of ${RUNS} (slowest)`);
  print(`  empty browser cache   ${summary(first)}`);
  print(`  filled browser cache  ${summary(again)}`);
} finally {
  await browser.close();
  await node.stop();
  await rm(directory, { recursive: true });
}

/** Milliseconds from the start of the navigation to the first frame on the screen. */
async function firstFrame(opener: Pick<Browser, 'newPage'>, url: string): Promise<number> {
  const page = await opener.newPage();
  await page.goto(url, { waitUntil: 'domcontentloaded' });
  const frame = await page.waitForFunction(
    `(() => {
    const media = document.querySelector('framelane-video')?.nativeEl;
    if (media && !window.watched) {
      window.watched = true;
      media.requestVideoFrameCallback((_now, { presentationTime }) => { window.firstFrame = presentationTime; });
    }
    return window.firstFrame;
  })()`,
    // Not after the first frame.
    { polling: 'raf' },
  );
  const time = Number(await frame.jsonValue());
  await page.close();
  return time;
}

function summary(times: number[]): string {
  return `${Math.round(median(times))} (${Math.round(Math.max(...times))})`;
}
