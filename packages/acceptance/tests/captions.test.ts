import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FramelaneClient } from '../src/framelane-client.ts';
import { checkRules } from '../src/hls-rules.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { PlayerPages } from '../src/player-pages.ts';
import { runVlc, withProgram } from '../src/players.ts';
import { RedirectingNode } from '../src/redirecting-node.ts';
import { readTarget } from '../src/target.ts';
import { heardTone } from '../src/tones.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const VTT = 'WEBVTT\n\n00:00.500 --> 00:13.000\nEnglish\n\n00:05.500 --> 00:06.500\nCrossing\n';
/** The tones of the audio tracks, in hertz. */
const TONES = { en: 440, de: 880 };

let directory: string;
let clip: string;
let video: ReadyVideo;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-captions-'));
  const plain = await makeClip(join(directory, 'plain.mp4'), {
    video: `testsrc2=s=640x360:r=25:d=14[out0];sine=f=${TONES.en}:d=14[out1];sine=f=${TONES.de}:d=14[out2]`,
    options: ['-map', '0', '-c:a', 'aac', '-ac', '2'],
  });
  await writeFile(join(directory, 'de.srt'), '1\n00:00:00,500 --> 00:00:13,000\nDeutsch\n');
  clip = join(directory, 'text.mp4');
  await runProgram('ffmpeg', [
    ...['-v', 'error', '-i', plain, '-i', join(directory, 'de.srt'), '-map', '0', '-map', '1', '-c', 'copy'],
    ...['-c:s', 'mov_text', '-metadata:s:s:0', 'language=deu'],
    ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=deu', clip],
  ]);
  video = await client.publish(clip);
  await client.api.captions.set(video.id, 'en', VTT, { default: true });
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
    { language: 'en', label: 'English', origin: 'person', default: true },
  ]);
});

const pages = new PlayerPages(browserPath);
afterAll(() => pages.close());

const SHOWN = `[...video.textTracks].filter(({ mode }) => mode === 'showing').flatMap(({ activeCues }) => [...activeCues ?? []])`;

/** A stream that players get: its URL, and how many objects S3 has served if players are redirected there. */
type Stream = { url: string; served?: () => number; end: () => Promise<unknown> };

const end = async () => {};

let redirecting: RedirectingNode | undefined;
afterAll(() => redirecting?.stop());

/** A stream whose segments a node keeps in S3. */
async function redirected(packaging: 'ts' | 'cmaf'): Promise<Stream> {
  const node = redirecting ?? (await RedirectingNode.start());
  redirecting = node;
  const { client, videoId } = await node.publishSigned(clip, { packaging });
  await client.api.captions.set(videoId, 'en', VTT, { default: true });
  const { url } = await client.api.videos.createPlaybackToken(videoId);
  return { url, served: () => node.served, end };
}

const STREAMS: [what: string, extension: 'ts' | 'm4s', open: () => Promise<Stream>][] = [
  ['public', 'ts', async () => ({ url: video.hls, end })],
  [
    'signed',
    'ts',
    async () => {
      await client.api.videos.update(video.id, { playbackPolicy: 'signed' });
      const { url } = await client.api.videos.createPlaybackToken(video.id);
      return { url, end: () => client.api.videos.update(video.id, { playbackPolicy: 'public' }) };
    },
  ],
  ['signed and redirected to S3', 'ts', () => redirected('ts')],
  [
    'fragmented MP4',
    'm4s',
    async () => {
      const fragmented = await client.publish(clip, { packaging: 'cmaf' });
      await client.api.captions.set(fragmented.id, 'en', VTT, { default: true });
      return { url: fragmented.hls, end };
    },
  ],
  ['fragmented MP4, signed and redirected to S3', 'm4s', () => redirected('cmaf')],
];

