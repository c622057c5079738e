import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReadyVideo, unwrap } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { newPage, type OpenedPage, openPage, startBrowser } from '@framelane/test-kit/browser';
import { makeClip } from '@framelane/test-kit/clips';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser, Frame, HTTPRequest, Page } from 'puppeteer-core';
import { makeMp4 } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { beginAndPause, choose, HAS_FRAME, VIDEO } from '../src/player-controls.ts';
import { seriousFindings } from '../src/serious-findings.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const { origin } = new URL(target.baseUrl);

/** The folder for the screenshots of a run. */
const SCREENSHOTS = join(import.meta.dirname, '../screenshots');
const DESKTOP = { width: 960, height: 540 };
const PHONE = { width: 360, height: 640, isMobile: true, hasTouch: true };

const SECONDS = 20;
/** Frames a second. Encoders and browsers need less time for fewer. */
const RATE = '12';
const IS_PLAYING = `${VIDEO}?.currentTime > 0.5 && !${VIDEO}.paused`;

/** The picture of the message. */
const PICTURE = `getComputedStyle(document.querySelector('#message'), '::before').maskImage`;
const LOADING_ICON = `document.querySelector('media-loading-indicator > svg')`;
const LOADING_ICON_TURNS = `${LOADING_ICON}.getAnimations().length === 1`;
/** Whether nothing is animated, and the page's icon replaces that of media-chrome, which is always animated. */
const STANDS_STILL = `document.getAnimations().length === 0 && ${LOADING_ICON}.assignedSlot !== null`;

let directory: string;
let clip: string;
let video: ReadyVideo;
/** 12 s of 480p in English and German. */
let bilingual: ReadyVideo;
let browser: Browser;
/** A website that shows players. It responds with the path of the request, as HTML. */
let site: Server;
let siteUrl: string;

