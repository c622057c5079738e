import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'puppeteer-core';
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
const CODECS = ['h264', 'av1', 'hevc'] as const;
const VARIANTS = ['360p', '480p'] as const;
/** Few frames, because each is encoded six times, and decoded by every player. */
const [RATE, SECONDS, TONE] = [10, 20, 440];

const pages = new PlayerPages(browserPath);

let directory: string;
let clip: string;
let video: ReadyVideo;
/** A viewer who began when the video was ready. */
let early: Page | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-codecs-'));
  clip = await makeClip(join(directory, 'clip.mp4'), {
    video: `testsrc2=s=854x480:r=${RATE}:d=${SECONDS}`,
    audio: `sine=f=${TONE}:d=${SECONDS}`,
  });
  const ticket = await client.requestTicket({ filename: 'clip.mp4', codecs: [...CODECS] });
  await upload(clip, ticket);
  const ready = await client.api.videos.waitUntilReady(ticket.videoId);
  if (browserPath !== '') {
    early = await pages.hls('hls.js', await plainMaster(ready.hls), LITTLE_AHEAD);
    await begun(early);
  }
  video = await client.codecsSettled(ready);
});
afterAll(async () => {
  await pages.close();
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

/** Options of hls.js, so that it loads each segment shortly before it plays it. */
const LITTLE_AHEAD = { maxBufferSize: 0, maxBufferLength: 1 };

/**
 * A master playlist as it is before there is AV1 or HEVC, as a URL that contains it. A fast engine can have made them already, so this leaves
 * them out.
 */
async function plainMaster(url: string): Promise<string> {
  const text = await (await fetch(url)).text();
  const plain = text
    .replaceAll(/#EXT-X-STREAM-INF:.*(?:av01|hvc1).*\n.*\n/g, '')
    .replaceAll(/^(?!#)(.+)$/gm, (uri) => new URL(uri, url).href)
    .replaceAll(/URI="([^"]*)"/g, (_, uri) => `URI="${new URL(uri, url).href}"`);
  return `data:application/vnd.apple.mpegurl;base64,${Buffer.from(plain).toString('base64')}`;
}

test('the record lists the codecs, and each variant in each of them', () => {
  expect(video.codecs).toEqual(CODECS.map((codec) => ({ codec, status: 'ready', error: null })));
  expect(video.variants).toEqual(VARIANTS);
  expect(video.renditions?.map(({ codec, variant }) => [codec, variant])).toEqual(
    CODECS.flatMap((codec) => VARIANTS.map((variant) => [codec, variant])),
  );
  expect(video.packaging).toBe('cmaf');
});

test('the stream follows the rules of HLS for several codecs', async () => {
  const { report } = await checkRules(video, target);
  const rules = report.results.filter(({ id }) => id.startsWith('codecs.'));
  expect(rules.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
    'codecs.container passed',
    'codecs.sample-entry passed',
    'codecs.parameter-sets passed',
    'codecs.sequence-header passed',
    'codecs.messages passed',
    'codecs.h264 passed',
    'codecs.sdr not applicable',
    'codecs.video-range passed',
    'codecs.ladders passed',
    'codecs.score not applicable',
  ]);
});

test('high dynamic range that the ticket keeps is in AV1 and HEVC, beside H.264 in standard range', async () => {
  const tags = 'range=tv:colorspace=bt2020nc:color_primaries=bt2020:color_trc=arib-std-b67';
  const path = await makeClip(join(directory, 'hlg.mp4'), {
    video: `testsrc2=s=320x180:r=${RATE}:d=1`,
    options: ['-vf', `setparams=${tags}`, '-pix_fmt', 'yuv420p10le'],
  });
  const kept = await client.publish(path, { codecs: [...CODECS], hdr: 'keep' });
  expect(kept).toMatchObject({ hdr: 'keep' });
  expect(kept.renditions?.map(({ codec, videoRange }) => [codec, videoRange])).toEqual([
    ['h264', 'SDR'],
    ['av1', 'HLG'],
    ['hevc', 'HLG'],
  ]);
});

testInBrowser('a viewer who began before there was AV1 sees the end of the video, in H.264', async () => {
  if (early === undefined) throw new Error('There is no page');
  await early.evaluate(`video.currentTime = ${SECONDS - 2}`);
  await playToTheEnd(early);
  expect(await codecsLoaded(early)).toEqual(['h264']);
  await early.close();
});

testInBrowser('the player page plays AV1, and its menu has each quality once', async () => {
  const page = await pages.open(video.embed);
  const player = `document.querySelector('framelane-video')`;
  // A slow browser would come to the end before it has shown both qualities.
  await page.evaluate(`${player}.muted = ${player}.loop = true; void ${player}.play();`);
  await page.waitForFunction(`${player}.currentTime > 0.2`);
  const items = `[...document.querySelector('media-rendition-menu').shadowRoot.querySelectorAll('media-chrome-menu-item')]`;
  await page.waitForFunction(`${items}.length === 3`);
  expect(await page.evaluate(`${items}.map(({ textContent }) => textContent.trim())`)).toEqual([
    '480p',
    '360p',
    expect.stringContaining('Auto'),
  ]);
  for (const [at, height] of [
    [1, 360],
    [0, 480],
  ]) {
    await page.evaluate(`${items}[${at}].click()`);
    await page.waitForFunction(`${player}.videoHeight === ${height} && !${player}.paused`);
    const codec = await page.evaluate(`${player}.api.levels[${player}.api.currentLevel].videoCodec`);
    expect(codec).toContain('av01');
  }
  await page.close();
});

/** The codec of the video in a URL of a segment; null for audio. */
function codecOf(url: string): string | null {
  const [, variant, codec = 'h264'] = /\/(\d+p)(?:-(\w+))?\/\d+\.m4s/.exec(url) ?? [];
  return variant === undefined ? null : codec;
}

/** The codecs of the segments that a page has loaded. */
async function codecsLoaded(page: Page): Promise<string[]> {
  const urls = (await page.evaluate('loaded')) as string[];
  return [...new Set(urls.flatMap((url) => codecOf(url) ?? []))];
}

/** Pauses a player as soon as it plays, so that it loads no more. */
async function begun(page: Page): Promise<void> {
  await page.waitForFunction(`failures.length > 0 || (video.currentTime > 0 && (video.pause(), true))`);
  expect(await page.evaluate('failures')).toEqual([]);
}

/**
 * Lets a paused player seek, and waits until it has loaded a segment of a variant. The time is shortly before the end of a segment: a player may have
 * chosen the variant of that one before.
 */
async function seek(page: Page, seconds: number, variant: string): Promise<void> {
  await page.evaluate(`window.before = loaded.length; video.currentTime = ${seconds}`);
  const isLoaded = `loaded.slice(before).some((url) => url.includes('/${variant}/'))`;
  await page.waitForFunction(`failures.length > 0 || (${isLoaded} && !video.seeking)`);
  expect(await page.evaluate('failures')).toEqual([]);
}

async function playToTheEnd(page: Page): Promise<void> {
  await page.evaluate(`void video.play()`);
  await page.waitForFunction(`failures.length > 0 || video.ended`);
  expect(await page.evaluate('failures')).toEqual([]);
}

/** A stream that players get: its URL, and how many objects S3 has served if players are redirected there. */
type Stream = { url: string; served?: () => number };

let redirecting: RedirectingNode | undefined;
afterAll(() => redirecting?.stop());

const STREAMS: [what: string, open: () => Promise<Stream>][] = [
  ['public', async () => ({ url: video.hls })],
  [
    'signed and redirected to S3',
    async () => {
      const node = await RedirectingNode.start();
      redirecting = node;
      const { client, videoId } = await node.publishSigned(clip, { codecs: [...CODECS] });
      await client.codecsSettled({ id: videoId });
      const { url } = await client.api.videos.createPlaybackToken(videoId);
      return { url, served: () => node.served };
    },
  ],
];

describe.each(STREAMS)('a video in several codecs: %s', (what, open) => {
  let stream: Stream | undefined;
  let url: string;
  beforeAll(async () => {
    stream = await open();
    url = stream.url;
  });

  /** Runs a player, which must get segments from S3 if it is redirected there. */
  async function playing<T>(player: () => Promise<T>): Promise<T> {
    const before = stream?.served?.();
    const result = await player();
    if (before !== undefined) expect(stream?.served?.()).toBeGreaterThan(before);
    return result;
  }

  /** The URL of the playlist of a variant in a codec. */
  async function variantUrl(variant: string, codec: string): Promise<string> {
    const name = codec === 'h264' ? variant : `${variant}-${codec}`;
    const master = await (await fetch(url)).text();
    const uri = master.split('\n').find((line) => line.startsWith(`${name}/`));
    if (uri === undefined) throw new Error(`There is no ${name}`);
    return new URL(uri, url).href;
  }

  // This Chromium decodes AV1, and no HEVC.
  testInBrowser.each(['hls.js', 'hls.js-of-last-year'])('%s plays AV1 alone', (module) =>
    playing(async () => {
      const page = await pages.hls(module, url, LITTLE_AHEAD);
      await begun(page);
      const sets = (await page.evaluate(`hls.levels.map(({ codecSet }) => codecSet)`)) as string[];
      expect(new Set(sets)).toEqual(new Set(['avc1,mp4a', 'av01,mp4a']));
      // hls.js chooses by the bandwidth that it measures, which depends on the machine: here it is enough for each level.
      await page.evaluate(
        `Object.assign(Object.getPrototypeOf(hls.abrController.bwEstimator), { canEstimate: () => true, getEstimate: () => 1e9 })`,
      );
      // The levels of all codecs are in one list.
      const cap = (height: number) =>
        page.evaluate(
          `hls.autoLevelCapping = hls.levels.findLastIndex(({ height }) => height === ${height})`,
        );
      await cap(360);
      await seek(page, 3.5, '360p-av1');
      // hls.js 1.6.13 reports an error if video and audio load their key at the same time, and avoids that level from then on.
      await page.evaluate(
        `for (const level of hls.levels) Object.assign(level, { fragmentError: 0, loadError: 0 })`,
      );
      await cap(480);
      await seek(page, 13.5, '480p-av1');
      await playToTheEnd(page);
      expect(await codecsLoaded(page)).toEqual(['av1']);
      await page.close();
    }),
  );

  testInBrowser('Shaka Player plays AV1 alone', () =>
    playing(async () => {
      const page = await pages.shaka(url, { streaming: { bufferingGoal: 1, rebufferingGoal: 0.5 } });
      await begun(page);
      const limit = (height: string) =>
        page.evaluate(`player.configure({ restrictions: { maxHeight: ${height} } })`);
      await limit('360');
      await seek(page, 3.5, '360p-av1');
      await limit('Infinity');
      await seek(page, 13.5, '480p-av1');
      await playToTheEnd(page);
      expect(await codecsLoaded(page)).toEqual(['av1']);
      await page.close();
    }),
  );

  test('ffmpeg plays the first variant of the highest resolution, which is H.264', () =>
    playing(async () => {
      const { stderr } = await runProgram('ffmpeg', ['-v', 'info', '-nostdin', '-i', url, '-f', 'null', '-']);
      expect(stderr).toMatch(/Stream #0:\d+ -> #0:0 \(h264 /);
      expect(await heardTone(url, { from: 0.5, to: 1.5, tones: [TONE] })).toBe(TONE);
    }));

  withProgram('mpv')('mpv plays the variant with the highest bandwidth, which is H.264', () =>
    playing(async () => {
      const file = join(directory, `mpv ${what}.wav`);
      const { stdout } = await runProgram('mpv', [
        ...['--no-config', '--vo=null', '--ao=pcm', `--ao-pcm-file=${file}`, '--end=2'],
        ...[`--term-playing-msg=codec \${video-format} \${width}x\${height}`, url],
      ]);
      expect(stdout).toContain('codec h264 854x480');
      expect(await heardTone(file, { from: 0.5, to: 1.5, tones: [TONE] })).toBe(TONE);
    }),
  );

  withProgram('cvlc')('VLC plays the video', () =>
    playing(async () => {
      const file = join(directory, `vlc ${what}.wav`);
      const log = await runVlc(directory, [
        ...['--vout=dummy', '--aout=afile', `--audiofile-file=${file}`, '--stop-time=3', url],
      ]);
      expect(log).toMatch(/using video decoder module "(avcodec|dav1d)"/);
      expect(await heardTone(file, { from: 0.5, to: 1.5, tones: [TONE] })).toBe(TONE);
    }),
  );

  test.each(VARIANTS)('ffmpeg decodes the same frames at the same times in each codec: %s', (variant) =>
    playing(async () => {
      const plain = await variantUrl(variant, 'h264');
      const times = await frameTimes(plain);
      expect(times).toHaveLength(RATE * SECONDS);
      for (const codec of ['av1', 'hevc']) {
        const other = await variantUrl(variant, codec);
        expect(await frameTimes(other)).toEqual(times);
        const { same, late } = await similarities(other, plain);
        expect(same).toBeGreaterThan(late);
      }
    }),
  );
});

/** The presentation times of all frames of a playlist, in seconds. */
async function frameTimes(url: string): Promise<number[]> {
  const { stdout } = await runProgram('ffprobe', [
    ...['-v', 'error', '-select_streams', 'v', '-show_entries', 'frame=pts_time', '-of', 'json', url],
  ]);
  const { frames } = JSON.parse(stdout) as { frames: { pts_time: string }[] };
  return frames.map(({ pts_time }) => Number(pts_time));
}

/** How similar the frames of two playlists are (SSIM), as they are and if those of the second one are a frame late. */
async function similarities(one: string, other: string): Promise<{ same: number; late: number }> {
  const filter = [
    '[0:v]split[one-a][one-b];[1:v]split[other-a][other-b]',
    '[one-a][other-a]ssim@same',
    `[other-b]setpts=PTS+1/(${RATE}*TB)[late];[one-b][late]ssim@late`,
  ].join(';');
  const args = ['-v', 'info', '-nostdin', '-i', one, '-i', other, '-lavfi', filter, '-f', 'null', '-'];
  const { stderr } = await runProgram('ffmpeg', args);
  const similarity = (name: string) => Number(new RegExp(`ssim@${name} .*All:([\\d.]+)`).exec(stderr)?.[1]);
  return { same: similarity('same'), late: similarity('late') };
}