describe.each(STREAMS)('captions and languages of a video: %s', (what, extension, open) => {
  let stream: Stream | undefined;
  let url: string;
  beforeAll(async () => {
    stream = await open();
    url = stream.url;
    const segment = await fetch(new URL(`360p/0.${extension}`, url), { redirect: 'manual' });
    expect(segment.status).toBe(stream.served === undefined ? 200 : 302);
    await segment.body?.cancel();
  });
  afterAll(() => stream?.end());

  /** Runs a player, which must get segments from S3 if it is redirected there. */
  async function playing<T>(player: () => Promise<T>): Promise<T> {
    const before = stream?.served?.();
    const result = await player();
    if (before !== undefined) expect(stream?.served?.()).toBeGreaterThan(before);
    return result;
  }

  /** The URL of the English captions, which ffmpeg and mpv need: they read no subtitles from a master playlist. */
  async function captionsUrl(): Promise<string> {
    const master = await (await fetch(url)).text();
    const [, uri = ''] = /TYPE=SUBTITLES.*LANGUAGE="en".*URI="([^"]*)"/.exec(master) ?? [];
    return new URL(uri, url).href;
  }

  const heard = (source: string, ...options: string[]) =>
    heardTone(source, { from: 0.5, to: 1.5, tones: Object.values(TONES) }, ...options);

  testInBrowser.each(['hls.js', 'hls.js-of-last-year'])('%s switches both while playing', (module) =>
    playing(async () => {
      const page = await pages.hls(module, url);
      await page.waitForFunction(`${SHOWN}.some(({ text }) => text === 'English')`);
      expect(await page.evaluate(`hls.subtitleTracks.map(({ name, lang }) => name + ' ' + lang)`)).toEqual([
        'Deutsch de',
        'English en',
      ]);
      expect(await page.evaluate(`hls.audioTracks.map(({ name, lang }) => name + ' ' + lang)`)).toEqual([
        'English en',
        'Deutsch de',
      ]);
      // hls.js counts from the first decoding timestamp, which is two frames before the first frame.
      const delay = Number(await page.evaluate(`${SHOWN}[0].startTime`)) - 0.5;
      expect(Math.abs(delay)).toBeLessThan(0.1);
      await page.evaluate(`hls.subtitleTrack = 0; hls.audioTrack = 1`);
      await page.waitForFunction(`${SHOWN}.map(({ text }) => text).join() === 'Deutsch'`);
      await page.waitForFunction(`loaded.some((url) => url.includes('/audio2/'))`);
      await page.evaluate(`hls.subtitleTrack = 1; video.currentTime = 5.6`);
      await page.waitForFunction(`${SHOWN}.map(({ text }) => text).sort().join() === 'Crossing,English'`);
      expect(await page.evaluate(`[video.paused, hls.audioTrack]`)).toEqual([false, 1]);
      await page.close();
    }),
  );

  // Without another library, it plays no transport streams.
  if (extension === 'm4s')
    testInBrowser('Shaka Player shows captions and plays the chosen language', () =>
      playing(async () => {
        // It shows no captions that are chosen after all video has been loaded.
        const page = await pages.shaka(url, { preferredText: [{ language: 'en' }] });
        await page.waitForFunction(`failures.length > 0 || video.currentTime > 1`);
        expect(await page.evaluate('failures')).toEqual([]);
        const languages = `player.getAudioTracks().map(({ language }) => language).sort()`;
        expect(await page.evaluate(languages)).toEqual(['de', 'en']);
        await page.evaluate(
          `player.selectAudioTrack(player.getAudioTracks().find(({ language }) => language === 'de'))`,
        );
        await page.waitForFunction(`${SHOWN}.some(({ text }) => text === 'English')`);
        // Shaka Player 5.2 loads no audio any more after a seek while it has none of the track that was just chosen.
        await page.waitForFunction(
          `loaded.some((uri) => /audio2.*m4s/.test(uri)) && player.getBufferedInfo().audio.length > 0`,
        );
        await page.evaluate(`video.currentTime = 5.6`);
        await page.waitForFunction(`video.currentTime > 6.2`);
        expect(await page.evaluate(`[failures, video.paused, video.videoWidth > 0]`)).toEqual([
          [],
          false,
          true,
        ]);
        await page.close();
      }),
    );

  test('ffmpeg reads the captions, each cue once, and plays the chosen language', () =>
    playing(async () => {
      const args = ['-v', 'error', '-i', await captionsUrl(), '-map', '0:s', '-f', 'webvtt', '-'];
      const { stdout } = await runProgram('ffmpeg', args);
      expect(stdout.trim().split('\n\n')).toEqual([
        'WEBVTT',
        '00:00.500 --> 00:13.000\nEnglish',
        '00:05.500 --> 00:06.500\nCrossing',
      ]);
      expect(await heard(url, '-map', '0:m:language:de')).toBe(TONES.de);
    }));

  withProgram('mpv')('mpv shows the captions and plays the chosen language', () =>
    playing(async () => {
      const script = join(directory, 'captions.lua');
      await writeFile(
        script,
        `mp.observe_property('sub-text', 'string', function(_, text) if text then print('[' .. text .. ']') end end)`,
      );
      const file = join(directory, `mpv ${what}.wav`);
      const quiet = ['--no-config', '--vo=null', '--ao=pcm', `--ao-pcm-file=${file}`, '--end=2'];
      const { stdout } = await runProgram('mpv', [
        ...[...quiet, `--script=${script}`, '--alang=de', url, `--sub-file=${await captionsUrl()}`],
      ]);
      expect(stdout).toContain('[English]');
      expect(await heard(file)).toBe(TONES.de);
    }),
  );

  withProgram('cvlc')('VLC decodes the captions of the chosen language and plays it', () =>
    playing(async () => {
      const file = join(directory, `vlc ${what}.wav`);
      const log = await runVlc(directory, [
        ...['--vout=dummy', '--aout=afile', `--audiofile-file=${file}`, '--stop-time=3'],
        ...['--sub-language=de', '--audio-language=de', url],
      ]);
      expect(log).toContain('using spu decoder module "webvtt"');
      expect(log).toContain('/captions/de/');
      expect(await heard(file)).toBe(TONES.de);
    }),
  );
});
