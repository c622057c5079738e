import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { requires } from '@framelane/test-kit/requires';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { findBrowser, findProgram, newPage, startBrowser } from '../src/browser.ts';
import { makeMp4 } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { checkRules } from '../src/hls-rules.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);
let directory: string;
let video: ReadyVideo;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-captions-'));
  const plain = await makeMp4(directory, {
    ...{ name: 'plain', width: 640, height: 360, rate: '25', seconds: 14 },
    audio: { sampleRate: 48_000, channels: 2 },
  });
  await writeFile(join(directory, 'de.srt'), '1\n00:00:00,500 --> 00:00:13,000\nDeutsch\n');
  const clip = join(directory, 'text.mp4');
  const inputs = ['-i', plain, '-i', join(directory, 'de.srt')];
  const language = ['-metadata:s:s:0', 'language=deu'];
  await runProgram('ffmpeg', [
    '-v',
    'error',
    ...inputs,
    '-map',
    '0',
    '-map',
    '1',
    '-c',
    'copy',
    '-c:s',
    'mov_text',
    ...language,
    clip,
  ]);
  video = await client.publish(clip);
  const cues = '00:00.500 --> 00:13.000\nEnglish\n\n00:05.500 --> 00:06.500\nCrossing';
  await client.api.captions.set(video.id, 'en', `WEBVTT\n\n${cues}\n`, { default: true });
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

test('a stream with captions follows the rules of HLS', async () => {
  const { captions } = await client.ready(video.id);
  const { report } = await checkRules(video, target);
  const rules = report.results.filter(({ id }) => id.startsWith('captions.'));
  expect(rules.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
    'captions.webvtt passed',
    'captions.start passed',
    'captions.segments passed',
    'captions.cues passed',
    'captions.clear passed',
  ]);
  expect(captions).toMatchObject([
    { language: 'de', label: 'Deutsch', origin: 'file', default: false },
    { language: 'en', label: 'English', origin: 'api', default: true },
  ]);
});

/** The URL of the video with a token, for which it is made signed. */
async function signedUrl(): Promise<string> {
  await client.api.videos.update(video.id, { playbackPolicy: 'signed' });
  return (await client.api.videos.createPlaybackToken(video.id)).url;
}

const executable = findBrowser();
const inBrowser = requires(
  'Chromium',
  executable === undefined ? 'Chromium is not installed' : null,
).describe;

inBrowser('hls.js', () => {
  let browser: Browser;
  let site: Server;
  beforeAll(async () => {
    site = createServer((_, res) =>
      res.setHeader('Content-Type', 'text/html').end('<!doctype html><video muted>'),
    );
    await once(site.listen(0, '127.0.0.1'), 'listening');
    browser = await startBrowser(executable ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
  });

  /** Plays with a version of hls.js. Names in `module` are those of the catalog. */
  async function play(module: string, url: string): Promise<Page> {
    const page = await newPage(browser);
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const path = createRequire(import.meta.url).resolve(`${module}/dist/hls.js`);
    await page.addScriptTag({ content: await readFile(path, 'utf8') });
    await page.evaluate(`
      window.hls = new Hls();
      window.video = document.querySelector('video');
      hls.loadSource(${JSON.stringify(url)});
      hls.attachMedia(video);
      void video.play();`);
    return page;
  }

  const SHOWN = `[...video.textTracks].filter(({ mode }) => mode === 'showing').flatMap(({ activeCues }) => [...activeCues ?? []])`;

  test.each(['hls.js', 'hls.js-of-last-year'])(
    'of %s shows and switches captions while playing',
    async (module) => {
      for (const url of [async () => video.hls, signedUrl]) {
        const page = await play(module, await url());
        await page.waitForFunction(`${SHOWN}.some(({ text }) => text === 'English')`);
        expect(await page.evaluate(`hls.subtitleTracks.map(({ name, lang }) => name + ' ' + lang)`)).toEqual([
          'Deutsch de',
          'English en',
        ]);
        // hls.js counts from the first decoding timestamp, which is two frames before the first frame.
        const delay = Number(await page.evaluate(`${SHOWN}[0].startTime`)) - 0.5;
        expect(Math.abs(delay)).toBeLessThan(0.1);
        await page.evaluate(`hls.subtitleTrack = 0`);
        await page.waitForFunction(`${SHOWN}.map(({ text }) => text).join() === 'Deutsch'`);
        await page.evaluate(`hls.subtitleTrack = 1; video.currentTime = 5.6`);
        await page.waitForFunction(`${SHOWN}.map(({ text }) => text).sort().join() === 'Crossing,English'`);
        expect(await page.evaluate(`video.paused`)).toBe(false);
        await page.close();
        await client.api.videos.update(video.id, { playbackPolicy: 'public' });
      }
    },
  );
});

/** The `test` for a program, which is skipped if it is not installed. */
const withProgram = (name: string) =>
  requires(name, findProgram(name) === undefined ? `${name} is not installed` : null).test;

/** The URL of the English captions, which ffmpeg and mpv need: they read no subtitles from a master playlist. */
async function captionsUrl(): Promise<string> {
  const master = await (await fetch(video.hls)).text();
  const [, uri = ''] = /LANGUAGE="en".*URI="([^"]*)"/.exec(master) ?? [];
  return new URL(uri, video.hls).href;
}

test('ffmpeg reads the captions, each cue once', async () => {
  const args = ['-v', 'error', '-i', await captionsUrl(), '-map', '0:s', '-f', 'webvtt', '-'];
  const { stdout } = await runProgram('ffmpeg', args);
  expect(stdout.match(/^\d.*\n.*$/gm)).toEqual([
    '00:00.500 --> 00:13.000\nEnglish',
    '00:05.500 --> 00:06.500\nCrossing',
  ]);
});

withProgram('mpv')('mpv shows the captions', async () => {
  const script = join(directory, 'captions.lua');
  await writeFile(
    script,
    `mp.observe_property('sub-text', 'string', function(_, text) if text then print('[' .. text .. ']') end end)`,
  );
  const quiet = ['--no-config', '--vo=null', '--ao=null', '--end=2', `--script=${script}`];
  const { stdout } = await runProgram('mpv', [...quiet, video.hls, `--sub-file=${await captionsUrl()}`]);
  expect(stdout).toContain('[English]');
});

withProgram('cvlc')('VLC decodes the captions of the chosen language', async () => {
  const args = ['-vv', '--no-audio', '--vout=dummy', '--sub-language=de', '--run-time=3', video.hls];
  // VLC refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const command = ['cvlc', ...args, 'vlc://quit'];
  const [program = '', ...rest] = isRoot
    ? ['setpriv', '--reuid=65534', '--clear-groups', ...command]
    : command;
  const { stderr } = await runProgram(program, rest, { env: { HOME: '/nonexistent' } });
  expect(stderr).toContain('using spu decoder module "webvtt"');
  expect(stderr).toContain('/captions/de/');
});
