import { createCipheriv } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredTrack } from '@framelane/contracts/internal-api';
import type { PictureWork } from '@framelane/contracts/outputs/picture';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fetchTrack } from '../../src/outputs/stored-tracks.ts';
import { TEST_PACKAGING } from '../support/packaging.ts';
import { TaskBench, type TaskVideo } from '../support/task-bench.ts';

const SECONDS = 10;
const FRAMES_PER_SECOND = 30_000 / 1001;

let bench: TaskBench;
let video: TaskVideo;
let track: StoredTrack;
/** The decrypted rendition, and the number of the first frame of each of its segments. */
let decrypted: string;
let segmentStarts: number[];

beforeAll(async () => {
  bench = await TaskBench.start();
  await transcode();
});
afterAll(() => bench.stop());

/** Makes the video of the pictures: in pieces with B-frames, all frames differ. */
async function transcode(): Promise<void> {
  const clip = await makeClip(join(bench.directory, 'clip.mkv'), {
    options: [
      ...['-f', 'lavfi', '-i', `testsrc2=s=640x360:r=30000/1001:d=${SECONDS}`],
      ...['-g', '60', '-bf', '2', '-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast'],
    ],
  });
  ({ video } = await bench.transcode(clip, 4, false));
  [track] = (await bench.tracks(video.videoId, ['360p'])) as [StoredTrack];
  decrypted = join(bench.directory, '360p.ts');
  const { objects, packaging, contentKey } = bench;
  const signal = new AbortController().signal;
  const fetch = (of: StoredTrack) =>
    fetchTrack(of, decrypted, { objects, packaging, contentKey, signal, onFetched: () => {} });
  segmentStarts = [];
  let frames = 0;
  for (const [at] of track.segmentBytes.entries()) {
    segmentStarts.push(frames);
    await fetch(part(at));
    frames += await countFrames(decrypted);
  }
  await fetch(track);
}

async function countFrames(path: string): Promise<number> {
  const { stdout } = await runProgram('ffprobe', [
    ...['-v', 'error', '-count_packets', '-show_entries', 'stream=nb_read_packets', '-of', 'csv=p=0', path],
  ]);
  return Number.parseInt(stdout, 10);
}

/** Some segments of the rendition. */
function part(first: number, count = 1): StoredTrack {
  return { ...track, firstSegment: first, segmentBytes: track.segmentBytes.slice(first, first + count) };
}

/** The segment that has a frame. */
function segmentOf(frame: number): number {
  return segmentStarts.findLastIndex((start) => start <= frame);
}

const ONE = { first: 0, count: 1 };

const STILL: Omit<PictureWork, 'segments' | 'start'> = {
  kind: 'picture',
  name: 'thumbnail',
  rendition: '360p',
  motion: null,
  format: 'jpg',
  width: 640,
  height: 360,
  fit: 'contain',
};

/** Makes a picture of these segments. */
async function picture(
  changes: Partial<PictureWork> & Pick<PictureWork, 'start' | 'segments'>,
): Promise<Buffer> {
  const work = { ...STILL, ...changes };
  const tracks = [part(work.segments.first, work.segments.count)];
  const { result, prefix } = await bench.derive(video, { work, tracks, duration: SECONDS });
  const { body } = await bench.objects.get(`${prefix}picture.${work.format}`);
  const made = Buffer.concat(await body.toArray());
  expect(result).toEqual({ picture: { name: 'thumbnail', bytes: made.length } });
  return made;
}

/** A frame of the rendition as a JPEG image of the same encoder. */
async function frame(number: number): Promise<Buffer> {
  const path = join(bench.directory, 'frame.jpg');
  await runProgram('ffmpeg', [
    ...[
      '-v',
      'error',
      '-y',
      '-i',
      decrypted,
      '-vf',
      `select=eq(n\\,${number}),scale=out_color_matrix=bt601:out_range=full,format=yuvj420p`,
    ],
    ...['-map_metadata', '-1', '-frames:v', '1', '-c:v', 'mjpeg', '-q:v', '4', path],
  ]);
  return readFile(path);
}

/** The size of a JPEG or GIF image and the number of its frames, as ffmpeg decodes them. */
async function decode(made: Buffer, format: 'jpg' | 'gif') {
  const path = join(bench.directory, `made.${format}`);
  await writeFile(path, made);
  const { stdout } = await runProgram('ffprobe', [
    ...['-v', 'error', '-count_frames', '-show_entries', 'stream=codec_name,width,height,nb_read_frames'],
    ...['-of', 'csv=p=0', path],
  ]);
  return stdout.trim();
}

/** The mean colours of 16 rows of the first frame, as viewers see them. */
async function colours(path: string): Promise<number[]> {
  const raw = join(bench.directory, 'colours');
  await runProgram('ffmpeg', [
    ...['-v', 'error', '-y', '-i', path, '-frames:v', '1', '-pix_fmt', 'rgb24', '-f', 'rawvideo', raw],
  ]);
  const pixels = await readFile(raw);
  const rowBytes = pixels.length / 16;
  return Array.from({ length: 48 }, (_, at) => {
    let sum = 0;
    const row = Math.floor(at / 3) * rowBytes;
    for (let pixel = row + (at % 3); pixel < row + rowBytes; pixel += 3) sum += pixels[pixel] ?? 0;
    return sum / (rowBytes / 3);
  });
}

