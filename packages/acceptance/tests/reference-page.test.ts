import { openPage, startBrowser } from '@framelane/test-kit/browser';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { ApiDescription } from '../src/api-description.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const address = `${target.baseUrl}/docs`;
const { origin } = new URL(address);

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

/** Entries that the tests unfold: an operation with a body and a permission, one for players, and an event. */
const UNFOLDED = [
  'operations-Videos-createUploadTicket',
  'operations-Playback-getSegment',
  'operations-webhooks-onVideoReady',
];

let browser: Browser | undefined;
beforeAll(async () => {
  if (browserPath !== '') browser = await startBrowser(browserPath);
});
afterAll(async () => browser?.close());

function startedBrowser(): Browser {
  if (browser === undefined) throw new Error('The browser was not started');
  return browser;
}

testInBrowser(
  'shows and links every operation and event, loads nothing from elsewhere, and fits a phone',
  async () => {
    const api = await ApiDescription.fetch(target.baseUrl);
    const { page, requested, problems } = await openPage(startedBrowser(), address, DESKTOP);
    await page.waitForSelector('.opblock');
    expect(await page.title()).toBe('Framelane API');
    const text = await textOf(page);
    for (const { summary } of [...api.operations, ...api.events]) {
      const occurrences = text.split(summary).length - 1;
      // In the contents and in the reference.
      expect(occurrences).toBeGreaterThanOrEqual(2);
    }

    await page.locator('#contents a[href="#/Videos/retryVideo"]').click();
    await page.waitForSelector('#operations-Videos-retryVideo.is-open');
    await page.waitForFunction(
      `Math.abs(document.getElementById('operations-Videos-retryVideo').getBoundingClientRect().top) < 10`,
    );

    await unfold(page);
    const unfolded = await textOf(page);
    const shown = api.operations.filter(({ operationId }) => UNFOLDED.some((id) => id.endsWith(operationId)));
    const curlLines = shown.flatMap(({ 'x-codeSamples': samples = [] }) =>
      samples.map(({ source }) => source),
    );
    expect(curlLines.length).toBeGreaterThanOrEqual(3);
    for (const line of curlLines) expect(unfolded).toContain(line);
    expect(unfolded).toContain('Permission: videos:write');

    expect(requested).toContain(`${target.baseUrl}/openapi.json`);
    expect(requested.filter((url) => new URL(url).origin !== origin)).toEqual([]);

    // `setViewport` would load the page again, and it takes seconds to unfold its entries.
    const session = await page.createCDPSession();
    await session.send('Emulation.setDeviceMetricsOverride', {
      ...PHONE,
      deviceScaleFactor: 1,
      mobile: true,
    });
    await page.waitForFunction(`screen.width === ${PHONE.width}`);
    expect(await page.$$eval('.opblock.is-open', (entries) => entries.map(({ id }) => id))).toEqual(
      expect.arrayContaining(UNFOLDED),
    );
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    expect(problems).toEqual([]);
  },
);

async function textOf(page: Page): Promise<string> {
  return String(await page.evaluate('document.body.innerText'));
}

async function unfold(page: Page): Promise<void> {
  for (const id of UNFOLDED) {
    await page.evaluate(`document.querySelector('#${id} .opblock-summary-control').click()`);
    await page.waitForSelector(`#${id}.is-open .responses-wrapper`);
  }
}
