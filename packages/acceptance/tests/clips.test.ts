import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { openPage, startBrowser } from '@framelane/test-kit/browser';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FramelaneClient } from '../src/framelane-client.ts';
import { checkRules } from '../src/hls-rules.ts';
import { browserPath, testInBrowser } from '../src/in-browser.ts';
import { withProgram } from '../src/players.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);

const RATE = 30;
/** Both edges are within segments. */
const [START, END] = [3.1, 17.5];

let directory: string;
let parent: ReadyVideo;
let clip: ReadyVideo;

/** A video whose top rendition is a stream copy with B-frames. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-clips-'));
  const file = await makeClip(join(directory, 'parent.mp4'), {
    video: `testsrc2=s=854x480:r=${RATE}:d=24`,
    audio: 'sine=440:r=48000:d=24',
    options: [
      ...['-preset', 'veryfast', '-profile:v', 'high', '-bf', '3', '-g', '60', '-b:v', '700k'],
      ...['-maxrate', '900k', '-bufsize', '900k', '-c:a', 'aac', '-ac', '2', '-b:a', '96k'],
    ],
  });
  parent = await client.publish(file);
  const { id } = await client.api.clips.create(parent.id, { start: START, end: END, title: 'A clip' });
  clip = (await client.api.videos.waitUntilReady(id)) as ReadyVideo;
});
afterAll(async () => {
  await client.api.videos.delete(clip.id);
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

test('the clip is a video of its own', async () => {
  expect(clip).toMatchObject({ title: 'A clip', duration: 14.4, variants: parent.variants });
  expect(clip.clipOf).toEqual({ videoId: parent.id, start: START, end: END });
  const keyOf = async ({ hls }: ReadyVideo) => (await fetch(hls.replace('master.m3u8', 'key'))).text();
  expect(await keyOf(clip)).not.toBe(await keyOf(parent));
});

test('its stream follows the rules of HLS', async () => {
  const { report } = await checkRules(clip, target);
  expect(report.results.length).toBeGreaterThan(20);
});

withProgram('ffmpeg')('ffmpeg decodes every frame of the highest variant, without a complaint', async () => {
  const playlist = clip.hls.replace('master.m3u8', `${clip.variants.at(-1)}/index.m3u8`);
  const { stdout, stderr } = await runProgram('ffmpeg', [
    ...['-v', 'warning', '-i', playlist, '-f', 'framecrc', '-'],
  ]);
  expect(stdout.split('\n').filter((line) => /^0,/.test(line))).toHaveLength(
    Math.round((END - START) * RATE),
  );
  expect(stderr).toBe('');
});

testInBrowser('a browser plays over both joins of the copied variant', async () => {
  const browser = await startBrowser(browserPath);
  try {
    const { page, problems } = await openPage(browser, clip.embed, { width: 854, height: 480 }, 'load');
    const media = `document.querySelector('framelane-video')`;
    await page.waitForSelector('media-controller');
    await page.evaluate(`${media}.muted = true, ${media}.play()`);
    // The first join is at 0.9 s, the second at 10.9 s.
    await page.waitForFunction(`${media}.currentTime > 2`);
    await page.evaluate(`${media}.currentTime = 9.5`);
    await page.waitForFunction(`${media}.currentTime > 12.5 && !${media}.paused`);
    await page.evaluate(`${media}.currentTime = 14`);
    await page.waitForFunction(`${media}.ended`);
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
});
