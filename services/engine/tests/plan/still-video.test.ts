import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { makeClip } from '@framelane/test-kit/clips';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectHlsRules } from '../support/hls-rules.ts';
import { ffprobe } from '../support/media.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start({ preset: 'ultrafast' });
});
afterAll(() => bench.stop());

/** A picture that stands still, and from a second on a moving one. */
const stillUntil = (second: number, seconds: number, size: string) =>
  [
    `testsrc2=s=${size}:r=25:d=0.04,loop=loop=${25 * second - 1}:size=1[still]`,
    `testsrc2=s=${size}:r=25:d=${seconds - second},noise=alls=40:allf=t[moving]`,
    '[still][moving]concat=n=2',
  ].join(';');

/** The seconds of the key frames of a rendition, from its first frame. */
async function keyFramesOf(file: string): Promise<number[]> {
  const { packets } = await ffprobe<{ packets: { pts_time: string; flags: string }[] }>(
    ...['-select_streams', 'v', '-show_entries', 'packet=pts_time,flags', file],
  );
  const times = packets.filter(({ flags }) => flags.includes('K')).map(({ pts_time }) => Number(pts_time));
  return times.map((time) => Number((time - (times[0] ?? 0)).toFixed(2)));
}

async function transcode(name: string, video: string, options: string[]) {
  const clip = await makeClip(join(bench.directory, name), { video, options });
  const { videoId, manifest } = await bench.transcode(clip);
  await expectHlsRules(bench, videoId, manifest);
  const keyFrames = await Promise.all(
    manifest.renditions.map(async (each) => keyFramesOf(await renditionFile(bench, videoId, each))),
  );
  return { videoId, manifest, keyFrames };
}

const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency'];

test('still video has its lowest and its highest rendition, and a key frame at the beginning of each segment alone', async () => {
  const { manifest, keyFrames } = await transcode(
    'slides.mp4',
    'testsrc2=s=1280x720:r=25:d=0.04,loop=loop=249:size=1',
    [...X264, '-pix_fmt', 'yuv444p'],
  );
  expect(manifest.renditions.map(({ name }) => name)).toEqual(['360p', '720p']);
  expect(keyFrames).toEqual([
    [0, 2, 4, 8],
    [0, 2, 4, 8],
  ]);
  expect(manifest.iFrames?.segments.map(({ duration }) => duration)).toEqual([2, 2, 4, 2]);
});

test('video that moves later has all renditions, and key frames every two seconds where it moves', async () => {
  const { manifest, keyFrames } = await transcode('talk.mp4', stillUntil(14, 18, '854x480'), [
    ...X264,
    '-pix_fmt',
    'yuv444p',
  ]);
  expect(manifest.renditions.map(({ name }) => name)).toEqual(['360p', '480p']);
  expect(keyFrames).toEqual([
    [0, 2, 4, 8, 14, 16],
    [0, 2, 4, 8, 14, 16],
  ]);
});

test('a still stream copy has the lowest rendition beside it, and a poster of its own size', async () => {
  const { videoId, manifest, keyFrames } = await transcode(
    'recording.mp4',
    'testsrc2=s=1280x720:r=25:d=0.04,loop=loop=99:size=1',
    [...X264, '-g', '75', '-keyint_min', '75', '-pix_fmt', 'yuv420p'],
  );
  expect(manifest.renditions.map(({ name }) => name)).toEqual(['360p', '720p']);
  // Those of the source.
  expect(keyFrames).toEqual([
    [0, 3],
    [0, 3],
  ]);
  const path = join(bench.directory, 'poster.jpg');
  const { body } = await bench.objects.get(bench.imageKey(videoId, 'poster.jpg'));
  await writeFile(path, await buffer(body));
  const { streams } = await ffprobe<{ streams: object[] }>('-show_streams', path);
  expect(streams[0]).toMatchObject({ width: 1280, height: 720 });
});
