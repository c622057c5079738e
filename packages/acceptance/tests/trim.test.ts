import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReadyVideo, VideoFailedError } from '@framelane/client';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FramelaneClient } from '../src/framelane-client.ts';
import { checkRules } from '../src/hls-rules.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);

const RATE = 25;

let directory: string;
let file: Blob;
let video: ReadyVideo;

/** A file that could be copied. Its frames get brighter in steps of five frames. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-trim-'));
  const path = await makeClip(join(directory, 'whole.mp4'), {
    video: `color=black:s=320x180:r=${RATE}:d=12,format=yuv420p,geq=lum=20+3*floor(N/5):cb=128:cr=128`,
    audio: 'sine=440:r=48000:d=12',
    options: ['-g', '50', '-sc_threshold', '0', '-c:a', 'aac', '-ac', '2', '-b:a', '96k'],
  });
  file = new Blob([new Uint8Array(await readFile(path))]);
  const ticket = await client.requestTicket({
    filename: 'whole.mp4',
    trim: { start: 3, end: 9.52 },
    downloads: ['highest'],
  });
  // Times that a client sets are those of the part.
  await client.api.chapters.set(ticket.videoId, [
    { start: 0, title: 'First' },
    { start: 6.4, title: 'Last' },
  ]);
  await client.upload(ticket, file);
  video = await client.ready(ticket.videoId);
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

/** The step of brightness of each frame of an input of ffmpeg. */
async function stepsOf(input: string): Promise<number[]> {
  const { stdout } = await runProgram('ffmpeg', [
    ...['-v', 'error', '-i', input, '-map', '0:v:0'],
    ...['-vf', 'signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-', '-f', 'null', '-'],
  ]);
  return [...stdout.matchAll(/YAVG=([\d.]+)/g)].map(([, average]) => Math.round((Number(average) - 20) / 3));
}

/** Those of the frames of the file from one to before another. */
const expected = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => Math.floor((from + at) / 5));

test('the record has the part, and its duration', () => {
  expect(video).toMatchObject({ trim: { start: 3, end: 9.52 }, duration: 6.52, chapterCount: 2 });
  expect(video.inputIssues.map(({ code }) => code)).toEqual(['copy_prevented']);
});

test('the stream follows the rules of HLS, and has exactly the frames of the part', async () => {
  await checkRules(video, target);
  const playlist = video.hls.replace('master.m3u8', `${video.variants.at(-1)}/index.m3u8`);
  expect(await stepsOf(playlist)).toEqual(expected(75, 238));
});

test('so has the download', async () => {
  const ready = async () => (await client.api.downloads.list(video.id)).find(({ url }) => url !== null);
  await until(async () => (await ready()) !== undefined);
  expect(await stepsOf((await ready())?.url ?? '')).toEqual(expected(75, 238));
});

test('a start after the end of the file fails the video for good', async () => {
  const ticket = await client.requestTicket({ filename: 'whole.mp4', trim: { start: 60 } });
  await client.upload(ticket, file);
  const failed = await client.settled(ticket.videoId);
  expect(failed).toMatchObject({
    status: 'failed',
    error: { code: 'trim_after_end', message: expect.stringContaining('The video lasts 12.000 seconds') },
    retryable: false,
  });
  await expect(client.ready(ticket.videoId)).rejects.toThrow(VideoFailedError);
});
