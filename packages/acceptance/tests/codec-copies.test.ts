import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FramelaneClient } from '../src/framelane-client.ts';
import { checkRules } from '../src/hls-rules.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { PlayerPages } from '../src/player-pages.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);

const pages = new PlayerPages(browserPath);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-codec-copies-'));
});
afterAll(async () => {
  await pages.close();
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

const SECONDS = 9;
const X265 = 'keyint=50:min-keyint=50:scenecut=0:open-gop=0:log-level=none';
const ENCODERS = {
  av1: ['-c:v', 'libsvtav1', '-preset', '12', '-crf', '45', '-g', '50'],
  hevc: ['-c:v', 'libx265', '-preset', 'ultrafast', '-crf', '35', '-x265-params', X265],
};

/** Hashes of the decoded frames of the video of a file or a playlist. */
async function framesOf(url: string): Promise<string[]> {
  const args = [
    '-v',
    'error',
    '-nostdin',
    '-i',
    url,
    '-map',
    '0:v:0',
    '-f',
    'framehash',
    '-hash',
    'md5',
    '-',
  ];
  const { stdout } = await runProgram('ffmpeg', args);
  return stdout.split('\n').flatMap((line) => (/^\d/.test(line) ? [line.split(',').at(-1) ?? ''] : []));
}

describe.each(Object.entries(ENCODERS))('an upload in %s', (codec, encoder) => {
  let clip: string;
  let video: ReadyVideo;
  beforeAll(async () => {
    clip = await makeClip(join(directory, `${codec}.mp4`), {
      video: `testsrc2=s=854x480:r=25:d=${SECONDS}`,
      audio: `sine=d=${SECONDS}`,
      options: [...encoder, '-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709'],
    });
    const ticket = await client.requestTicket({ filename: 'clip.mp4', codecs: ['h264', 'av1', 'hevc'] });
    await upload(clip, ticket);
    video = await client.codecsSettled(await client.api.videos.waitUntilReady(ticket.videoId));
  });

  /** The URL of the playlist of a variant. */
  const playlistOf = (name: string) => new URL(`${name}/index.m3u8`, video.hls).href;

  test('is the highest variant in that codec, frame by frame, and follows the rules of HLS', async () => {
    expect(video.codecs?.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready']);
    const { report } = await checkRules(video, target);
    const warnings = report.results.filter(
      ({ id, outcome }) => /^(codecs|segments)/.test(id) && outcome === 'failed',
    );
    expect(warnings).toEqual([]);
    const frames = await framesOf(clip);
    expect(frames).toHaveLength(25 * SECONDS);
    expect(await framesOf(playlistOf(`480p-${codec}`))).toEqual(frames);
    const others = Object.keys(ENCODERS).filter((other) => other !== codec);
    for (const name of ['480p', `360p-${codec}`, ...others.map((other) => `480p-${other}`)]) {
      const other = await framesOf(playlistOf(name));
      expect(other).toHaveLength(frames.length);
      expect(other.filter((frame, at) => frame === frames[at])).toEqual([]);
    }
  });

  // This Chromium decodes AV1, and no HEVC.
  if (codec === 'av1')
    testInBrowser('is played by hls.js from beginning to end', async () => {
      const page = await pages.hls('hls.js', video.hls, { autoStartLoad: false });
      await page.waitForFunction('hls.levels.length > 0');
      await page.evaluate(
        `hls.loadLevel = hls.levels.findLastIndex(({ height, codecSet }) => height === 480 && codecSet.startsWith('av01'))`,
      );
      await page.evaluate('hls.startLoad()');
      await page.waitForFunction('failures.length > 0 || video.ended');
      expect(await page.evaluate('failures')).toEqual([]);
      const loaded = (await page.evaluate('loaded')) as string[];
      for (const sequence of [0, 1, 2, 3])
        expect(loaded.some((url) => url.includes(`/480p-av1/${sequence}.m4s`))).toBe(true);
      await page.close();
    });
});
