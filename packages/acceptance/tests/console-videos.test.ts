import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError } from '@framelane/client';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Frame, Page } from 'puppeteer-core';
import { makeMp4 } from '../src/clips.ts';
import {
  click,
  client,
  fill,
  follow,
  heading,
  inspect,
  openTab,
  problemsOf,
  publicUrl,
  signIn,
  target,
  testInBrowser,
  textOf,
  untilGone,
  untilText,
  useConsole,
} from '../src/console.ts';

/** A title that would run a script, and break attributes, if a page did not escape it. */
const HOSTILE = `"'><img src=x onerror="window.attacked=1"><script>window.attacked=1</script>{{7*7}}`;

useConsole();

let directory: string;
let clip: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-console-'));
  const audio = { sampleRate: 48_000, channels: 2 };
  clip = await makeMp4(directory, {
    name: 'console-clip',
    width: 640,
    height: 360,
    rate: '25',
    seconds: 3,
    audio,
  });
});
afterAll(() => rm(directory, { recursive: true }));

async function untilRows(page: Page, count: number): Promise<void> {
  await page.waitForFunction(`document.querySelectorAll('.rows > li').length === ${count}`);
}

/** Drops a file on the page, as from a file manager. */
async function drop(page: Page, name: string, content: string): Promise<void> {
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }`);
}

/** Waits until the list shows this status of a video. The list polls by itself. */
async function untilStatus(page: Page, title: string, status: string): Promise<void> {
  await page.waitForFunction(
    `[...document.querySelectorAll('.rows > li')].some((row) =>
      row.querySelector('a')?.textContent === ${JSON.stringify(title)} && row.textContent.includes(${JSON.stringify(status)}))`,
  );
}

/** Waits until the list shows a poster. Its URL has no token. */
async function untilPoster(page: Page): Promise<void> {
  await page.waitForFunction(
    `[...document.querySelectorAll('img.poster')].some(({ naturalWidth, src }) => naturalWidth > 0 && /\\/poster\\.jpg\\?at=\\d+$/.test(src))`,
  );
}

const idIn = (page: Page) => new URL(page.url()).pathname.split('/').pop() ?? '';

testInBrowser('from the sign-in link to a playing video, and the deletion of a failed one', async () => {
  const opened = await signIn();
  const { page, requested } = opened;
  expect(new URL(page.url()).hash).toBe('');
  expect(await page.evaluate('document.cookie')).toBe('');

  const [chooser] = await Promise.all([page.waitForFileChooser(), click(page, 'Upload files')]);
  await chooser.accept([clip]);
  await drop(page, 'console-notes.mp4', 'These are notes and no video.');
  await untilText(page, '2 of 2 uploaded');
  await untilStatus(page, 'console-notes', 'Failed');
  await untilStatus(page, 'console-notes', 'neither video nor sound');
  await untilStatus(page, 'console-clip', 'Ready');
  await inspect(opened, 'uploads');
  await click(page, 'Clear finished');
  await untilPoster(page);
  await page.hover('img.poster');
  await page.waitForFunction(`document.querySelector('.poster-preview img')?.naturalWidth > 0`);
  await page.hover('h1');
  await page.waitForSelector('.poster-preview', { hidden: true });

  await follow(page, 'console-clip');
  await heading(page, 'console-clip');
  const videoId = idIn(page);
  client.deleteAtEnd(videoId);
  const frame = await (await page.waitForSelector('iframe'))?.contentFrame();
  await play(frame as Frame);
  await inspect(opened, 'video');
  expect(await textOf(page, 'Video id')).toBe(videoId);
  await openTab(page, 'Share');
  expect(await textOf(page, 'Playlist (HLS)')).toBe((await client.video(videoId)).hls);

  // A person who is signed in sees the poster of a signed video without a playback token.
  await client.call('PATCH', `/videos/${videoId}`, { playbackPolicy: 'signed' });
  await page.goto(`${publicUrl}/console/videos?q=console-clip`);
  await untilText(page, 'signed');
  await untilPoster(page);
  await page.goto(`${publicUrl}/console/videos`);
  await follow(page, 'console-notes');
  await heading(page, 'console-notes');
  const notesId = idIn(page);
  client.deleteAtEnd(notesId);
  await untilText(page, 'Check that you chose the right file.');
  await inspect(opened, 'failed');
  await click(page, 'Delete video');
  await untilText(page, "This can't be undone.");
  await click(page, 'Keep');
  await untilGone(page, "This can't be undone.");
  await click(page, 'Delete video');
  await click(page, 'Delete');
  await heading(page, 'Videos');
  await untilText(page, '“console-notes” deleted');
  await page.waitForFunction(
    `![...document.querySelectorAll('.rows a')].some(({ textContent }) => textContent === 'console-notes')`,
  );
  await expect(client.video(notesId)).rejects.toThrow(ApiError);

  expect(problemsOf(opened)).toEqual([]);
  const origins = new Set(
    requested
      .map((url) => new URL(url))
      .filter(({ protocol }) => protocol !== 'blob:')
      .map(({ origin }) => origin),
  );
  expect([...origins].sort()).toEqual([new URL(publicUrl).origin, new URL(target.engineUrl).origin].sort());
});

testInBrowser('keyboard, tags, and several videos at once', async () => {
  const tag = `console-${Date.now()}`;
  await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((title) =>
      client.requestTicket({
        filename: 'clip.mp4',
        title: `${tag} ${title}`,
        tags: [tag, HOSTILE.slice(0, 64)],
      }),
    ),
  );
  const opened = await signIn();
  const { page } = opened;
  await page.goto(`${publicUrl}/console/videos?q=${tag}`);
  await untilRows(page, 5);
  await click(page, `Videos with the tag ${tag}`, 'link');
  await page.waitForFunction(`location.search === '?q=${tag}&tag=${tag}'`);
  await page.reload();
  await untilRows(page, 5);

  for (const key of ['j', 'j', 'j', 'k', 'x', 'j', 'x'] as const) await page.keyboard.press(key);
  await untilText(page, '2 selected');
  expect(await selectedRows(page)).toEqual([1, 2]);
  await inspect(opened, 'list');
  await click(page, 'Add tags');
  await fill(page, 'Tags of 2 videos', `new, ${tag}, <b>bold</b>`);
  await click(page, 'Add');
  await untilText(page, '<b>bold</b>');
  await page.goto(`${publicUrl}/console/videos?q=${tag}&tag=new`);
  await untilRows(page, 2);
  await click(page, 'Select all', 'checkbox');
  await click(page, 'Remove tags');
  await fill(page, 'Tags of 2 videos', 'new');
  await click(page, 'Remove');
  await untilText(page, 'No video matches.');
  await untilText(page, '2 of 2 changed');
  await click(page, 'Undo');
  await untilText(page, 'Undone');
  await untilRows(page, 2);
  await page.focus('[aria-label="Dismiss"]');
  await page.keyboard.press('Enter');
  await untilGone(page, 'Undone');
  expect(await page.evaluate('document.activeElement.id')).toBe('content');
  // The focus held that message, and does not hold the next one.
  await page.evaluate(`{
    const { setTimeout } = window;
    window.setTimeout = (run, ms, ...more) => setTimeout(run, ms === 15_000 ? 500 : ms, ...more);
  }`);
  await click(page, 'Select all', 'checkbox');
  await click(page, 'Remove tags');
  await fill(page, 'Tags of 2 videos', 'new');
  await click(page, 'Remove');
  await page.waitForSelector('.toast');
  await page.waitForSelector('.toast', { hidden: true });

  // In fields, keys are text.
  await page.keyboard.press('/');
  await page.keyboard.type('gkx');
  await page.waitForFunction(`location.search.startsWith('?q=${tag}gkx')`);
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.type('gk');
  await heading(page, 'Keys');
  await page.keyboard.type('gv');
  await heading(page, 'Videos');
  await page.evaluate(`document.querySelector('input[type=file]').addEventListener('click', (event) => {
    event.preventDefault();
    window.asksForFiles = true;
  })`);
  await page.keyboard.press('u');
  expect(await page.evaluate('window.asksForFiles')).toBe(true);
  await page.keyboard.press('?');
  await untilText(page, 'Open Keys');
  await untilText(page, 'Find a page, an action or a video');
  await inspect(opened, 'shortcuts');
  await click(page, 'Single keys are shortcuts', 'checkbox');
  await page.keyboard.press('Escape');
  await page.waitForSelector('[role="dialog"]', { hidden: true });
  await page.keyboard.type('gk?');
  expect([await page.title(), await page.$('[role="dialog"]')]).toEqual(['Videos – Framelane', null]);

  // One deletion gets 429 and succeeds when the console repeats it; another gets 403 and fails.
  await page.goto(`${publicUrl}/console/videos?tag=${tag}`);
  await untilRows(page, 5);
  await refuseDeletions(page, [429, 403]);
  await click(page, 'Select all', 'checkbox');
  await click(page, 'Delete');
  await fill(page, 'Type the number of videos to confirm: 5', '4');
  const isDisabled = () => page.evaluate(`document.querySelector('button[type=submit]').disabled`);
  expect(await isDisabled()).toBe(true);
  await fill(page, 'Type the number of videos to confirm: 5', '5');
  await inspect(opened, 'bulk-delete');
  await page.click('button[type=submit]');
  await untilText(page, '4 of 5 deleted, 1 failed');
  await untilText(page, 'Request req_refused');
  await inspect(opened, 'bulk-failed', /403|429/);
  await click(page, 'Retry');
  await untilText(page, 'No video matches.');
  expect(await page.evaluate(`'attacked' in window`)).toBe(false);
  expect(problemsOf(opened, /403|429/)).toEqual([]);
});

/** The indexes of the selected rows. */
const selectedRows = (page: Page) =>
  page.evaluate(
    `[...document.querySelectorAll('.rows > li')].flatMap((row, at) => row.dataset.selected === 'true' ? [at] : [])`,
  );

/** Refuses the next deletions with these statuses, as the API does. */
async function refuseDeletions(page: Page, statuses: number[]): Promise<void> {
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const status = request.method() === 'DELETE' ? statuses.shift() : undefined;
    if (status === undefined) return void request.continue();
    const code = status === 429 ? 'rate_limited' : 'insufficient_permissions';
    const problem = {
      type: 'about:blank',
      status,
      code,
      title: code,
      detail: 'Refused.',
      requestId: 'req_refused',
    };
    const headers = { 'Retry-After': '1' };
    void request.respond({
      status,
      contentType: 'application/problem+json',
      body: JSON.stringify(problem),
      ...(status === 429 && { headers }),
    });
  });
}

testInBrowser(
  'the list polls every 2 seconds while a video is in progress, every 15 otherwise, and never while hidden',
  async () => {
    const tag = `console-live-${Date.now()}`;
    const { videoId } = await client.requestTicket({ filename: 'clip.mp4', title: tag, tags: [tag] });
    const opened = await signIn();
    const { page } = opened;
    // The test decides when time passes.
    await page.evaluateOnNewDocument(`
    window.timers = new Map();
    let lastId = 0;
    const { setInterval: begin, clearInterval: end } = window;
    window.setInterval = (run, ms) => {
      // The test itself waits with short ones.
      if (ms < 1000) return begin(run, ms);
      const id = (lastId -= 1);
      timers.set(id, { run, ms });
      return id;
    };
    window.clearInterval = (id) => void (timers.delete(id) || end(id));
    window.pass = (ms) => { for (const timer of timers.values()) if (timer.ms === ms) timer.run(); };
    let visibility = 'visible';
    Object.defineProperty(document, 'visibilityState', { get: () => visibility });
    window.show = (state) => { visibility = state; document.dispatchEvent(new Event('visibilitychange', { bubbles: true })); };
  `);
    const statuses: number[] = [];
    page.on('response', (response) => {
      const { pathname, searchParams } = new URL(response.url());
      const isPage =
        pathname === '/v1/videos' && searchParams.get('tag') === tag && !searchParams.has('total');
      if (isPage) statuses.push(response.status());
    });
    // Every 30 seconds, ages in the list follow the clock and the total is asked for.
    const intervals = () =>
      page.evaluate('[...timers.values()].map(({ ms }) => ms).filter((ms) => ms !== 30_000)');
    const untilAsked = (count: number) => until(() => statuses.length === count);

    await page.goto(`${publicUrl}/console/videos?tag=${tag}`);
    await untilRows(page, 1);
    expect(await intervals()).toEqual([2000]);
    await page.evaluate('pass(2000)');
    await untilAsked(2);
    await client.call('PATCH', `/videos/${videoId}`, { title: `${tag} renamed` });
    await page.evaluate('pass(2000)');
    await untilText(page, `${tag} renamed`);
    expect(statuses).toEqual([200, 304, 200]);

    await page.evaluate(`show('hidden'); pass(2000); pass(2000)`);
    await page.evaluate(`show('visible')`);
    await untilAsked(4);

    await client.delete(videoId);
    await page.evaluate('pass(2000)');
    await untilText(page, 'No video matches.');
    expect(await intervals()).toEqual([15_000]);
    await page.evaluate('pass(15_000)');
    await untilAsked(6);
    expect(statuses).toEqual([200, 304, 200, 304, 200, 304]);
    expect(problemsOf(opened)).toEqual([]);
  },
);

async function textContent(page: Page, selector: string): Promise<string> {
  return String(await page.$eval(selector, (element) => element.textContent));
}

async function play(frame: Frame): Promise<void> {
  await frame.waitForFunction(`document.querySelector('framelane-video')?.readyState >= 2`);
  await frame.evaluate(`document.querySelector('media-play-button.large').click()`);
  await frame.waitForFunction(`document.querySelector('framelane-video').currentTime > 0.5`);
}

testInBrowser('a title cannot run a script, and search, filter and pages are in the address', async () => {
  const series = `console-${Date.now()}-`;
  await Promise.all(
    [HOSTILE, ...Array.from({ length: 45 }, (_, n) => `${series}${n}`)].map((title) =>
      client.requestTicket({ filename: 'clip.mp4', title }),
    ),
  );
  const opened = await signIn();
  const { page } = opened;
  await page.locator('input[type="search"]').fill(series);
  await page.waitForFunction(
    `location.search === '?q=${series}' && !document.querySelector('[aria-busy=true]')`,
  );
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await click(page, 'Next');
  await untilRows(page, 20);
  await page.waitForFunction(`document.activeElement.matches('.video-rows')`);
  expect(await page.$eval('.video-rows', (list) => list.getBoundingClientRect().top)).toBeCloseTo(0, 0);
  await page.reload();
  await untilRows(page, 20);
  await click(page, 'Previous');
  await untilRows(page, 25);

  // "Back" leads to the row and the scroll position from where somebody went to a video.
  const row = '.rows > li:nth-child(20) a';
  const left = await textContent(page, row);
  const top = await page.evaluate(`{
    const link = document.querySelector('${row}');
    link.scrollIntoView();
    const top = scrollY;
    link.click();
    top;
  }`);
  await heading(page, left);
  await page.goBack();
  await page.waitForFunction(
    `document.activeElement?.textContent === ${JSON.stringify(left)} && scrollY === ${top}`,
  );
  expect(top).toBeGreaterThan(0);

  await page.select('main select', 'ready');
  await untilText(page, 'No video matches.');
  expect(new URL(page.url()).search).toBe(`?q=${series}&status=ready`);

  await page.goto(`${publicUrl}/console/videos?q=${encodeURIComponent('onerror')}`);
  await untilText(page, HOSTILE);
  await page.locator('.rows a').click();
  await heading(page, HOSTILE);
  await inspect(opened, 'hostile-title');
  await click(page, 'Delete video');
  await untilText(page, `“${HOSTILE}”, its file and its streams are deleted at once.`);
  expect(await page.evaluate(`'attacked' in window`)).toBe(false);
  expect(await page.$('h1 *')).toBeNull();
  expect(problemsOf(opened)).toEqual([]);
});
