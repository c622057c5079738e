import type { Browser, Page, Viewport } from 'puppeteer-core';

/** Browsers take their time on busy machines. */
const LIMIT_MS = 60_000;

/** A page in a browser, and everything about it that a visitor would not see. */
export type WatchedPage = {
  page: Page;
  /** Where it asked for something, without what is in the page itself (`data:`). */
  requested: string[];
  /** What went wrong: errors and warnings of the console, uncaught errors, refused or failed requests. */
  complaints: string[];
};

/** Opens an address in a window of this size and resolves once nothing more is loaded. */
export async function openWatched(browser: Browser, url: string, viewport: Viewport): Promise<WatchedPage> {
  const page = await browser.newPage();
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requested.push(request.url());
  });
  page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.url()} answered ${response.status()}`);
  });
  // What a Content-Security-Policy refuses ends up in the console, too.
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.setDefaultTimeout(LIMIT_MS);
  await page.setViewport(viewport);
  await page.goto(url, { waitUntil: 'networkidle0' });
  return { page, requested, complaints };
}
