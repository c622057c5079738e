import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReadyVideo, unwrap } from '@framelane/client';
import { openPage, startBrowser } from '@framelane/test-kit/browser';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser } from 'puppeteer-core';
import { makeMp4 } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { readTarget } from '../src/target.ts';

const client = new FramelaneClient(readTarget(process.env));

const SIZE = { width: 640, height: 360 };
const IS_PLAYING = `document.querySelector('framelane-video')?.currentTime > 1`;

let directory: string;
let browser: Browser;
let video: ReadyVideo;

beforeAll(async () => {
  if (browserPath === '') return;
  directory = await mkdtemp(join(tmpdir(), 'framelane-beacons-'));
  const clip = await makeMp4(directory, {
    name: 'beacons',
    ...SIZE,
    rate: '12',
    seconds: 4,
    audio: null,
  });
  [browser, video] = await Promise.all([startBrowser(browserPath), client.publish(clip)]);
});
afterAll(async () => {
  await browser?.close();
  await client.deleteAll();
  if (directory !== undefined) await rm(directory, { recursive: true });
});

testInBrowser(
  'the player page reports what is watched, unless the viewer refuses to be counted',
  async () => {
    const url = `${video.embed}?autoplay&muted`;
    const watch = async (refuses: boolean) => {
      const { page, problems } = await openPage(browser, 'about:blank', SIZE, 'load');
      const beacons: string[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/beacons')) beacons.push(request.url());
      });
      if (refuses) {
        await page.evaluateOnNewDocument(
          `Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })`,
        );
      }
      await page.goto(url, { waitUntil: 'load' });
      await page.waitForFunction(IS_PLAYING);
      await page.goto('about:blank');
      await page.close();
      return { problems, beacons };
    };
    expect(await watch(true)).toEqual({ problems: [], beacons: [] });
    expect((await watch(false)).problems).toEqual([]);
    const figures = await until(async () => {
      const path = { id: video.id };
      const found = await unwrap(client.api.GET('/analytics/videos/{id}', { params: { path } }));
      return found.views > 0 && found;
    });
    expect(figures).toMatchObject({ views: 1, uniqueViewers: 1, devices: [{ device: 'desktop', views: 1 }] });
    expect(figures.watchSeconds).toBeGreaterThan(0.5);
    expect(figures.startupTime.p50).toBeGreaterThan(0);
    expect(figures.renditions).toEqual([{ rendition: '360p', watchSeconds: expect.any(Number) }]);
    expect(figures.retention?.[0]).toBe(100);
  },
);
