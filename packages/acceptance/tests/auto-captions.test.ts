import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { requires } from '@framelane/test-kit/requires';
import { speak, speechObstacle } from '@framelane/test-kit/speech';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test as jestTest } from '@jest/globals';
import { FramelaneClient } from '../src/framelane-client.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
/** Another Framelane has no recogniser that knows the sentences. */
const test = target.recognized === null ? jestTest.skip : requires('speech', speechObstacle()).test;

const client = new FramelaneClient(target);
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-auto-captions-'));
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

test('what is said in a video becomes captions, at its time', async () => {
  const [text = ''] = target.recognized ?? [];
  const speech = await speak(join(directory, 'speech.wav'), [{ at: 1.5, text }], 6);
  const clip = join(directory, 'speech.mp4');
  await ffmpeg(
    ...['-f', 'lavfi', '-i', 'color=s=320x180:r=5:d=6', '-i', speech, '-pix_fmt', 'yuv420p'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', clip],
  );
  const { id } = await client.publish(clip, { autoCaptions: true });
  const video = await until(async () => {
    const found = await client.api.videos.get(id);
    return found.autoCaptions[0]?.status !== 'preparing' && found;
  });
  expect(video.autoCaptions).toMatchObject([{ requestedLanguage: null, language: 'en', status: 'ready' }]);
  expect(video.captions).toMatchObject([
    { language: 'en', origin: 'machine', label: 'English (auto-generated)' },
  ]);
  const [, start, , shown = ''] =
    /00:00:(\d+\.\d+) --> 00:00:(\d+\.\d+)\n([\s\S]*)/.exec(await client.api.captions.get(id, 'en')) ?? [];
  expect(shown.trim().replaceAll('\n', ' ')).toBe(text);
  expect(Math.abs(Number(start) - 1.5)).toBeLessThanOrEqual(0.2);
});
