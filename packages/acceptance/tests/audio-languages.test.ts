import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { openPage, startBrowser } from '@framelane/test-kit/browser';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FramelaneClient } from '../src/framelane-client.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { runVlc, withProgram } from '../src/players.ts';
import { readTarget } from '../src/target.ts';
import { heardTone } from '../src/tones.ts';

const client = new FramelaneClient(readTarget(process.env));

/** The tone of each language, in hertz. French ends after two seconds. */
const TONES = { en: 440, de: 880, fr: 660 };
type Language = keyof typeof TONES;
const SECONDS = 30;

let directory: string;
let video: ReadyVideo;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-languages-'));
  const tones = [`sine=f=${TONES.en}:d=${SECONDS}[out1]`, `sine=f=${TONES.de}:d=${SECONDS}[out2]`];
  const clip = await makeClip(join(directory, 'languages.mkv'), {
    video: [`testsrc2=s=320x240:r=25:d=${SECONDS}[out0]`, ...tones, `sine=f=${TONES.fr}:d=2[out3]`].join(';'),
    options: [
      ...['-map', '0:v', '-map', '0:a', '-c:a', 'aac', '-ac', '2', '-g', '50'],
      ...['eng', 'ger', 'fre'].flatMap((code, at) => [`-metadata:s:a:${at}`, `language=${code}`]),
    ],
  });
  video = await client.publish(clip);
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

/** The tone in a file or stream, from second `from` to second `to`. */
const heard = (source: string, from: number, to: number, ...options: string[]) =>
  heardTone(source, { from, to, tones: Object.values(TONES) }, ...options);

const LANGUAGES = Object.keys(TONES) as Language[];

test('the record lists the languages', () => {
  expect(video.audioTracks.map(({ name, language, default: first }) => [name, language, first])).toEqual([
    ['English', 'en', true],
    ['Deutsch', 'de', false],
    ['Français', 'fr', false],
  ]);
});

test('ffmpeg plays each language, and silence after one that ends early', async () => {
  for (const language of LANGUAGES) {
    expect(await heard(video.hls, 0.5, 1.5, '-map', `0:m:language:${language}`)).toBe(TONES[language]);
  }
  expect(await heard(video.hls, 8, 9, '-map', '0:m:language:fr')).toBeNull();
});

withProgram('mpv').each<[string, Language, string]>([
  ['the default language', 'en', '--aid=auto'],
  ['a language', 'de', '--alang=de'],
  ['a track', 'fr', '--aid=3'],
])('mpv plays %s', async (what, language, option) => {
  const file = join(directory, `mpv ${what}.wav`);
  await runProgram('mpv', [
    ...['--no-config', '--vo=null', '--ao=pcm', `--ao-pcm-file=${file}`, '--length=3', option, video.hls],
  ]);
  expect(await heard(file, 0.5, 1.5)).toBe(TONES[language]);
});

withProgram('cvlc').each<[Language, string[]]>([
  ['en', []],
  ['de', ['--audio-language=de']],
])('VLC plays %s', async (language, options) => {
  const file = join(directory, `vlc-${language}.wav`);
  await runVlc(directory, [
    ...['--no-video', '--aout=afile', `--audiofile-file=${file}`, '--stop-time=4', ...options, video.hls],
  ]);
  expect(await heard(file, 0.5, 1.5)).toBe(TONES[language]);
});

testInBrowser('the player page changes the language while it plays', async () => {
  const browser = await startBrowser(browserPath);
  try {
    const { page, problems } = await openPage(
      browser,
      // Waits on a busy machine can be longer than the video.
      `${video.embed}?loop=1`,
      { width: 960, height: 540 },
      'load',
    );
    const player = `document.querySelector('framelane-video')`;
    await page.waitForFunction(`${player}?.readyState >= 2`);
    await page.click('media-play-button.large');
    // The context begins to run because of the click.
    await page.evaluate(`{
        const context = new AudioContext();
        window.analyser = new AnalyserNode(context, { fftSize: 8192, smoothingTimeConstant: 0 });
        context.createMediaElementSource(${player}.nativeEl).connect(analyser);
        analyser.connect(context.destination);
        window.loudestTone = (tones) => {
          const levels = new Float32Array(analyser.frequencyBinCount);
          analyser.getFloatFrequencyData(levels);
          const level = (hertz) => levels[Math.round((hertz * analyser.fftSize) / context.sampleRate)];
          const [loudest] = tones.toSorted((a, b) => level(b) - level(a));
          return level(loudest) > -50 ? loudest : null;
        };
      }`);
    const hear = (tone: number) =>
      page.waitForFunction(`loudestTone(${JSON.stringify(Object.values(TONES))}) === ${tone}`);
    await hear(TONES.en);
    const labels = await page.evaluate(
      `[...${player}.audioTracks].map(({ label, language }) => [label, language])`,
    );
    expect(labels).toEqual([
      ['English', 'en'],
      ['Deutsch', 'de'],
      ['Français', 'fr'],
    ]);
    const choose = (track: number) =>
      page.evaluate(`[...${player}.audioTracks].forEach((each, at) => { each.enabled = at === ${track}; })`);
    await choose(1);
    await hear(TONES.de);
    const time = await page.evaluate(`${player}.currentTime`);
    await page.waitForFunction(`!${player}.paused && ${player}.currentTime !== ${time}`);
    await choose(0);
    await hear(TONES.en);
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
});
