import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReadyVideo, unwrap } from '@framelane/client';
import { newPage, type OpenedPage, openPage, startBrowser } from '@framelane/test-kit/browser';
import { makeClip } from '@framelane/test-kit/clips';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import { FramelaneClient } from '../src/framelane-client.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { beginAndPause, choose, HAS_FRAME, VIDEO } from '../src/player-controls.ts';
import { seriousFindings } from '../src/serious-findings.ts';
import { readTarget } from '../src/target.ts';

const client = new FramelaneClient(readTarget(process.env));

/** The folder for the screenshots of a run. */
const SCREENSHOTS = join(import.meta.dirname, '../screenshots');
const DESKTOP = { width: 1440, height: 810 };
/** A player across a phone, the lowest in which every control must fit. */
const PHONE = { width: 390, height: 220, isMobile: true, hasTouch: true };

const SECONDS = 40;
const PLAYER = `document.querySelector('media-controller')`;
const IS_PLAYING = `${VIDEO}?.currentTime > 0.3 && !${VIDEO}.paused`;

let directory: string;
let browser: Browser;
/** 40 s with sound and captions. */
let video: ReadyVideo;
let silent: ReadyVideo;

beforeAll(async () => {
  if (browserPath === '') return;
  directory = await mkdtemp(join(tmpdir(), 'framelane-controls-'));
  await mkdir(SCREENSHOTS, { recursive: true });
  const picture = 'testsrc2=size=640x360:rate=12';
  const [loud, quiet] = [join(directory, 'loud.mp4'), join(directory, 'quiet.mp4')];
  await makeClip(loud, {
    video: picture,
    audio: 'sine=frequency=440:sample_rate=48000',
    options: ['-t', String(SECONDS), '-c:a', 'aac'],
  });
  await makeClip(quiet, { video: picture, options: ['-t', '6'] });
  [browser, video, silent] = await Promise.all([
    startBrowser(browserPath),
    client.publish(loud),
    client.publish(quiet),
  ]);
  await client.api.captions.set(video.id, 'en', `WEBVTT\n\n00:00.000 --> 00:${SECONDS}.000\nWords\n`);
});
afterAll(async () => {
  await browser?.close();
  await client.deleteAll();
  if (directory !== undefined) await rm(directory, { recursive: true });
});

// A hidden page that plays on would take processor time from the next one.
afterEach(async () => {
  const pages = (await browser?.pages()) ?? [];
  await Promise.all(pages.slice(1).map((page) => page.close()));
});

/** Opens a page, without waiting for the network: a player that plays keeps it busy. */
function open(url: string, viewport = DESKTOP): Promise<OpenedPage> {
  return openPage(browser, url, viewport, 'load');
}

async function screenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

const textOf = (page: Page, selector: string) =>
  page.evaluate(`document.querySelector('${selector}').textContent`);

/** Taps the video, in one task of the browser: the time between two taps is part of the gesture. */
const tapsAt = (x: number, taps: number) => `
  for (const type of Array(${taps}).fill(['pointerdown', 'pointerup']).flat()) {
    const init = { pointerType: 'touch', isPrimary: true, clientX: ${x}, clientY: 60, bubbles: true, composed: true };
    ${VIDEO}.dispatchEvent(new PointerEvent(type, init));
  }`;

testInBrowser(
  'until the first play, only the large button is shown, and the keyboard finds the rest',
  async () => {
    const { page, problems } = await open(video.embed);
    await page.waitForFunction(HAS_FRAME);
    await page.waitForFunction(`getComputedStyle(document.querySelector('.buttons')).opacity === '0'`);
    await screenshot(page, 'player-1440-before-play');
    expect(await page.evaluate(`document.elementFromPoint(20, ${DESKTOP.height - 20}).localName`)).toBe(
      'framelane-video',
    );
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Tab');
    for (let presses = 0; presses < 15; presses += 1) {
      if (await page.evaluate(`document.activeElement.matches('.buttons > *')`)) break;
      await page.keyboard.press('Tab');
    }
    await page.waitForFunction(`getComputedStyle(document.querySelector('.buttons')).opacity === '1'`);
    await page.click('media-play-button.large');
    await page.waitForFunction(IS_PLAYING);
    await page.mouse.move(700, 400);
    await page.waitForFunction(`getComputedStyle(document.querySelector('.timeline')).opacity === '1'`);
    await screenshot(page, 'player-1440');
    const bars = `[...document.querySelectorAll('media-control-bar')].reduce((sum, bar) => sum + bar.offsetHeight, 0)`;
    expect(await page.evaluate(bars)).toBe(60);
    expect(problems).toEqual([]);
  },
);

