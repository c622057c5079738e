import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeMp4 } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { checkRules } from '../src/hls-rules.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);

const METADATA = `;FFMETADATA1
[CHAPTER]
TIMEBASE=1/1000
START=0
END=2500
title=Opening & more
[CHAPTER]
TIMEBASE=1/1000
START=2500
END=8000
title=The rest
`;

let directory: string;
let video: ReadyVideo;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-chapters-'));
  const plan = { name: 'plain', width: 320, height: 240, rate: '25', seconds: 8, audio: null };
  const plain = await makeMp4(directory, plan);
  const [metadata, path] = [join(directory, 'chapters.txt'), join(directory, 'chapters.mp4')];
  await writeFile(metadata, METADATA);
  await ffmpeg('-i', plain, '-i', metadata, '-map', '0', '-map_chapters', '1', '-c', 'copy', path);
  video = await client.publish(path);
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

test('chapters of an uploaded file are those of the video, and its stream follows all rules', async () => {
  expect(video.chapterCount).toBe(2);
  expect(await client.api.chapters.get(video.id)).toMatchObject({
    chapters: [
      { start: 0, title: 'Opening & more' },
      { start: 2.5, title: 'The rest' },
    ],
    origin: 'file',
  });
  const { presentation } = await checkRules(video, target);
  expect(presentation.sessionData).toMatchObject([
    { name: 'chapters.json', dataId: 'com.apple.hls.chapters' },
  ]);
});

test('chapters are replaced as JSON and as WebVTT, and a signed stream with them follows all rules', async () => {
  await client.api.chapters.set(video.id, await client.api.chapters.getWebVtt(video.id));
  expect(await client.api.chapters.get(video.id)).toMatchObject({ origin: 'person', chapters: [{}, {}] });
  await client.api.chapters.set(video.id, [{ start: 1, title: 'Only' }]);
  const { presentation } = await checkRules(video, target);
  expect(JSON.parse(presentation.sessionData[0]?.text ?? '')).toEqual([
    { chapter: 1, 'start-time': 1, duration: 7, titles: [{ language: 'und', title: 'Only' }] },
  ]);
  await client.call('PATCH', `/videos/${video.id}`, { playbackPolicy: 'signed' });
  const { url } = await client.api.videos.createPlaybackToken(video.id);
  const { presentation: signed } = await checkRules({ ...video, hls: url }, target);
  expect(signed.sessionData).toHaveLength(1);
});
