/**
 * How fast the list of videos of the console responds to people: `pnpm bench:console [--videos=1000] [--rounds=10]`. Starts a single node with that many
 * videos, and prints for each kind of interaction the median and the longest time from the input to the next frame, as browsers measure it for
 * INP (Event Timing API, in steps of 8 ms). Run it on an idle machine.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '@framelane/client';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { findBrowser, openPage, startBrowser } from '@framelane/test-kit/browser';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import type { Page } from 'puppeteer-core';

const { values } = parseArgs({
  options: { videos: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '10' } },
});
/** More than a page has. */
const videos = Math.max(26, Number(values.videos));
const rounds = Number(values.rounds);

/** The shortest time that the browser reports. */
const SHORTEST_MS = 16;

const executable = findBrowser();
if (executable === undefined) throw new Error('The benchmark needs Chromium. Install it.');

const directory = await mkdtemp(join(tmpdir(), 'framelane-bench-console-'));
const node = await SingleNodeProcess.start(join(directory, 'data'));
const browser = await startBrowser(executable);
try {
  const { baseUrl, apiKey } = node;
  const client = createClient({ baseUrl, apiKey, workspaceId: node.fact('Workspace') });
  for (let at = 0; at < videos; at += 1) {
    const tags = [`course ${at % 20}`, at % 2 === 0 ? 'spring' : 'autumn'];
    await client.uploadTickets.create({ filename: 'lecture.mp4', title: `Lecture ${at}`, tags });
  }
  const { page } = await openPage(browser, node.consoleLink, { width: 1440, height: 900 }, 'load');
  await page.waitForSelector('.video-rows > li');
  await page.evaluate(`{
    window.interactions = [];
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries()) if (interactionId > 0) interactions.push(duration);
    }).observe({ type: 'event', durationThreshold: ${SHORTEST_MS} });
  }`);
  print(`Load of the machine: ${loadavg()[0]?.toFixed(1)}`);
  print(line(['milliseconds', 'median', 'longest']));
  const key = (name: 'x' | 'j' | 'PageDown' | 'Escape') => () => page.keyboard.press(name);
  await measure(page, 'next row (j)', key('j'));
  await measure(page, 'select a row (x)', key('x'));
  await measure(page, 'select the page', () => page.click('.list-head input'));
  await measure(page, 'select all of the filter', selectAll);
  await measure(page, 'scroll (Page Down)', key('PageDown'));
  await measure(page, 'type a search', (round) => page.type('[type="search"]', String(round % 10)));
  await measure(page, 'palette', async (round) => {
    if (round % 2 === 1) return page.keyboard.press('Escape');
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
  });

  async function selectAll(): Promise<void> {
    await page.click('.list-head input');
    await page.click(`::-p-aria([name="Select all ${videos.toLocaleString('en')}"][role="button"])`);
    await page.waitForFunction(
      `document.querySelector('.list-head').textContent.includes('${videos.toLocaleString('en')} selected')`,
    );
    await page.click('.list-head input');
  }
} finally {
  await browser.close();
  await node.stop();
  await rm(directory, { recursive: true });
}

/** Prints how long the interactions took. Those below what the browser reports count as that. */
async function measure(page: Page, name: string, interact: (round: number) => Promise<void>): Promise<void> {
  const longest: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await page.evaluate('interactions.length = 0');
    await interact(round);
    // The entries of a frame follow it.
    await page.evaluate(
      'new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(shown, 100))))',
    );
    longest.push(Math.max(SHORTEST_MS, ...((await page.evaluate('interactions')) as number[])));
  }
  print(line([name, median(longest).toFixed(0), Math.max(...longest).toFixed(0)]));
}