testInBrowser('in a low player on a phone, nothing covers the play button, and every menu fits', async () => {
  const { page, problems } = await open(video.embed, PHONE);
  await page.waitForFunction(HAS_FRAME);
  await screenshot(page, 'player-390-before-play');
  // A tap anywhere begins, and a second one that follows at once seeks nowhere.
  await page.evaluate(`${VIDEO}.addEventListener('play', () => { ${tapsAt(350, 1)} }, { once: true })`);
  await page.touchscreen.tap(350, 60);
  await page.waitForFunction(IS_PLAYING);
  expect(await page.evaluate(`${VIDEO}.currentTime`)).toBeLessThan(10);
  await page.evaluate(`${VIDEO}.pause()`);
  await page.waitForFunction(`getComputedStyle(document.querySelector('.buttons')).opacity === '1'`);
  await screenshot(page, 'player-390');
  const outside = `[...document.querySelectorAll('.buttons > *')].filter((each) => each.getBoundingClientRect().right > ${PHONE.width})`;
  expect(await page.evaluate(`${outside}.length`)).toBe(0);
  const large = `document.querySelector('.large')`;
  const distance = `document.querySelector('.timeline').getBoundingClientRect().top - (${large}.style.display = 'block', ${large}.getBoundingClientRect().bottom)`;
  expect(await page.evaluate(distance)).toBeGreaterThan(0);

  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
  await page.tap('media-settings-menu-button');
  const menu = `document.querySelector('media-settings-menu')`;
  await page.waitForFunction(`!${menu}.hidden`);
  expect(await page.evaluate('document.getAnimations().length')).toBe(0);
  await screenshot(page, 'player-390-menu');
  const clipped = `[...${menu}.children].filter((each) => { const { top, bottom, height } = each.getBoundingClientRect(); return height > 0 && (top < 0 || bottom > ${PHONE.height}); })`;
  expect(await page.evaluate(`${clipped}.length`)).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
});

testInBrowser('fingers seek: double taps by ten seconds, swipes by their length', async () => {
  const { page, problems } = await open(`${video.embed}?start=15`, PHONE);
  await beginAndPause(page);
  const time = () => page.evaluate(`${VIDEO}.currentTime`) as Promise<number>;
  const doubleTap = (x: number) => page.evaluate(tapsAt(x, 2));
  const begin = await time();
  await doubleTap(360);
  expect(await textOf(page, '.gesture')).toBe('+10 s');
  expect(await time()).toBeCloseTo(begin + 10, 1);
  await doubleTap(30);
  expect(await textOf(page, '.gesture')).toBe('−10 s');
  expect(await time()).toBeCloseTo(begin, 1);
  await doubleTap(195);
  expect(await time()).toBeCloseTo(begin, 1);

  const touch = await page.touchscreen.touchStart(100, 80);
  await touch.move(150, 82);
  await touch.move(165, 82);
  await page.waitForFunction(`document.querySelector('.gesture').textContent === '+20 s'`);
  await touch.end();
  await page.waitForFunction(`Math.abs(${VIDEO}.currentTime - ${begin + 20}) < 0.2`);
  expect(problems).toEqual([]);
});

