import {
  type Browser,
  Frame,
  type HTTPRequest,
  launch,
  type Page,
  type PuppeteerLifeCycleEvent,
  type Viewport,
} from 'puppeteer-core';
import which from 'which';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Browsers are slow on busy machines. */
const BROWSER_TIMEOUT_MS = 120_000;

/**
 * Between two checks of a condition. Puppeteer would check before each frame, 60 times a second: with that, the browser takes more processor
 * time for a wait than for what the test waits for.
 */
const CHECK_MS = 50;

const { waitForFunction } = Frame.prototype;
Frame.prototype.waitForFunction = function (this: Frame, condition, options, ...args) {
  return Reflect.apply(waitForFunction, this, [condition, { polling: CHECK_MS, ...options }, ...args]);
};

/** A page in a browser, with its requests and errors. */
export type OpenedPage = {
  page: Page;
  /** Requested URLs, without `data:` URLs. */
  requested: string[];
  /** Errors and warnings in the browser's console, uncaught errors, refused and failed requests, without those that hls.js aborted. */
  problems: string[];
};

/** Path of an installed Chromium, or undefined. */
export function findBrowser(): string | undefined {
  return PROGRAMS.map(findProgram).find((path) => path !== undefined);
}

/** Path of an installed program, or undefined. */
export function findProgram(name: string): string | undefined {
  return which.sync(name, { nothrow: true }) ?? undefined;
}

/** Starts a headless browser. Chromium's sandbox does not work for root, as in most containers. */
export async function startBrowser(executablePath: string): Promise<Browser> {
  const root = process.getuid?.() === 0;
  return launch({
    executablePath,
    pipe: true,
    timeout: BROWSER_TIMEOUT_MS,
    args: ['--disable-dev-shm-usage', ...(root ? ['--no-sandbox'] : [])],
    // On desktops scrollbars take space.
    ignoreDefaultArgs: ['--hide-scrollbars'],
  });
}

/** A browser, or a context of it with cookies of its own. */
type Pages = Pick<Browser, 'newPage'>;

/** Opens an empty page. */
export async function newPage(browser: Pages): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(BROWSER_TIMEOUT_MS);
  return page;
}

/** Opens a URL in a window of this size. Resolves once the network is idle, or at `waitUntil`. */
export async function openPage(
  browser: Pages,
  url: string,
  viewport: Viewport,
  waitUntil: PuppeteerLifeCycleEvent = 'networkidle0',
): Promise<OpenedPage> {
  const page = await newPage(browser);
  const requested: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requested.push(request.url());
  });
  page.on('requestfailed', (request) => {
    if (!isAbortedSegment(request)) problems.push(`${request.url()} failed`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.url()} responded with ${response.status()}`);
  });
  // The browser's console also reports violations of the Content-Security-Policy.
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.setViewport(viewport);
  await page.goto(url, { waitUntil });
  return { page, requested, problems };
}

/** hls.js aborts requests for segments that it no longer needs, for example after a seek. */
function isAbortedSegment(request: HTTPRequest): boolean {
  return (
    request.failure()?.errorText === 'net::ERR_ABORTED' &&
    /\.(ts|m4s|vtt)$/.test(new URL(request.url()).pathname)
  );
}
