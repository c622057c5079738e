import { join } from 'node:path';
import { beforeAll, expect } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import {
  click,
  client,
  heading,
  problemsOf,
  publicUrl,
  SCREENSHOTS,
  signIn,
  testInBrowser,
  untilText,
  useConsole,
} from '../src/console.ts';
import { cutElements, showScheme, untilStill } from '../src/console-layout.ts';
import { COLOUR_RULES, seriousFindings } from '../src/serious-findings.ts';

useConsole();

const LONG = 'A title that says at great length what the video shows and so does not fit into a row, ';

let videoId: string;
let webhookId: string;

beforeAll(async () => {
  const titles = Array.from({ length: 14 }, (_, at) => `Lecture ${at + 1}`);
  for (const title of [...titles, LONG.repeat(5)]) {
    const tags = title === LONG.repeat(5) ? ['first-of-many', 'x'.repeat(64), 'third', 'fourth'] : ['course'];
    ({ videoId } = await client.requestTicket({ filename: 'clip.mp4', title, tags }));
  }
  const notes = await client.requestTicket({ filename: 'notes.mp4', title: 'Notes' });
  await client.upload(notes, new Blob(['These are notes and no video.']));
  expect((await client.settled(notes.videoId)).status).toBe('failed');
  const webhook = { url: 'https://receiver.example/events', events: ['video.ready'] };
  webhookId = ((await (await client.call('POST', '/webhooks', webhook)).json()) as { id: string }).id;
});

const WIDTHS = [390, 1024, 1440] as const;

/** Each page, and the selector of what it shows when it is complete. */
const PAGES: Record<string, { path: () => string; shows: string }> = {
  home: { path: () => '', shows: '.failure-groups > li' },
  list: { path: () => 'videos', shows: '.video-rows > li:nth-child(16)' },
  'list-empty': { path: () => 'videos?q=nothing-has-this-title', shows: '.empty' },
  video: { path: () => `videos/${videoId}`, shows: '.stage' },
  'video-embed': { path: () => `videos/${videoId}?tab=embed`, shows: 'iframe.embed-preview' },
  'video-code': { path: () => `videos/${videoId}?tab=code`, shows: '.code-lines' },
  analytics: { path: () => 'analytics', shows: '.analytics .empty' },
  webhooks: { path: () => 'webhooks', shows: '.rows > li' },
  webhook: { path: () => `webhooks/${webhookId}`, shows: 'h1' },
  keys: { path: () => 'keys', shows: '.rows > li' },
  usage: { path: () => 'usage', shows: '.chart canvas' },
  sessions: { path: () => 'sessions', shows: '.rows > li' },
  requests: { path: () => 'requests', shows: '.rows > li' },
  audit: { path: () => 'audit', shows: '.rows > li' },
  system: { path: () => 'system', shows: 'main h2' },
  missing: { path: () => 'nowhere', shows: 'h1' },
};

testInBrowser(
  'every page at 390, 1024 and 1440 px, light and dark: no overflow, no serious finding',
  async () => {
    const opened = await signIn('--administrator');
    const { page } = opened;
    const findings: unknown[] = [];
    for (const [name, { path, shows }] of Object.entries(PAGES)) {
      await page.goto(`${publicUrl}/console/${path()}`);
      await page.waitForSelector(shows);
      findings.push(...(await checkLayouts(page, name)));
    }
    await page.goto(`${publicUrl}/console/videos`);
    await page.waitForSelector(PAGES.list?.shows ?? '');
    await openPalette(page);
    findings.push(...(await checkLayouts(page, 'palette')));
    await page.keyboard.press('Escape');
    await page.setViewport({ width: 390, height: 844 });
    await click(page, 'Menu');
    await page.waitForSelector('.drawer');
    findings.push(...(await checkLayout(page, 'menu', 390, 'light')));
    expect(findings).toEqual([]);
    expect(problemsOf(opened)).toEqual([]);
  },
);

async function checkLayouts(page: Page, name: string): Promise<unknown[]> {
  const findings: unknown[] = [];
  for (const scheme of ['light', 'dark'] as const) {
    for (const width of WIDTHS) findings.push(...(await checkLayout(page, name, width, scheme)));
  }
  return findings;
}