beforeAll(async () => {
  if (browserPath === '') return;
  directory = await mkdtemp(join(tmpdir(), 'framelane-player-'));
  await mkdir(SCREENSHOTS, { recursive: true });
  site = createServer((req, res) => {
    const html = decodeURIComponent(String(req.url).slice(1));
    res.setHeader('Content-Type', 'text/html').end(`<!doctype html><link rel="icon" href="data:,">${html}`);
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  clip = await makeMp4(directory, {
    name: 'player',
    width: 854,
    height: 480,
    rate: RATE,
    seconds: SECONDS,
    audio: { sampleRate: 48_000, channels: 2 },
  });
  const languages = await makeClip(join(directory, 'languages.mkv'), {
    video: `testsrc2=size=854x480:rate=${RATE}`,
    audio: 'sine=frequency=440:sample_rate=48000',
    options: [
      ...['-t', '12', '-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:v', 'libx264', '-c:a', 'aac'],
      ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=ger'],
    ],
  });
  [browser, video, bilingual] = await Promise.all([
    startBrowser(browserPath),
    client.publish(clip),
    client.publish(languages),
  ]);
});
afterAll(async () => {
  await browser?.close();
  site?.close();
  await client.deleteAll();
  if (directory !== undefined) await rm(directory, { recursive: true });
});

// A hidden page that plays on would take processor time from the next one.
afterEach(async () => {
  const pages = (await browser?.pages()) ?? [];
  await Promise.all(pages.slice(1).map((page) => page.close()));
});

/** Opens a page, without waiting for the network: a player that waits or plays keeps it busy. */
function open(url: string, viewport = DESKTOP): Promise<OpenedPage> {
  return openPage(browser, url, viewport, 'load');
}

/** The problems that are not about the status of the page itself. */
function unexpected({ problems }: OpenedPage, status: number): string[] {
  return problems.filter(
    (problem) => !problem.includes(`responded with ${status}`) && !problem.includes(`status of ${status}`),
  );
}

/** The page of another site with a player in a frame, and a script of its own. */
function framed(url: string, script = ''): string {
  const html = `<iframe src="${url}" allow="autoplay" width="640" height="360"></iframe><script>
const received = [];
const frame = document.querySelector('iframe');
const send = (message) => frame.contentWindow.postMessage(message, '${origin}');
addEventListener('message', ({ data, origin }) => { if (origin === '${origin}') received.push(JSON.parse(data)); });
${script}</script>`;
  return `${siteUrl}/${encodeURIComponent(html)}`;
}

const playerIn = (page: Page) => page.frames()[1] as Frame;

/** Waits until the page around a player has received an event. */
async function untilEvent(page: Page, event: string): Promise<void> {
  await page.waitForFunction(`received.some((each) => each.event === '${event}')`);
}

async function sendToken(page: Page, token: string): Promise<void> {
  await page.evaluate(`send(${JSON.stringify({ event: 'framelane:setToken', token })})`);
}

const wordsOf = async (page: Page | Frame) =>
  String(await page.evaluate(`document.querySelector('#message').textContent`));

async function untilWords(page: Page | Frame, words: string): Promise<void> {
  await page.waitForFunction(
    `document.querySelector('#message').textContent.includes(${JSON.stringify(words)})`,
  );
}

/** Waits until the menu has faded in: axe would find the contrast of a half transparent one too low. */
async function untilSettingsAreOpen(page: Page): Promise<void> {
  const menu = `document.querySelector('media-settings-menu')`;
  await page.waitForFunction(`!${menu}.hidden && ${menu}.getAnimations().length === 0`);
}

async function screenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

async function tokenFor(videoId: string, expiresIn = 3600): Promise<string> {
  return (await client.api.videos.createPlaybackToken(videoId, { expiresIn })).token;
}

/**
 * Once `held.begun` is true, holds back the `updateend` of the next `remove` of video and of the next append of an audio segment,
 * until the test calls `held.video()` and `held.audio()`.
 */
const HOLD_BACK = `
  window.held = { begun: false };
  const { addSourceBuffer } = MediaSource.prototype;
  MediaSource.prototype.addSourceBuffer = function (type) {
    const buffer = addSourceBuffer.call(this, type);
    const kind = type.split('/')[0];
    const method = kind === 'video' ? 'remove' : 'appendBuffer';
    const { [method]: original, addEventListener } = buffer;
    let isHeld = false;
    buffer[method] = (...args) => {
      // Appends that are smaller than a segment initialize the buffer.
      isHeld = held.begun && !held[kind] && (kind === 'video' || args[0].byteLength > 1000);
      original.apply(buffer, args);
    };
    buffer.addEventListener = (name, listener) =>
      addEventListener.call(buffer, name, (event) => {
        if (name !== 'updateend' || !isHeld) return listener(event);
        isHeld = false;
        held[kind] = () => listener(event);
      });
    return buffer;
  };
`;

testInBrowser('plays a public video, without requests to others, cookies or stored values', async () => {
  const opened = await open(video.embed);
  const { page, requested, problems } = opened;
  await page.waitForFunction(HAS_FRAME);
  expect(await page.title()).toBe('player');
  await page.waitForFunction(STANDS_STILL);
  await screenshot(page, 'ready');
  expect(await seriousFindings(page)).toEqual([]);

  await page.click('media-play-button.large');
  await page.waitForFunction(IS_PLAYING);
  const { x, y, width, height } = JSON.parse(
    String(
      await page.evaluate(
        `JSON.stringify(document.querySelector('media-time-range').getBoundingClientRect())`,
      ),
    ),
  );
  // A headless browser has no pointer that hovers, so the preview appears while the pointer is dragged.
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 5, y + height / 2);
  await page.waitForFunction(
    `document.querySelector('media-time-range').getAttribute('mediapreviewimage')?.includes('storyboard.jpg#xywh=')`,
  );
  const box = `document.querySelector('media-time-range').shadowRoot.querySelector('[part~="preview-box"]')`;
  await page.waitForFunction(`getComputedStyle(${box}).opacity === '1'`);
  await screenshot(page, 'preview');
  await page.mouse.up();

  await page.click('media-settings-menu-button');
  await untilSettingsAreOpen(page);
  await screenshot(page, 'settings');
  expect(await seriousFindings(page)).toEqual([]);
  const renditions = await page.evaluate(
    `[...document.querySelector('media-rendition-menu').shadowRoot.querySelectorAll('media-chrome-menu-item')].map((item) => item.textContent.trim())`,
  );
  expect(renditions).toEqual(['480p', '360p', expect.stringContaining('Auto')]);

  expect(requested.filter((url) => !url.startsWith(`${origin}/v1/`) && !url.startsWith('blob:'))).toEqual([]);
  expect(await page.browserContext().cookies()).toEqual([]);
  expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
  expect(problems).toEqual([]);
});

testInBrowser('the menus choose captions, language, quality and speed during playback', async () => {
  const { id, embed } = bilingual;
  await client.api.captions.set(id, 'en', 'WEBVTT\n\n00:00.000 --> 00:12.000\nWords\n');
  const { page, problems } = await open(`${embed}?autoplay=1&muted=1&loop=1`);
  await page.waitForFunction(IS_PLAYING);
  await choose(page, 'media-captions-menu', 'English');
  await page.waitForFunction(
    `[...${VIDEO}.textTracks].some(({ kind, mode, activeCues }) => kind === 'subtitles' && mode === 'showing' && activeCues?.length > 0)`,
  );
  await choose(page, 'media-audio-track-menu', 'Deutsch');
  await page.waitForFunction(`${VIDEO}.api.audioTracks[${VIDEO}.api.audioTrack].lang === 'de'`);
  await choose(page, 'media-rendition-menu', '360p');
  await page.waitForFunction(`${VIDEO}.videoHeight === 360`);
  await choose(page, 'media-playback-rate-menu', '1.5');
  await page.waitForFunction(`${VIDEO}.playbackRate === 1.5`);
  await page.click('media-settings-menu-button');
  await untilSettingsAreOpen(page);
  await screenshot(page, 'captions-and-languages');
  // The controls do not hide the captions.
  const offset = `getComputedStyle(${VIDEO}).getPropertyValue('--media-webkit-text-track-transform')`;
  const bars = `[...document.querySelectorAll('media-control-bar')].reduce((sum, bar) => sum + bar.offsetHeight, 0)`;
  expect(await page.evaluate(offset)).toBe(`translateY(-${await page.evaluate(bars)}px)`);
  expect(await seriousFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
});

testInBrowser('chapters are in the timeline and in the menu, as plain text', async () => {
  const { id, embed } = bilingual;
  const script = '<img src=x onerror="document.title=1"> & <b>co</b>';
  const chapters = [
    { start: 0, title: 'Opening' },
    { start: 4, title: script },
    { start: 8.5, title: 'Questions' },
  ];
  await client.api.chapters.set(id, chapters);
  const opened = await open(`${embed}?muted=1`);
  const { page, problems } = opened;
  await page.waitForFunction(HAS_FRAME);
  await beginAndPause(page);
  const parts = `document.querySelector('media-time-range').shadowRoot.querySelectorAll('#segments-clipping rect')`;
  await page.waitForFunction(`${parts}.length === 3`);
  const { x, y, width, height } = JSON.parse(
    String(
      await page.evaluate(
        `JSON.stringify(document.querySelector('media-time-range').getBoundingClientRect())`,
      ),
    ),
  );
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 5, y + height / 2);
  await page.waitForFunction(
    `document.querySelector('media-time-range').getAttribute('mediapreviewchapter') === ${JSON.stringify(script)}`,
  );
  await page.mouse.move(x + width - 2, y + height / 2);
  await page.waitForFunction(
    `document.querySelector('media-time-range').getAttribute('mediapreviewchapter') === 'Questions'`,
  );
  await screenshot(page, 'chapters');
  await page.mouse.up();

  const items = `[...document.querySelector('chapters-menu').shadowRoot.querySelectorAll('media-chrome-menu-item')]`;
  expect(await page.evaluate(`${items}.map((item) => item.textContent.trim())`)).toEqual([
    '0:00 Opening',
    `0:04 ${script}`,
    '0:08 Questions',
  ]);
  await choose(page, 'chapters-menu', 'Questions');
  await page.waitForFunction(`${VIDEO}.currentTime === 8.5 && ${items}[2].checked`);
  await page.evaluate(`${VIDEO}.currentTime = 10`);
  await choose(page, 'chapters-menu', 'Questions');
  await page.waitForFunction(`${VIDEO}.currentTime === 8.5`);
  await page.evaluate(`${VIDEO}.currentTime = 1`);
  await page.waitForFunction(`${items}[0].checked && !${items}[2].checked`);
  const current = `document.querySelector('.chapters').shadowRoot.querySelector('slot[name="description"]').textContent`;
  await page.waitForFunction(`${current}.trim() === 'Opening'`);
  await page.click('media-settings-menu-button');
  await untilSettingsAreOpen(page);
  await page.click('.chapters');
  await page.waitForFunction(
    `!document.querySelector('chapters-menu').hidden && document.getAnimations().length === 0`,
  );
  await screenshot(page, 'chapters-menu');
  expect(await seriousFindings(page)).toEqual([]);
  expect(problems).toEqual([]);

  await client.api.chapters.delete(id);
  const { page: without, requested } = await open(`${embed}?muted=1`);
  await without.waitForFunction(HAS_FRAME);
  expect(await without.evaluate(`getComputedStyle(document.querySelector('.chapters')).display`)).toBe(
    'none',
  );
  expect(requested.filter((url) => url.includes('chapters'))).toEqual([]);
});

testInBrowser(
  'the choice of a quality while another audio language is buffering does not stop the video',
  async () => {
    const page = await newPage(browser);
    await page.evaluateOnNewDocument(HOLD_BACK);
    await page.goto(`${bilingual.embed}?autoplay=1&muted=1`);
    await page.waitForFunction(`${IS_PLAYING} && ${VIDEO}.api.bufferedToEnd`);
    await page.evaluate(`${VIDEO}.pause()`);
    await page.evaluate('held.begun = true');
    await choose(page, 'media-audio-track-menu', 'Deutsch');
    await page.waitForFunction('held.audio');
    await choose(page, 'media-rendition-menu', '360p');
    await page.waitForFunction('held.video');
    await page.evaluate('held.audio()');
    await page.evaluate('held.video()');
    await page.evaluate(`${VIDEO}.play()`);
    await page.waitForFunction(`${VIDEO}.videoHeight === 360`);
  },
);

testInBrowser('keys alone play, seek, mute, and open the menus', async () => {
  const { page, problems } = await open(`${video.embed}?muted=1`);
  await page.waitForFunction(HAS_FRAME);
  await page.keyboard.press('k');
  await page.waitForFunction(IS_PLAYING);
  await page.keyboard.press('k');
  await page.waitForFunction(`${VIDEO}.paused`);
  const time = () => page.evaluate(`${VIDEO}.currentTime`) as Promise<number>;
  await page.keyboard.press('5');
  // The browser corrects the duration a little when it has the last segment.
  const middle = await time();
  expect(middle).toBeCloseTo(SECONDS / 2, 0);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(`Math.abs(${VIDEO}.currentTime - ${middle + 5}) < 0.1`);
  await page.keyboard.press('j');
  await page.waitForFunction(`Math.abs(${VIDEO}.currentTime - ${middle - 5}) < 0.1`);
  const before = await time();
  await page.keyboard.press('.');
  expect((await time()) - before).toBeCloseTo(0.04, 2);
  await page.keyboard.press('Home');
  expect(await time()).toBe(0);
  await page.keyboard.press('m');
  await page.waitForFunction(`!${VIDEO}.muted`);
  // Ctrl+M belongs to the browser, also while the player has the focus.
  const pressCtrlM = async () => {
    await page.keyboard.down('Control');
    await page.keyboard.press('m');
    await page.keyboard.up('Control');
    expect(await page.evaluate(`${VIDEO}.muted`)).toBe(false);
  };
  await pressCtrlM();
  await page.focus('media-play-button');
  await pressCtrlM();
  await page.evaluate('document.activeElement.blur()');

  const reached: string[] = [];
  const focused = () => page.evaluate(`document.activeElement.localName`) as Promise<string>;
  for (let presses = 0; presses < 15 && !reached.includes('media-settings-menu-button'); presses += 1) {
    await page.keyboard.press('Tab');
    reached.push(await focused());
  }
  expect(reached).toEqual(
    expect.arrayContaining(['media-play-button', 'media-mute-button', 'media-time-range']),
  );
  await screenshot(page, 'focus');
  await page.keyboard.press('Enter');
  await page.waitForFunction(`document.activeElement.localName === 'media-settings-menu-item'`);
  // In a menu, keys choose and do not seek.
  await page.keyboard.press('End');
  expect(await time()).toBe(0);
  await page.keyboard.press('Escape');
  await page.waitForFunction(`document.querySelector('media-settings-menu').hidden`);
  expect(problems).toEqual([]);
});

testInBrowser('fits a phone of 360 pixels', async () => {
  const { page, problems } = await open(video.embed, PHONE);
  await page.waitForFunction(HAS_FRAME);
  await beginAndPause(page);
  await screenshot(page, 'phone');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
  const outside = await page.evaluate(
    `[...document.querySelectorAll('.buttons > *')].filter((each) => each.getBoundingClientRect().right > ${PHONE.width}).map((each) => each.localName)`,
  );
  expect(outside).toEqual([]);
  await page.tap('media-settings-menu-button');
  await untilSettingsAreOpen(page);
  await screenshot(page, 'phone-settings');
  expect(await seriousFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
});

testInBrowser('the query sets the start time, mute, the colour and the loop', async () => {
  const { page, problems } = await open(`${video.embed}?autoplay=1&muted=1&loop=1&start=12&color=ff6600`);
  await page.waitForFunction(`${VIDEO}?.currentTime > 12 && !${VIDEO}.paused`);
  expect(await page.evaluate(`[${VIDEO}.muted, ${VIDEO}.loop]`)).toEqual([true, true]);
  expect(await page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue('--accent')`)).toBe(
    '#ff6600',
  );
  await page.evaluate(`${VIDEO}.currentTime = ${SECONDS - 0.5}`);
  await page.waitForFunction(`${VIDEO}.currentTime < 5`);
  expect(problems).toEqual([]);
});

testInBrowser('the video starts at the time of the query even if the first requests fail', async () => {
  const page = await newPage(browser);
  // hls.js gives up at the second failure of the master playlist, and at the third of a segment.
  const failures = [/master\.m3u8/, /master\.m3u8/, /\.ts/, /\.ts/, /\.ts/];
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const fails = failures[0]?.test(request.url());
    if (fails) failures.shift();
    void (fails ? request.abort('connectionreset') : request.continue());
  });
  await page.goto(`${video.embed}?autoplay=1&muted=1&start=12`, { waitUntil: 'load' });
  await page.waitForFunction(`${VIDEO}?.nativeEl?.played.length > 0`);
  expect(failures).toEqual([]);
  expect(await page.evaluate(`${VIDEO}.nativeEl.played.start(0)`)).toBeCloseTo(12, 0);
});

testInBrowser('the audio plays although the segment whose key was requested first is given up', async () => {
  const page = await newPage(browser);
  let keyRequests = 0;
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const isKey = request.url().endsWith('/key');
    if (isKey) keyRequests++;
    // The first one gets no response.
    if (!isKey || keyRequests > 1) void request.continue();
  });
  await page.goto(`${video.embed}?autoplay=1&muted=1`, { waitUntil: 'load' });
  const hasFetched = (part: string) =>
    `performance.getEntriesByType('resource').some(({ name }) => name.includes('${part}'))`;
  await page.waitForFunction(`${hasFetched('/audio/0.')} && ${hasFetched('p/0.')}`);
  // The segment of the video is given up. That of the audio waits for the same key.
  await page.evaluate(`${VIDEO}.api.currentLevel = 0`);
  await page.waitForFunction(IS_PLAYING);
  expect(keyRequests).toBe(2);
});

testInBrowser('the video starts without sound if the browser refuses sound', async () => {
  const page = await newPage(browser);
  const consoleMessage = new Promise((resolve) => page.once('console', (message) => resolve(message.text())));
  // A later `evaluate` would count as an action of the viewer, after which browsers allow sound.
  await page.evaluateOnNewDocument(
    `addEventListener('playing', ({ target }) => console.info('muted: ' + target.muted), true)`,
  );
  await page.goto(`${video.embed}?autoplay=1`, { waitUntil: 'load' });
  expect(await consoleMessage).toBe('muted: true');
});

testInBrowser('the buttons open full screen and picture in picture', async () => {
  const { page, problems } = await open(`${video.embed}?muted=1`);
  await page.waitForFunction(HAS_FRAME);
  await beginAndPause(page);
  await page.click('media-fullscreen-button');
  await page.waitForFunction(`document.fullscreenElement?.localName === 'media-controller'`);
  await screenshot(page, 'full-screen');
  await page.keyboard.press('f');
  await page.waitForFunction('document.fullscreenElement === null');
  await page.click('media-pip-button');
  await page.waitForFunction(`document.pictureInPictureElement?.localName === 'framelane-video'`);
  await page.click('media-pip-button');
  await page.waitForFunction('document.pictureInPictureElement === null');
  expect(problems).toEqual([]);
});

testInBrowser('a video that is being prepared shows its progress and starts by itself', async () => {
  const ticket = await client.requestTicket({ filename: 'later.mp4', playbackPolicy: 'signed' });
  const { embed } = await unwrap(
    client.api.GET('/videos/{id}', { params: { path: { id: ticket.videoId } } }),
  );
  const { page, problems } = await open(
    `${embed}?autoplay=1&muted=1&token=${await tokenFor(ticket.videoId)}`,
  );
  expect(await wordsOf(page)).toBe(
    'This video is being prepared: 0 %. It appears here when it can be played.',
  );
  await screenshot(page, 'preparing');
  expect(await seriousFindings(page)).toEqual([]);
  await upload(clip, ticket);
  await page.waitForFunction(IS_PLAYING);
  expect(await wordsOf(page)).toBe('');
  expect(problems).toEqual([]);
});

testInBrowser(
  'a preview whose attempt fails continues at its position when the next attempt has a preview',
  async () => {
    const ticket = await client.requestTicket({ filename: 'preview.mp4' });
    const { embed } = await unwrap(
      client.api.GET('/videos/{id}', { params: { path: { id: ticket.videoId } } }),
    );
    const preparing = { status: 'preparing', title: 'Preview', progress: 5 };
    const preview = { ...preparing, hls: new URL(video.hls).pathname, attempt: 1 };
    let state: object = preview;
    const page = await newPage(browser);
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (!request.url().endsWith('/state')) void request.continue();
      else void request.respond({ contentType: 'application/json', body: JSON.stringify(state) });
    });
    await page.goto(`${embed}?autoplay=1&muted=1`);
    await page.waitForFunction(IS_PLAYING);
    expect(await wordsOf(page)).toBe('');
    const note = `document.querySelector('.note').textContent`;
    expect(await page.evaluate(note)).toBe('This video is being prepared: 5 %');
    await screenshot(page, 'preview-of-long-video');
    expect(await seriousFindings(page)).toEqual([]);
    await page.evaluate(`${VIDEO}.currentTime = 10`);
    await page.waitForFunction(`${VIDEO}.currentTime > 10.2`);
    state = preparing;
    await page.waitForFunction(`${VIDEO} === null`);
    expect(await wordsOf(page)).toBe(
      'This video is being prepared: 5 %. It appears here when it can be played.',
    );
    state = { ...preview, attempt: 2 };
    await page.waitForFunction(IS_PLAYING);
    expect(await page.evaluate(`${VIDEO}.currentTime`)).toBeGreaterThan(10);
    // The next attempt has its preview at once, at the same URL.
    await page.evaluate(`performance.clearResourceTimings()`);
    state = { ...preview, attempt: 3 };
    await page.waitForFunction(
      `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/master.m3u8'))`,
    );
    await page.waitForFunction(IS_PLAYING);
    expect(await page.evaluate(`${VIDEO}.currentTime`)).toBeGreaterThan(10);
    state = { status: 'ready', title: 'Preview', progress: 100, hls: preview.hls, attempt: 3 };
    await page.waitForFunction(`${note} === ''`);
  },
);

const PACKAGINGS = ['ts', 'cmaf'] as const;

testInBrowser.each(PACKAGINGS)(
  'a video whose page is open during its upload plays from its preview to its end: %s',
  async (packaging) => {
    const ticket = await client.requestTicket({ filename: 'soon.mp4', packaging });
    const { embed } = await unwrap(
      client.api.GET('/videos/{id}', { params: { path: { id: ticket.videoId } } }),
    );
    const opened = await open(`${embed}?autoplay=1&muted=1`);
    await upload(clip, ticket);
    await opened.page.waitForFunction(`${VIDEO}?.ended`, { timeout: 120_000 });
    expect(await opened.page.evaluate(`${VIDEO}.currentTime`)).toBeCloseTo(SECONDS, 0);
    expect(opened.problems).toEqual([]);
  },
);

testInBrowser('a failed and a deleted video say so', async () => {
  const ticket = await client.requestTicket({ filename: 'notes.mp4' });
  await client.upload(ticket, new Blob(['no video']));
  const { embed } = await client.settled(ticket.videoId);
  const failed = await open(embed);
  expect(await wordsOf(failed.page)).toBe('This video could not be prepared.');
  expect(await failed.page.evaluate(PICTURE)).toMatch(/^url\("data:image\/svg.*failed/);
  await screenshot(failed.page, 'failed');
  expect(await seriousFindings(failed.page)).toEqual([]);
  expect(failed.problems).toEqual([]);
  await client.delete(ticket.videoId);
  const deleted = await open(embed);
  expect(await wordsOf(deleted.page)).toBe('This video does not exist or was deleted.');
  await screenshot(deleted.page, 'deleted');
  expect(await seriousFindings(deleted.page)).toEqual([]);
  expect(unexpected(deleted, 404)).toEqual([]);
});

/** Runs `work` while the video is signed and has another title. */
async function whileSigned(work: () => Promise<void>): Promise<void> {
  await client.api.videos.update(video.id, { playbackPolicy: 'signed', title: 'A secret title' });
  try {
    await work();
  } finally {
    await client.api.videos.update(video.id, { playbackPolicy: 'public', title: video.title });
  }
}

/** Runs `work` while these sites may show the video. */
async function whileAllowed(allowedOrigins: string[], work: () => Promise<void>): Promise<void> {
  await client.api.videos.update(video.id, { allowedOrigins });
  try {
    await work();
  } finally {
    await client.api.videos.update(video.id, { allowedOrigins: null });
  }
}

testInBrowser('a signed video shows nothing without its own token', () =>
  whileSigned(async () => {
    const missing = await open(video.embed);
    expect(await wordsOf(missing.page)).toBe('This video needs a link with a playback token.');
    expect(await missing.page.content()).not.toContain('secret');
    expect(unexpected(missing, 401)).toEqual([]);
    const another = await client.requestTicket({ filename: 'another.mp4' });
    const foreign = await open(`${video.embed}?token=${await tokenFor(another.videoId)}`);
    expect(await wordsOf(foreign.page)).toBe('This link is not valid for this video. Ask for a new one.');
    await screenshot(foreign.page, 'foreign-token');
    expect(await seriousFindings(foreign.page)).toEqual([]);
    expect(await foreign.page.content()).not.toContain('secret');
    expect(unexpected(foreign, 403)).toEqual([]);

    const own = await open(`${video.embed}?muted=1&autoplay=1&token=${await tokenFor(video.id)}`);
    await own.page.waitForFunction(IS_PLAYING);
    expect(await own.page.title()).toBe('A secret title');
    await own.page.waitForFunction(`[...${VIDEO}.textTracks].some(({ cues }) => cues?.length > 0)`);
    expect(own.problems).toEqual([]);
  }),
);

testInBrowser('the embedding page gives the player a token, which works only on the allowed sites', () =>
  whileSigned(async () => {
    const opened = await open(framed(`${video.embed}?muted&autoplay=1`));
    const { page } = opened;
    await untilWords(playerIn(page), 'This video needs a link with a playback token.');
    await sendToken(page, await tokenFor(video.id));
    await playerIn(page).waitForFunction(IS_PLAYING);
    expect(await playerIn(page).title()).toBe('A secret title');
    // player.js recognises its frame by this URL. `ready` goes to pages of any origin, so the URL must be the original one, without
    // the token.
    expect(
      await page.evaluate(`received.find(({ event }) => event === 'ready').value.src === frame.src`),
    ).toBe(true);
    expect(unexpected(opened, 401)).toEqual([]);

    await whileAllowed(['https://other.example'], async () => {
      await page.reload({ waitUntil: 'load' });
      await untilWords(playerIn(page), 'This video needs a link with a playback token.');
      await sendToken(page, await tokenFor(video.id));
      await until(() => opened.problems.some((problem) => problem.includes('frame-ancestors')));
      expect(await page.evaluate('received')).toEqual([]);
    });
  }),
);

testInBrowser('the player reports an expired token to the embedding page, and continues with a new one', () =>
  whileSigned(async () => {
    // Two tokens of the same second with the same lifetime are equal.
    const [first, second] = [await tokenFor(video.id), await tokenFor(video.id, 7200)];
    const page = await newPage(browser);
    // Tokens are valid for at least a minute, so the browser refuses the first one in place of the service. Segments need no token.
    // So segments 3 to 9 are held back and then fail as well: with them, the player would play to the end without a new token.
    let phase: 'valid' | 'expired' | 'renewed' = 'valid';
    const held: HTTPRequest[] = [];
    const refuse = (request: HTTPRequest, code: string) =>
      request.respond({
        status: 403,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code }),
      });
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      const token = searchParams.get('token');
      const isLateSegment = /\/[3-9]\.ts$/.test(pathname) && phase !== 'renewed';
      if (token === 'foreign' || (isLateSegment && phase === 'valid')) held.push(request);
      else if (isLateSegment) void request.abort('connectionreset');
      else if (token === first && phase !== 'valid') void refuse(request, 'playback_token_expired');
      else void request.continue();
    });
    await page.goto(framed(`${video.embed}?muted=1&autoplay=1&start=5&token=${first}`), {
      waitUntil: 'load',
    });
    const frame = playerIn(page);
    await frame.waitForFunction(IS_PLAYING);
    phase = 'expired';
    for (const request of held.splice(0)) await request.abort('connectionreset');
    await untilEvent(page, 'framelane:tokenExpired');
    expect(await wordsOf(frame)).toBe('This link has expired. Ask for a new one.');
    const reached = Number(
      await frame.evaluate(
        `${VIDEO}.addEventListener('playing', () => { window.resumedAt ??= ${VIDEO}.currentTime }); ${VIDEO}.currentTime`,
      ),
    );

    phase = 'renewed';
    // Only the newest token counts, in whatever order the responses arrive.
    await sendToken(page, 'foreign');
    await sendToken(page, second);
    const resumed = await frame.waitForFunction('window.resumedAt');
    expect(await resumed.jsonValue()).toBeGreaterThanOrEqual(reached);
    await frame.waitForFunction(`${VIDEO}.currentTime > ${reached + 0.5} && !${VIDEO}.paused`);
    const [late] = held;
    if (late === undefined) throw new Error('The state for the foreign token was not asked for');
    await Promise.all([page.waitForResponse(late.url()), refuse(late, 'playback_token_invalid')]);
    expect(await wordsOf(frame)).toBe('');
  }),
);

