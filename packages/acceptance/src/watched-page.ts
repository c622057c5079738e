import type { Browser, Page, Viewport } from 'puppeteer-core';

/** Browsers are slow on busy machines. */
const LIMIT_MS = 60_000;

/** A page in a browser, with its requests and errors. */
export type WatchedPage = {
  page: Page;
  /** Requested URLs, without `data:` URLs. */
  requested: string[];
  /** Errors and warnings of the console, uncaught errors, refused and failed requests. */
  complaints: string[];
};

/** Opens a URL in a window of this size. Resolves once the network is idle. */
export async function openWatched(browser: Browser, url: string, viewport: Viewport): Promise<WatchedPage> {
  const page = await browser.newPage();
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requested.push(request.url());
  });
  page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.url()} responded with ${response.status()}`);
  });
  // The console also reports violations of the Content-Security-Policy.
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.setDefaultTimeout(LIMIT_MS);
  await page.setViewport(viewport);
  await page.goto(url, { waitUntil: 'networkidle0' });
  return { page, requested, complaints };
}