testInBrowser('at the end, the large button plays again', async () => {
  const { page, problems } = await open(silent.embed);
  await beginAndPause(page);
  await page.evaluate(`${VIDEO}.currentTime = 5.5, ${VIDEO}.play()`);
  await page.waitForFunction(`${VIDEO}.ended && ${PLAYER}.hasAttribute('mediaended')`);
  await page.waitForSelector('.large[aria-label="play again"]', { visible: true });
  await screenshot(page, 'end');
  expect(await page.evaluate(`document.querySelectorAll('a').length`)).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  await page.click('media-play-button.large');
  await page.waitForFunction(`!${VIDEO}.ended && ${VIDEO}.currentTime < 5 && ${IS_PLAYING}`);
  await page.waitForSelector('.large', { hidden: true });
  expect(problems).toEqual([]);
});

testInBrowser('only a video with sound has a volume, and can be played as audio only', async () => {
  const shown = async (url: string) => {
    const { page } = await open(url);
    await beginAndPause(page);
    return page.evaluate(
      `[...['media-mute-button', 'media-volume-range'].map((name) => document.querySelector(name).checkVisibility()), !document.querySelector('.picture').hidden]`,
    );
  };
  expect(await shown(silent.embed)).toEqual([false, false, false]);
  expect(await shown(video.embed)).toEqual([true, true, true]);
});

testInBrowser(
  'audio only plays on at the same place without pictures, and the video comes back',
  async () => {
    const { page, problems } = await open(`${video.embed}?muted=1&start=12`);
    await beginAndPause(page);
    await choose(page, 'media-playback-rate-menu', '1.5');
    await page.evaluate(`void ${VIDEO}.play()`);
    await page.waitForFunction(IS_PLAYING);
    const plays = (condition: string) =>
      page.waitForFunction(
        `${VIDEO}.readyState > 2 && !${VIDEO}.paused && ${VIDEO}.currentTime > 12 && (${condition})`,
      );
    await choose(page, '.picture > media-chrome-menu', 'Audio only');
    await plays(`${VIDEO}.videoWidth === 0`);
    expect(await page.evaluate(`[${VIDEO}.currentTime < 20, ${VIDEO}.playbackRate]`)).toEqual([true, 1.5]);
    await screenshot(page, 'player-audio-only');
    const loaded = (await page.evaluate(`${VIDEO}.api.levels.map(({ url }) => url[0])`)) as string[];
    expect(loaded.map((url) => new URL(url).pathname.split('/').slice(-2))).toEqual([
      ['audio', 'index.m3u8'],
    ]);
    expect(await seriousFindings(page)).toEqual([]);
    await choose(page, '.picture > media-chrome-menu', 'Video');
    await plays(`${VIDEO}.videoWidth === 640`);
    expect(problems).toEqual([]);
  },
);