/** What is wrong with a page. At the medium width it has the elements of the other two, so only their places are checked. */
async function checkLayout(
  page: Page,
  name: string,
  width: number,
  scheme: 'light' | 'dark',
): Promise<unknown[]> {
  await page.setViewport({ width, height: width === 390 ? 844 : 900 });
  await showScheme(page, scheme);
  await untilStill(page);
  const path = join(SCREENSHOTS, `console-design-${name}-${width}-${scheme}.png`) as `${string}.png`;
  await page.screenshot({ path, optimizeForSpeed: true });
  const rules = scheme === 'light' ? undefined : COLOUR_RULES;
  const serious = width === 1024 ? [] : await seriousFindings(page, rules);
  const wrong = [...(await cutElements(page)), ...serious];
  return wrong.map((each) => ({ name, width, scheme, wrong: each }));
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.down('Control');
  await page.keyboard.press('k');
  await page.keyboard.up('Control');
  await page.waitForSelector('[role="combobox"]');
}

testInBrowser('the list is dense, and its typeface comes from the installation', async () => {
  const { page, requested } = await signIn();
  await page.waitForSelector('.video-rows > li:nth-child(16)');
  await page.waitForFunction(`document.fonts.check('1rem Geist') && document.fonts.status === 'loaded'`);
  const visible = await page.evaluate(
    `[...document.querySelectorAll('.video-rows > li')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length`,
  );
  expect(visible).toBeGreaterThanOrEqual(14);
  const heights = await page.$$eval('.video-rows > li', (rows) => [
    ...new Set(rows.map((row) => Math.round(row.getBoundingClientRect().height))),
  ]);
  // One line for each, however long its title is.
  expect(heights).toHaveLength(1);
  const fonts = [...new Set(requested.filter((url) => url.endsWith('.woff2')))];
  expect(fonts.map((url) => new URL(url).origin)).toEqual([publicUrl]);
  const bytes = (await (await fetch(fonts[0] ?? '')).arrayBuffer()).byteLength;
  expect(bytes).toBeLessThan(60_000);
});

