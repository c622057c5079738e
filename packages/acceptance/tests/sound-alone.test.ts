import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { openPage, startBrowser } from '@framelane/test-kit/browser';
import { makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FramelaneClient } from '../src/framelane-client.ts';
import { checkRules } from '../src/hls-rules.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { withProgram } from '../src/players.ts';
import { seriousFindings } from '../src/serious-findings.ts';
import { readTarget } from '../src/target.ts';
import { heardTone } from '../src/tones.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);

/** The folder for the screenshots of a run. */
const SCREENSHOTS = join(import.meta.dirname, '../screenshots');

const TONE = 660;
const SECONDS = 20;

let directory: string;
let podcast: ReadyVideo;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-sound-'));
  await mkdir(SCREENSHOTS, { recursive: true });
  const [sound, cover] = [join(directory, 'sound.mp3'), join(directory, 'cover.png')];
  await makeClip(sound, { audio: `sine=f=${TONE}:d=${SECONDS}` });
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=900x900', '-frames:v', '1', cover);
  const file = join(directory, 'episode.mp3');
  const tracks = ['-map', '0', '-map', '1', '-c', 'copy', '-disposition:v:0', 'attached_pic'];
  await ffmpeg('-i', sound, '-i', cover, ...tracks, file);
  podcast = await client.publish(file, { audioOnly: true });
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

test('the record says that there is no video', () => {
  expect(podcast).toMatchObject({ audioOnly: true, variants: [], width: null, frameRate: null });
  expect(podcast.audioTracks).toHaveLength(1);
  expect(Math.abs((podcast.duration ?? 0) - SECONDS)).toBeLessThan(0.06);
});

test('the stream follows the rules of HLS', async () => {
  const { report } = await checkRules(podcast, target);
  expect(report.results.length).toBeGreaterThan(20);
});

test('the poster is the cover', async () => {
  const { stdout } = await runProgram('ffprobe', [
    ...['-v', 'error', '-show_entries', 'stream=width,height', '-of', 'csv=p=0', String(podcast.thumbnail)],
  ]);
  expect(stdout.trim()).toBe('720,720');
});

test('ffmpeg plays it', async () => {
  expect(await heardTone(podcast.hls, { from: 8, to: 9, tones: [TONE, 440] })).toBe(TONE);
});

withProgram('mpv')('mpv plays it', async () => {
  const file = join(directory, 'mpv.wav');
  await runProgram('mpv', [
    ...['--no-config', '--vo=null', '--ao=pcm', `--ao-pcm-file=${file}`, '--length=3', podcast.hls],
  ]);
  expect(await heardTone(file, { from: 0.5, to: 1.5, tones: [TONE, 440] })).toBe(TONE);
});

test('it can have captions', async () => {
  const captions = 'WEBVTT\n\n00:01.000 --> 00:19.000\nWelcome\n';
  await client.api.captions.set(podcast.id, 'en', captions);
  const master = await (await fetch(podcast.hls)).text();
  expect(master).toContain('TYPE=SUBTITLES');
});

testInBrowser('the player page shows the cover and the controls while it plays', async () => {
  const browser = await startBrowser(browserPath);
  try {
    const size = { width: 640, height: 240 };
    const { page, problems } = await openPage(browser, podcast.embed, size, 'load');
    const media = `document.querySelector('framelane-video')`;
    await page.waitForSelector('media-controller.sound media-play-button:not(.large)');
    await page.evaluate(`${media}.muted = true, ${media}.play()`);
    await page.waitForFunction(`${media}.currentTime > 1 && !${media}.paused`);
    const shown = (selector: string) =>
      page.evaluate(`document.querySelector('${selector}').checkVisibility({ opacityProperty: true })`);
    expect(await shown('media-time-range')).toBe(true);
    expect(await shown('.buttons media-play-button')).toBe(true);
    expect(await shown('media-poster-image')).toBe(false);
    expect(await page.evaluate(`getComputedStyle(${media}).backgroundImage`)).toContain('/poster.jpg');
    await page.evaluate(`${media}.currentTime = 15`);
    await page.waitForFunction(`${media}.currentTime > 15.2`);
    expect(await seriousFindings(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.screenshot({ path: join(SCREENSHOTS, 'sound-alone.png') });
  } finally {
    await browser.close();
  }
});