/** The chunks of a WebP file. */
function chunksOf(webp: Buffer): string[] {
  const chunks: string[] = [];
  for (let at = 12; at + 8 <= webp.length; ) {
    chunks.push(webp.toString('latin1', at, at + 4));
    const bytes = webp.readUInt32LE(at + 4);
    at += 8 + bytes + (bytes % 2);
  }
  return chunks;
}

describe('a still picture', () => {
  test.each([0, 59, 60, 299])('of the time of frame %d is that frame', async (number) => {
    const time = (frames: number) => Math.round((1000 * frames) / FRAMES_PER_SECOND);
    const segments = { first: segmentOf(number), count: 1 };
    const expected = await frame(number);
    // When it is due, and until just before the next one is.
    for (const start of [time(number), time(number + 1) - 1])
      expect((await picture({ start, segments })).equals(expected)).toBe(true);
  });

  test('of a time after the last frame is the last frame', async () => {
    const segments = { first: segmentStarts.length - 1, count: 1 };
    expect((await picture({ start: 60_000, segments })).equals(await frame(299))).toBe(true);
  });

  test.each(['contain', 'cover', 'pad'] as const)('with the fit %s has the asked size', async (fit) => {
    const made = await picture({ start: 0, segments: ONE, width: 101, height: 57, fit });
    expect(await decode(made, 'jpg')).toBe('mjpeg,101,57,1');
  });

  test.each(['jpg', 'webp', 'gif'] as const)('has the colours of the video as %s', async (format) => {
    const made = join(bench.directory, `coloured.${format}`);
    await writeFile(made, await picture({ start: 0, segments: ONE, format }));
    const [expected, found] = [await colours(decrypted), await colours(made)];
    const differences = expected.map((value, at) => Math.abs(value - (found[at] ?? 0)));
    // With the matrix of the video, JPEG differs by 3.6 and WebP by 4.7.
    expect(Math.max(...differences)).toBeLessThan(2.5);
  });

  test('is WebP if asked for', async () => {
    const made = await picture({ start: 500, segments: ONE, format: 'webp' });
    expect(made.toString('latin1', 0, 4) + made.toString('latin1', 8, 12)).toBe('RIFFWEBP');
    expect(chunksOf(made)).not.toContain('ANMF');
  });
});

describe('a moving picture', () => {
  const motion = { frames: 25, framesPerSecond: 10 };

  test('has its number of frames, from several segments, in WebP', async () => {
    const made = await picture({ start: 1000, segments: { first: 0, count: 2 }, motion, format: 'webp' });
    expect(chunksOf(made).filter((chunk) => chunk === 'ANMF')).toHaveLength(25);
  });

  test('and in GIF', async () => {
    const small = { width: 320, height: 180, format: 'gif', motion } as const;
    const made = await picture({ start: 1000, segments: { first: 0, count: 2 }, ...small });
    expect(await decode(made, 'gif')).toBe('gif,320,180,25');
  });

  test('repeats the last frame at the end', async () => {
    const first = segmentStarts.length - 1;
    const work = { start: 9900, segments: { first, count: 1 }, motion: { frames: 3, framesPerSecond: 5 } };
    // libwebp leaves out a frame that changes nothing.
    const made = await picture({ ...work, format: 'gif', width: 64, height: 36 });
    expect(await decode(made, 'gif')).toBe('gif,64,36,3');
  });
});

test('segments that are not video fail for good', async () => {
  const prefix = 'hls/ws_x/vid_x/a1/t1.1/';
  const cipher = createCipheriv('aes-128-cbc', bench.contentKey, Buffer.alloc(16));
  const body = Buffer.concat([cipher.update(Buffer.alloc(5000)), cipher.final()]);
  await bench.objects.put(segmentKeyBelow(prefix, '360p', 0, bench.packaging), body, 'video/mp2t');
  const odd = { ...part(0), segmentBytes: [body.length], places: [{ firstSegment: 0, prefix }] };
  await expect(
    bench.derive(video, { work: { ...STILL, start: 0, segments: ONE }, tracks: [odd], duration: SECONDS }),
  ).rejects.toMatchObject({ name: 'TranscodeFailure', retryable: false });
});

describe('a picture of CMAF', () => {
  beforeAll(async () => {
    bench.packaging = 'cmaf';
    await transcode();
  });
  afterAll(() => {
    bench.packaging = TEST_PACKAGING;
  });

  test.each([0, 59, 60, 299])('of the time of frame %d is that frame', async (number) => {
    const segments = { first: segmentOf(number), count: 1 };
    const start = Math.round((1000 * number) / FRAMES_PER_SECOND);
    expect((await picture({ start, segments })).equals(await frame(number))).toBe(true);
  });
});