testInBrowser('the page reports a lost connection, and plays on when it is back', async () => {
  const page = await newPage(browser);
  // Holds the later segments. Otherwise a fast page has the whole video before the connection is lost.
  const held: HTTPRequest[] = [];
  let connection: 'slow' | 'lost' | 'back' = 'slow';
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    if (connection === 'slow' && /\/[1-9]\.ts/.test(request.url())) held.push(request);
    // Requests that are intercepted ignore the offline mode of the browser.
    else if (connection === 'lost') void request.abort('internetdisconnected');
    else void request.continue();
  });
  await page.goto(`${video.embed}?muted=1`, { waitUntil: 'load' });
  await page.waitForFunction(HAS_FRAME);
  await page.setOfflineMode(true);
  connection = 'lost';
  for (const request of held) await request.abort('internetdisconnected');
  await page.evaluate(`${VIDEO}.currentTime = ${SECONDS - 4}; void ${VIDEO}.play()`);
  await untilWords(page, 'No connection. Playback continues when it is back.');
  await page.waitForFunction(LOADING_ICON_TURNS);
  // The picture must not need the connection.
  expect(await page.evaluate(PICTURE)).toMatch(/^url\("data:image\/svg.*offline/);
  await screenshot(page, 'no-connection');
  expect(await seriousFindings(page)).toEqual([]);
  connection = 'back';
  await page.setOfflineMode(false);
  await page.waitForFunction(`${VIDEO}.currentTime > ${SECONDS - 3.5}`);
  expect(await wordsOf(page)).toBe('');
});