testInBrowser('the command palette finds pages, actions and videos, without a mouse', async () => {
  const opened = await signIn();
  const { page } = opened;
  const options = () => page.$$eval('[role="option"]', (all) => all.map((each) => each.textContent));
  const selected = () =>
    page.$eval('[role="option"][aria-selected="true"]', (each) => each.textContent ?? '');
  await page.focus('[aria-label="Find"], .palette-button');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role="combobox"]');
  expect(await selected()).toContain('Home');
  await page.keyboard.type('lecture 11');
  await page.waitForFunction(`document.querySelector('[role="option"]')?.textContent.includes('Lecture 11')`);
  expect(await options()).toHaveLength(1);
  // Enter that ends the input of a word in Chinese, Japanese or Korean chooses nothing.
  await page.evaluate(`document.activeElement.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))`);
  expect(await page.$('[role="combobox"]')).not.toBeNull();
  await page.keyboard.press('Enter');
  await heading(page, 'Lecture 11');
  const id = new URL(page.url()).pathname.split('/').pop() ?? '';

  // By id, also from a field.
  await openPalette(page);
  expect(await page.$$('[role="dialog"]')).toHaveLength(1);
  await page.keyboard.type(videoId);
  await page.waitForFunction(
    `document.querySelector('[role="option"]')?.textContent.includes('at great length')`,
  );
  await page.keyboard.press('Enter');
  await heading(page, LONG.trim());
  expect(id).not.toBe(videoId);

  // By what a page is about, by another id, and an action of another page.
  await openPalette(page);
  await page.keyboard.type('quota');
  await page.keyboard.press('Enter');
  await heading(page, 'Usage');
  await openPalette(page);
  await page.keyboard.type(webhookId);
  await page.keyboard.press('Enter');
  await heading(page, 'https://receiver.example/events');
  await openPalette(page);
  await page.keyboard.type('create key');
  await page.keyboard.press('Enter');
  await page.waitForSelector('::-p-aria([name="Name"][role="textbox"])');
  expect(new URL(page.url()).search).toBe('');
  await page.keyboard.press('Escape');
  await page.waitForSelector('[role="dialog"]', { hidden: true });

  // Keys lead around the list, and the field keeps the focus.
  await openPalette(page);
  await page.keyboard.press('ArrowUp');
  expect(await selected()).toContain('Sign out');
  for (const _ of ['Home', 'Videos', 'Analytics', 'Webhooks']) await page.keyboard.press('ArrowDown');
  expect(await selected()).toContain('Webhooks');
  const active = `document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).textContent`;
  expect(await page.evaluate(active)).toContain('Webhooks');
  await page.keyboard.press('Enter');
  await heading(page, 'Webhooks');

  // An action.
  await openPalette(page);
  await page.keyboard.type('url import');
  await page.keyboard.press('Enter');
  await page.waitForSelector('::-p-aria([name="URL of the file"][role="textbox"])');
  await page.keyboard.press('Escape');
  await page.waitForSelector('[role="dialog"]', { hidden: true });

  // Nothing is found; Escape leads back.
  await openPalette(page);
  await page.keyboard.type('no page and no video');
  await untilText(page, 'Nothing found');
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.waitForSelector('[role="dialog"]', { hidden: true });
  await heading(page, 'Webhooks');
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser(
  'Enter before the search has ended opens what was typed, not what was found before',
  async () => {
    const { page } = await signIn();
    await openPalette(page);
    await page.keyboard.type('lecture 1');
    await page.waitForFunction(`document.querySelectorAll('[role="option"]').length === 6`);
    await page.keyboard.type('3');
    await page.keyboard.press('Enter');
    await heading(page, 'Lecture 13');
    // Nothing of what was found before has the words, so Enter waits for the search.
    await openPalette(page);
    await page.keyboard.type('lecture 1');
    await page.waitForFunction(`document.querySelectorAll('[role="option"]').length === 6`);
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type('notes');
    await page.keyboard.press('Enter');
    await heading(page, 'Notes');
  },
);

testInBrowser('what the palette has done leaves the focus where it was', async () => {
  const opened = await signIn();
  const { page } = opened;
  const origin = (await page.waitForSelector('.row-title')) ?? undefined;
  const hasFocus = () =>
    page.waitForFunction((each) => each === each?.ownerDocument.activeElement, {}, origin);
  await origin?.focus();
  await openPalette(page);
  await page.keyboard.type('dark appearance');
  await page.keyboard.press('Enter');
  await hasFocus();
  await openPalette(page);
  await page.keyboard.type('shortcuts');
  await page.keyboard.press('Enter');
  await untilText(page, 'Single keys are shortcuts');
  await page.keyboard.press('Escape');
  await page.waitForSelector('[role="dialog"]', { hidden: true });
  await hasFocus();
  // The key that opens it also closes it.
  await openPalette(page);
  await page.keyboard.down('Control');
  await page.keyboard.press('k');
  await page.keyboard.up('Control');
  await page.waitForSelector('[role="combobox"]', { hidden: true });
  await hasFocus();
  expect(problemsOf(opened)).toEqual([]);
});

testInBrowser('a title has room at every width', async () => {
  const { page } = await signIn();
  for (const width of [1440, 1024, 961, 960, 820, 769, 768, 390, 320]) {
    await page.setViewport({ width, height: 900 });
    await untilStill(page);
    const cut = await page.$$eval('.row-title', (all) =>
      all.flatMap(({ scrollWidth, clientWidth }) => (scrollWidth > clientWidth ? clientWidth : [])),
    );
    expect({ width, least: Math.min(...cut) > 90 }).toEqual({ width, least: true });
    const heights = await page.$$eval('.row-words > .hint', (all) => all.map((each) => each.clientHeight));
    expect(heights.every((height) => height < 30)).toBe(true);
  }
});

testInBrowser('somebody who cannot write finds no actions that do', async () => {
  const { page } = await signIn('--permissions', 'videos:read');
  await openPalette(page);
  const names = await page.$$eval('[role="option"]', (all) => all.map((each) => each.textContent));
  expect(names).toEqual([
    'HomePage',
    'VideosPage',
    expect.stringMatching(/appearance$/),
    'Keyboard shortcuts',
    'Documentation',
    'Sign out',
  ]);
});

testInBrowser('on a phone the menu opens the pages, and closes with the choice of one', async () => {
  const { page } = await signIn();
  await page.setViewport({ width: 390, height: 844 });
  await click(page, 'Menu');
  await click(page, 'Keys', 'link');
  await heading(page, 'Keys');
  await page.waitForSelector('[role="dialog"]', { hidden: true });
  await click(page, 'Find');
  await page.waitForSelector('[role="combobox"]');
});

testInBrowser('each page links to its guide, which exists', async () => {
  const { page } = await signIn('--administrator');
  for (const path of [
    '',
    'videos',
    'analytics',
    'webhooks',
    'keys',
    'usage',
    'sessions',
    'requests',
    'audit',
    'system',
  ]) {
    await page.goto(`${publicUrl}/console/${path}`);
    const link = await page.waitForSelector('.page-head a');
    const url = new URL(String(await (await link?.getProperty('href'))?.jsonValue()));
    const response = await fetch(url);
    expect(response.status).toBe(200);
    if (url.hash !== '') expect(await response.text()).toContain(`id="${url.hash.slice(1)}"`);
  }
});