testInBrowser('the question mark lists the keys', async () => {
  const { page, problems } = await open(`${video.embed}?muted=1`);
  await page.waitForFunction(HAS_FRAME);
  await page.keyboard.press('?');
  await page.waitForFunction(`document.querySelector('#keys').open`);
  await screenshot(page, 'keys');
  expect(await seriousFindings(page)).toEqual([]);
  // Behind the list, the keys do nothing.
  await page.keyboard.press('5');
  expect(await page.evaluate(`${VIDEO}.currentTime`)).toBe(0);
  await page.keyboard.press('Escape');
  await page.waitForFunction(`!document.querySelector('#keys').open`);
  await beginAndPause(page);
  await page.click('media-settings-menu-button');
  await page.waitForSelector('.keyboard', { visible: true });
  await page.click('.keyboard');
  await page.waitForFunction(`document.querySelector('#keys').open`);
  await page.click('#keys button');
  await page.waitForFunction(`!document.querySelector('#keys').open`);
  // Who wants to know the keys may have no mouse.
  const returned = `document.activeElement.localName === 'media-settings-menu-button'`;
  await page.waitForFunction(returned);
  for (const key of ['Enter', 'Space'] as const) {
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.activeElement.localName === 'media-settings-menu-item'`);
    await page.keyboard.press('End');
    await page.waitForFunction(`document.activeElement.matches('.keyboard')`);
    await page.keyboard.press(key);
    expect(await page.evaluate(`document.querySelector('#keys').open`)).toBe(true);
    await page.keyboard.press('Escape');
    await page.waitForFunction(`!document.querySelector('#keys').open`);
    await page.waitForFunction(returned);
  }
  expect(problems).toEqual([]);
});

testInBrowser(
  'with `remember` the browser keeps position and caption style, and without it nothing',
  async () => {
    const kept = `Object.keys(localStorage).sort()`;
    const style = `[...${VIDEO}.shadowRoot.adoptedStyleSheets].flatMap(({ cssRules }) => [...cssRules]).map(({ cssText }) => cssText).join()`;
    const visit = async (url: string, seconds?: number) => {
      const { page, problems } = await open(url);
      await page.waitForFunction(HAS_FRAME);
      const begun = Number(await page.evaluate(`${VIDEO}.currentTime`));
      const shownStyle = await page.evaluate(style);
      if (seconds !== undefined) {
        await beginAndPause(page);
        await choose(page, '.caption-size > media-chrome-menu', 'Large');
        await choose(page, '.caption-colours > media-chrome-menu', 'Yellow');
        expect(await page.evaluate(style)).toContain('font-size: 1.5em; color: rgb(255, 255, 0)');
        await page.evaluate(`${VIDEO}.currentTime = ${seconds}, ${VIDEO}.play()`);
        await page.waitForFunction(`${VIDEO}.currentTime > ${seconds + 0.2}`);
        await page.evaluate(`${VIDEO}.pause()`);
      }
      const keys = await page.evaluate(kept);
      expect(problems).toEqual([]);
      return { begun, shownStyle, keys };
    };
    expect((await visit(video.embed, 20)).keys).toEqual([]);
    const first = await visit(`${video.embed}?remember=1`, 20);
    expect(first).toMatchObject({ begun: 0, shownStyle: '' });
    expect(first.keys).toEqual(['framelane.captions', 'framelane.positions']);
    const second = await visit(`${video.embed}?remember=1`);
    expect(second.begun).toBeCloseTo(20, 0);
    expect(second.shownStyle).toContain('1.5em');
    // A time in the URL is a request to begin there.
    expect((await visit(`${video.embed}?remember=1&start=5`)).begun).toBeCloseTo(5, 0);
    expect((await visit(`${video.embed}?remember=1&start=0`)).begun).toBe(0);
    expect(await visit(video.embed)).toMatchObject({ begun: 0, shownStyle: '' });
  },
);

testInBrowser('a frame in which the browser refuses storage plays all the same', async () => {
  const url = `${video.embed}?remember=1&muted=1`;
  const site = createServer((_, res) =>
    res
      .setHeader('Content-Type', 'text/html')
      .end(`<link rel="icon" href="data:,"><iframe sandbox="allow-scripts" src="${url}"></iframe>`),
  );
  await once(site.listen(0, '127.0.0.1'), 'listening');
  try {
    const { page, problems } = await open(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const frame = await page.waitForFrame(url);
    await frame.waitForFunction(HAS_FRAME);
    await frame.evaluate(`${VIDEO}.play()`);
    await frame.waitForFunction(IS_PLAYING);
    await frame.evaluate(`${VIDEO}.pause()`);
    // A frame that allows no forms can close the list of keys.
    await frame.evaluate(`document.dispatchEvent(new KeyboardEvent('keydown', { key: '?' }))`);
    await frame.click('#keys button');
    await frame.waitForFunction(`!document.querySelector('#keys').open`);
    expect(problems).toEqual([]);
  } finally {
    site.close();
  }
});

testInBrowser('the browser has title, poster and actions for its media controls', async () => {
  const page = await newPage(browser);
  await page.evaluateOnNewDocument(`
    window.actions = {};
    MediaSession.prototype.setActionHandler = (name, handler) => { actions[name] = handler; };`);
  await page.goto(`${video.embed}?muted=1`, { waitUntil: 'load' });
  await page.waitForFunction(HAS_FRAME);
  expect(await page.evaluate(`navigator.mediaSession.metadata.title`)).toBe('loud');
  expect(await page.evaluate(`navigator.mediaSession.metadata.artwork[0].src`)).toBe(video.thumbnail);
  await page.evaluate(`actions.play()`);
  await page.waitForFunction(IS_PLAYING);
  await page.evaluate(`actions.pause()`);
  await page.evaluate(`actions.seekto({ seekTime: 20 })`);
  expect(await page.evaluate(`${VIDEO}.currentTime`)).toBe(20);
  await page.evaluate(`actions.seekforward({})`);
  expect(await page.evaluate(`${VIDEO}.currentTime`)).toBe(30);
  await page.evaluate(`actions.seekbackward({ seekOffset: 25 })`);
  expect(await page.evaluate(`${VIDEO}.currentTime`)).toBe(5);
});

testInBrowser('the button for other screens is there while the browser knows one', async () => {
  const page = await newPage(browser);
  await page.evaluateOnNewDocument(`
    window.prompts = 0;
    // media-chrome watches as well.
    window.watchers = [];
    RemotePlayback.prototype.watchAvailability = async (show) => watchers.push(show);
    RemotePlayback.prototype.prompt = async () => { prompts += 1; };`);
  await page.goto(video.embed, { waitUntil: 'load' });
  await beginAndPause(page);
  const button = `document.querySelector('remote-button')`;
  expect(await page.evaluate(`${button}.checkVisibility()`)).toBe(false);
  await page.evaluate(`for (const show of watchers) show(true)`);
  await page.click('remote-button');
  expect(await page.evaluate('prompts')).toBe(1);
  expect(await seriousFindings(page)).toEqual([]);
});

testInBrowser('a preview shows what is missing, and when a part will be there', async () => {
  const ticket = await client.requestTicket({ filename: 'preview.mp4' });
  const { embed } = await unwrap(
    client.api.GET('/videos/{id}', { params: { path: { id: ticket.videoId } } }),
  );
  let progress = 20;
  const held: HTTPRequest[] = [];
  const page = await newPage(browser);
  // A preview that has only begun to load is not a part that is missing.
  await page.evaluateOnNewDocument(`
    window.waitWords = [];
    new MutationObserver(() => {
      const words = document.querySelector('.wait')?.textContent;
      if (words) waitWords.push(words);
    }).observe(document, { subtree: true, childList: true });`);
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const state = { status: 'preparing', title: 'Preview', progress, hls: new URL(video.hls).pathname };
    if (request.url().endsWith('/state')) {
      void request.respond({ contentType: 'application/json', body: JSON.stringify(state) });
      progress = Math.min(progress + 2, 40);
    } else if (/\/[4-9]\.(ts|m4s)/.test(request.url())) held.push(request);
    else void request.continue();
  });
  await page.setViewport(DESKTOP);
  await page.goto(`${embed}?autoplay=1&muted=1`, { waitUntil: 'load' });
  await page.waitForFunction(IS_PLAYING);
  expect(await page.evaluate('waitWords')).toEqual([]);
  expect(await textOf(page, '.note')).toMatch(/^This video is being prepared: \d\d %$/);
  await page.evaluate(`${VIDEO}.currentTime = 35`);
  await page.waitForFunction(
    `/^This part is ready in about \\d+ (seconds|minutes)\\.$/.test(document.querySelector('.wait').textContent)`,
  );
  const { timeline, made } = (await page.evaluate(`({
    timeline: document.querySelector('media-time-range').clientWidth,
    made: parseFloat(getComputedStyle(document.querySelector('.unmade')).marginLeft),
  })`)) as { timeline: number; made: number };
  expect(made / timeline).toBeGreaterThan(0.15);
  expect(made / timeline).toBeLessThan(0.45);
  await screenshot(page, 'preview-wait');
  expect(await seriousFindings(page)).toEqual([]);
  for (const request of held.splice(0)) await request.continue();
  await page.waitForFunction(
    `${VIDEO}.currentTime > 35.2 && document.querySelector('.wait').textContent === ''`,
  );
});
