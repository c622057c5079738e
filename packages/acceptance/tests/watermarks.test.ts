import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { pngOf } from '@framelane/test-kit/png';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeMp4 } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);

let directory: string;
let video: ReadyVideo;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-watermarks-'));
  const plan = { name: 'plain', width: 854, height: 480, rate: '25', seconds: 4, audio: null };
  const clip = await makeMp4(directory, plan);
  const { id: image } = await client.api.watermarks.create(pngOf(40, 20), { type: 'image/png' });
  const watermark = { image, corner: 'bottom-left', width: 0.5, margin: 0 } as const;
  const ticket = await client.requestTicket({ filename: 'plain.mp4', watermark });
  // The video keeps it.
  await client.api.watermarks.delete(image);
  await client.upload(ticket, new Blob([new Uint8Array(await readFile(clip))]));
  video = await client.ready(ticket.videoId);
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

/** Red, green and blue of a pixel of a frame of 40×20 pixels. */
async function pixels(input: string): Promise<(x: number, y: number) => number[]> {
  const scaled = 'scale=40:20:flags=area,format=rgb24';
  const path = join(directory, 'frame.rgb');
  await ffmpeg('-i', input, '-frames:v', '1', '-vf', scaled, '-f', 'rawvideo', path);
  const frame = await readFile(path);
  return (x, y) => [...frame.subarray(3 * (40 * y + x), 3 * (40 * y + x) + 3)];
}

const isRed = ([red = 0, green = 0, blue = 0]: number[]) => red > 200 && green < 60 && blue < 60;

test('every variant and the thumbnail show a watermark whose image is deleted meanwhile', async () => {
  expect(video.watermark).toMatchObject({ corner: 'bottom-left', opacity: 1, width: 0.5, margin: 0 });
  expect(video.variants).toEqual(['360p', '480p']);
  const playlists = video.variants.map((name) => video.hls.replace('master.m3u8', `${name}/index.m3u8`));
  for (const input of [...playlists, video.thumbnail ?? '']) {
    const at = await pixels(input);
    // Half of the width, and with the shape of the image 427 × 214 of 854 × 480.
    expect([input, isRed(at(2, 18)), isRed(at(17, 13)), isRed(at(24, 18)), isRed(at(10, 8))]).toEqual([
      input,
      true,
      true,
      false,
      false,
    ]);
  }
});
