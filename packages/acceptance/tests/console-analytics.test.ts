import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { makeMp4 } from '../src/clips.ts';
import {
  client,
  follow,
  heading,
  inspect,
  problemsOf,
  publicUrl,
  signIn,
  target,
  testInBrowser,
  untilText,
  useConsole,
} from '../src/console.ts';

useConsole();

const TITLE = 'A video that some people leave early';
/** Playbacks of the video, by the share of it that they include. */
const PLAYBACKS = [1, 1, 0.5, 0.25];

let directory: string;
let video: ReadyVideo;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-console-analytics-'));
  const plan = { name: 'watched', width: 640, height: 360, rate: '12', seconds: 4, audio: null };
  video = await client.publish(await makeMp4(directory, plan));
  await client.api.videos.update(video.id, { title: TITLE });
  const duration = video.duration ?? 0;
  for (const [at, share] of PLAYBACKS.entries()) {
    const response = await fetch(`${target.baseUrl}/embed/${target.workspaceId}/${video.id}/beacons`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        session: `playback-of-the-test-${at}`,
        watched: [{ from: 0, to: duration * share, height: 360 }],
        watchSeconds: duration * share,
        startupSeconds: 0.4,
        stalls: at,
        stallSeconds: at,
      }),
    });
    expect(response.status).toBe(202);
  }
});
afterAll(() => rm(directory, { recursive: true }));

/** The main figures, as a person reads them. */
const figures = (page: Page) =>
  page.$$eval('.measure', (all) => all.map((each) => each.textContent?.replaceAll(/\s+/g, ' ')));

/** What the slider of a chart says of the point that it is at. */
const pointOf = (page: Page, chart: string) =>
  page.$eval(`input[type="range"][aria-label^="${chart}"]`, (each) => each.getAttribute('aria-valuetext'));

testInBrowser('what is watched: of the workspace, then of one video, with a table and keys', async () => {
  await until(async () => (await client.api.analytics.get()).views === PLAYBACKS.length);
  const opened = await signIn();
  const { page } = opened;
  await follow(page, 'Analytics');
  await heading(page, 'Analytics');
  await page.waitForSelector('.chart canvas');
  expect(await figures(page)).toEqual([
    'Views4',
    'Unique viewers1',
    expect.stringMatching(/^Watch time11 s$/),
    'Average watched68.8 %',
  ]);
  expect(await pointOf(page, 'Point of the chart of views')).toMatch(/, so far: 4$/);
  // The arrow keys choose among the figures, and lead around them.
  await page.focus('.measure input');
  await page.keyboard.press('ArrowLeft');
  await page.waitForSelector('[aria-label^="Point of the chart of average watched"]');
  await page.focus('.chart-frame input');
  expect(await page.$eval('.chart-point', (each) => each.textContent)).toContain('68.8 %');
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(`document.querySelector('.chart-point').textContent.includes('not known')`);
  await page.locator('summary').click();
  expect(await page.$$('.figures tbody tr')).toHaveLength(7);
  await untilText(page, 'within 0.47 s');
  await untilText(page, '6, 1.5 per view');
  await inspect(opened, 'analytics');

  await follow(page, TITLE);
  await heading(page, TITLE);
  await page.waitForFunction(`document.querySelectorAll('.chart canvas').length === 2`);
  await page.focus('[aria-label^="Point of the curve"]');
  await page.keyboard.press('Home');
  await page.waitForFunction(`document.querySelector('.chart-point').textContent.includes('100 %')`);
  expect(await pointOf(page, 'Point of the curve')).toBe('0:00: 100 %');
  await page.keyboard.press('End');
  await page.waitForFunction(`document.querySelector('.chart-point').textContent.includes('50 %')`);
  // The picture at the pointer.
  await page.waitForSelector('.chart-point .tile img');
  await inspect(opened, 'analytics-video');
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('the period is in the address, and an own one says what is wrong with it', async () => {
  const opened = await signIn();
  const { page } = opened;
  await page.goto(`${publicUrl}/console/analytics?days=30`);
  await page.waitForSelector('main select');
  await page.select('main select', '90');
  await page.waitForFunction(`location.search === '?days=90'`);
  await page.select('main select', 'own');
  await page.waitForFunction(`location.search.startsWith('?from=')`);
  await page.goto(`${publicUrl}/console/analytics?from=2026-11-02&to=2026-11-01`);
  await untilText(page, 'The first day must not be after the last day.');
  await page.goto(`${publicUrl}/console/analytics?from=2020-01-01&to=2020-01-31`);
  await untilText(page, 'No views in this period.');
  await untilText(page, 'The player page counts by itself');
  await inspect(opened, 'analytics-empty');
});