testInBrowser('a page of another site controls the player by player.js messages', async () => {
  const { page, problems } = await open(
    framed(
      `${video.embed}?muted=1`,
      `const call = (method, value) => send(JSON.stringify({ context: 'player.js', version: '0.0.11', method, value, listener: 'a' }));
addEventListener('message', () => { if (received.length === 1) { call('getDuration'); call('setCurrentTime', 8); } });`,
    ),
  );
  await untilEvent(page, 'ready');
  expect(await page.evaluate(`received[0].value.src === frame.src`)).toBe(true);
  await page.evaluate(
    `for (const event of ['play', 'pause', 'timeupdate', 'ended']) call('addEventListener', event); call('play');`,
  );
  await untilEvent(page, 'play');
  await untilEvent(page, 'timeupdate');
  // The page has called setCurrentTime at the event `ready`.
  expect(
    await page.evaluate(`received.find(({ event }) => event === 'timeupdate').value.seconds`),
  ).toBeGreaterThanOrEqual(8);
  await page.evaluate(`call('getPaused')`);
  await untilEvent(page, 'getPaused');
  const responses = (await page.evaluate(
    `received.filter((each) => each.event.startsWith('get'))`,
  )) as object[];
  expect(responses).toMatchObject([
    { context: 'player.js', event: 'getDuration', value: expect.closeTo(SECONDS, 0), listener: 'a' },
    { event: 'getPaused', value: false },
  ]);
  await page.evaluate(`call('pause')`);
  await untilEvent(page, 'pause');
  await page.evaluate(`call('setCurrentTime', ${SECONDS - 1}); call('play')`);
  await untilEvent(page, 'ended');
  expect(problems).toEqual([]);
});

testInBrowser('only allowed sites may show the player in a frame', async () => {
  const inFrame = async () => {
    const { page } = await open(framed(video.embed));
    return playerIn(page)
      .evaluate(`document.querySelector('#player') !== null`)
      .catch(() => false);
  };
  await whileAllowed(['https://other.example'], async () => expect(await inFrame()).toBe(false));
  await whileAllowed([siteUrl], async () => expect(await inFrame()).toBe(true));
  expect(await inFrame()).toBe(true);
});
