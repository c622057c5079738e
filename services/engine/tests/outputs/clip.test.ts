import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredTrack } from '@framelane/contracts/internal-api';
import { CLOCK_HZ } from '@framelane/contracts/manifest';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyOfSegment } from '../../src/outputs/stored-tracks.ts';
import { expectHlsRules, playable } from '../support/hls-rules.ts';
import { TEST_PACKAGING } from '../support/packaging.ts';
import { maxDifference, QUARTER_COLOURS, quartered, quartersOfImage } from '../support/quarters.ts';
import { type BenchVideo, TaskBench } from '../support/task-bench.ts';
import type { StoredVideos } from '../support/worker-bench.ts';

let bench: TaskBench;

beforeAll(async () => {
  bench = await TaskBench.start({ surround: true });
});
afterAll(() => bench.stop());

type Stored = BenchVideo & { stored: StoredVideos };

/** Transcodes a file with these streams. */
async function transcode(
  name: string,
  options: string[],
  { pieceSeconds = 10, allowCopy = false } = {},
): Promise<Stored> {
  const path = await makeClip(join(bench.directory, name), { options });
  return { ...(await bench.transcode(path, pieceSeconds, allowCopy)), stored: bench };
}

const video = (size: string, rate: string, seconds: number) => [
  ...['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=${rate}:d=${seconds}`],
];
/** For two renditions. Most of the frame is black, which takes little time to encode and to decode. */
const large = (rate: string, seconds: number) => [
  ...['-f', 'lavfi', '-i', `testsrc2=s=240x240:r=${rate}:d=${seconds},pad=480:480`],
];
const sound = (hertz: number, sampleRate: number, seconds: number) => [
  ...['-f', 'lavfi', '-i', `sine=${hertz}:r=${sampleRate}:d=${seconds}`],
];
/** Few pixels: the rules and the frames are the same for all sizes. */
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast'];

/** All decrypted segments of a rendition, in one file. */
async function fileOf({ stored, video: { videoId }, manifest }: Stored, name: string): Promise<string> {
  const rendition = manifest.renditions.find((each) => each.name === name);
  if (rendition === undefined) throw new Error(`There is no ${name}`);
  const path = join(bench.directory, `${videoId}-${name}.ts`);
  await writeFile(path, await playable(stored, videoId, rendition));
  return path;
}

const TILE = 32;

type Frames = { times: number[]; pictures: Buffer[] };

/** The frames of renditions that were read before: most parents have several clips. */
const known = new Map<string, Frames>();

/** The timestamps of the frames of a rendition, in milliseconds, and each frame as a small grey picture. */
async function framesOf(of: Stored, name: string): Promise<Frames> {
  const path = await fileOf(of, name);
  const frames = known.get(path) ?? (await readFrames(path));
  known.set(path, frames);
  return frames;
}

async function readFrames(path: string): Promise<Frames> {
  const [raw, list] = [`${path}.raw`, `${path}.frames`];
  // One run for both, because a decoder takes time.
  const unchanged = ['-vsync', 'passthrough', '-enc_time_base', `1:${CLOCK_HZ}`];
  await runProgram('ffmpeg', [
    ...['-y', '-v', 'error', '-copyts', '-i', path],
    ...['-filter_complex', `[0:v]scale=${TILE}:${TILE},format=gray,split[pictures][times]`],
    ...['-map', '[pictures]', ...unchanged, '-f', 'rawvideo', raw],
    ...['-map', '[times]', ...unchanged, '-f', 'framehash', '-hash', 'murmur3', list],
  ]);
  const bytes = await readFile(raw);
  const size = TILE * TILE;
  const pictures = Array.from({ length: bytes.length / size }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  // Stream, dts, pts, duration, size and checksum.
  const lines = (await readFile(list, 'utf8')).split('\n').filter((line) => /^\d/.test(line));
  const times = lines.map((line) => Math.round((1000 * Number(line.split(',')[2])) / CLOCK_HZ));
  return { times, pictures };
}

function difference(a: Buffer, b: Buffer): number {
  return a.reduce((sum, value, at) => sum + Math.abs(value - (b[at] ?? 0)), 0) / a.length;
}

/** Checks a clip: the rules of HLS, and that it has exactly the frames of its parent, at their timestamps. */
async function expectClip(
  parent: Stored,
  times: { start: number; end: number },
  expected: { frames: number },
) {
  const clip = await bench.clip(parent, times);
  await expectHlsRules(clip.stored, clip.video.videoId, clip.manifest);
  for (const { name, width } of parent.manifest.renditions) {
    if (width === null) continue;
    const [all, own] = [await framesOf(parent, name), await framesOf(clip, name)];
    const from = Math.round((clip.manifest.startTimestamp / CLOCK_HZ) * 1000);
    const first = all.times.findIndex((time) => Math.abs(time - from) <= 1);
    expect(own.times.length).toBe(own.pictures.length);
    expect(own.times.map((time, at) => Math.abs(time - (all.times[first + at] ?? 0)) <= 1)).not.toContain(
      false,
    );
    for (const [at, picture] of own.pictures.entries()) {
      const same = difference(picture, all.pictures[first + at] as Buffer);
      const next = difference(picture, all.pictures[first + at + 1] ?? Buffer.alloc(TILE * TILE));
      expect(same).toBeLessThan(next);
    }
    const step = clip.plan.encode.videoRenditions.find((each) => each.name === name)?.frameStep ?? 1;
    expect(own.times).toHaveLength(Math.ceil(expected.frames / step));
  }
  return clip;
}

/** The decoding time of each packet of the copied rendition, and how much later it is shown, in order. */
async function packetsOf(of: Stored): Promise<{ dts: number; delay: number }[]> {
  const name = of.plan.encode.videoRenditions.at(-1)?.name ?? '';
  const entries = ['-show_entries', 'packet=dts,pts', '-of', 'csv=p=0', await fileOf(of, name)];
  const { stdout } = await runProgram('ffprobe', ['-v', 'error', '-select_streams', 'v', ...entries]);
  return stdout
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.split(',').map(Number))
    .map(([pts = Number.NaN, dts = Number.NaN]) => ({ dts, delay: pts - dts }));
}

/** Checks that frames at the beginning and at the end of a clip are decoded in order, with the delay of the copied ones between them. */
async function expectContinued(clip: Stored, { head, tail }: { head: number; tail: number }) {
  const packets = await packetsOf(clip);
  for (const [at, { dts }] of packets.entries())
    expect(dts).toBeGreaterThan(packets[at - 1]?.dts ?? Number.NEGATIVE_INFINITY);
  const delays = [...packets.slice(0, head), ...packets.slice(packets.length - tail)].map(
    ({ delay }) => delay,
  );
  // Of a key frame of the copy.
  expect(new Set(delays)).toEqual(new Set([packets[head]?.delay]));
}

/** Copied as the top rendition: it is small, so the encoder of its edges would have B-frames by its own settings. */
async function transcodeCopy(name: string, options: readonly string[]): Promise<Stored> {
  const parent = await transcode(
    name,
    [
      ...[...large('30', 21), ...sound(440, 44_100, 21)],
      ...['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '700k', ...options],
      ...['-maxrate', '900k', '-bufsize', '900k', '-c:a', 'aac', '-ac', '2', '-b:a', '96k'],
    ],
    { allowCopy: true },
  );
  expect(parent.plan.encode.copiesVideo).toBe(true);
  return parent;
}

const WITH_B_FRAMES = ['-profile:v', 'high', '-bf', '3', '-g', '60'];

const ENCODED = [
  ...[...video('320x180', '25', 21), ...sound(440, 48_000, 21)],
  ...['-g', '50', '-bf', '2', ...H264, '-c:a', 'aac'],
];

describe('a clip of a video', () => {
  test('has exactly its frames, wherever it is cut', async () => {
    const parent = await transcode('encoded.mkv', ENCODED);
    for (const [start, end] of [
      [2, 20],
      [5, 6],
      // One frame and two before and after key frames: too few for the decoding delay of an encoder.
      [3.96, 10.08],
      [5.92, 10.04],
      [7.92, 8.04],
    ] as const)
      await expectClip(parent, { start, end }, { frames: Math.round((end - start) * 25) });
    const clip = await expectClip(parent, { start: 3.04, end: 17.52 }, { frames: 362 });
    const ofClip = await expectClip(clip, { start: 1, end: 10 }, { frames: 225 });
    expect(ofClip.contentKey).not.toEqual(clip.contentKey);
  });

  test.each([
    // Its key frames are at 4 and 16 s, or at 5 and 15 s.
    ['High, B-frames', WITH_B_FRAMES, { head: 27, tail: 45 }],
    ['Baseline', ['-profile:v', 'baseline', '-g', '75', '-sc_threshold', '0'], { head: 57, tail: 0 }],
  ])('whose top rendition is a stream copy: %s', async (name, options, edges) => {
    const parent = await transcodeCopy(`copied-${name.slice(0, 4)}.mp4`, options);
    const clip = await expectClip(parent, { start: 3.1, end: 17.5 }, { frames: 432 });
    await expectContinued(clip, edges);
  });

  test.each([
    ['with B-frames', ['-profile:v', 'high', '-bf', '3', '-g', '60', '-refs', '2']],
    ['without B-frames', ['-profile:v', 'main', '-bf', '0', '-g', '60']],
  ])('that a device has encoded, %s', async (name, options) => {
    // The copied rendition stands for that of a device: both have other parameter sets and another delay than x264 by the plan.
    const copied = await transcode(
      `device-${name.slice(0, 7)}.mp4`,
      [
        ...['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=30:d=21'],
        ...['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '300k', ...options],
        ...['-maxrate', '400k', '-bufsize', '400k'],
      ],
      { allowCopy: true },
    );
    const { encode, encoder } = copied.plan;
    expect(encode.copiesVideo).toBe(true);
    const plan = {
      ...copied.plan,
      encode: { ...encode, copiesVideo: false },
      encoder: { ...encoder, hardware: 'nvenc' as const },
    };
    await expectClip({ ...copied, plan }, { start: 3.1, end: 17.5 }, { frames: 432 });
  });

  test('with several languages and surround, and with half the frames in a lower rendition', async () => {
    const parent = await transcode('languages.mkv', [
      ...[...large('40', 21), ...sound(440, 48_000, 20), ...sound(880, 44_100, 20)],
      ...['-map', '0', '-map', '1', '-map', '2', '-g', '50', ...H264, '-c:a', 'aac', '-ac:a:1', '6'],
      ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=ger'],
    ]);
    expect(parent.plan.encode.videoRenditions.map(({ frameStep }) => frameStep)).toEqual([2, 1]);
    // It begins with a frame of all renditions: at 3.05.
    const clip = await expectClip(parent, { start: 3.025, end: 15.5 }, { frames: 498 });
    expect(clip.manifest.renditions.map(({ name }) => name)).toEqual(
      parent.manifest.renditions.map(({ name }) => name),
    );
  });

  test('without audio, at 30000/1001 frames a second', async () => {
    const parent = await transcode('silent.mkv', [
      ...video('320x180', '30000/1001', 21),
      '-g',
      '60',
      ...H264,
    ]);
    await expectClip(parent, { start: 3.1, end: 17.52 }, { frames: 432 });
  });

  test('with a variable frame rate', async () => {
    const parent = await transcode('variable.mkv', [
      ...[...video('320x180', '30', 21), ...sound(440, 48_000, 21)],
      ...['-vf', 'select=not(eq(mod(n\\,7)\\,3))', '-vsync', 'vfr', '-g', '60', ...H264, '-c:a', 'aac'],
    ]);
    const { numerator, denominator } = parent.plan.encode.frameRate;
    const clip = await bench.clip(parent, { start: 3.1, end: 17.5 });
    await expectHlsRules(clip.stored, clip.video.videoId, clip.manifest);
    expect(Math.abs(clip.plan.encode.frames - (14.4 * numerator) / denominator)).toBeLessThan(1);
  });

  test('has images in its colours', async () => {
    const parent = await transcode(
      'coloured.mp4',
      ['-f', 'lavfi', '-i', quartered(12), ...H264, '-g', '25'],
      {
        pieceSeconds: 4,
      },
    );
    const { posterKey, video } = await bench.clip(parent, { start: 3.1, end: 4.1 });
    expect(video.videoId).not.toBe(parent.video.videoId);
    for (const key of [posterKey, posterKey.replace('poster', 'storyboard')])
      expect(maxDifference(await quartersOfImage(bench, key), QUARTER_COLOURS)).toBeLessThanOrEqual(6);
  });

  test('whose parent has a damaged segment, or lacks one, fails with a reason', async () => {
    const parent = await transcode('lacking.mkv', [...video('320x180', '5', 21), '-g', '10', ...H264]);
    const [track] = await bench.tracks(parent.video.videoId, ['360p']);
    const key = keyOfSegment(track as StoredTrack, 0, bench.packaging);
    const made = () => bench.clip(parent, { start: 0.2, end: 20 });
    // Ciphertext consists of blocks of 16 bytes.
    await bench.objects.put(key, Buffer.alloc(4095), 'video/mp2t');
    await expect(made()).rejects.toMatchObject({ code: 'storage_failed', retryable: true });
    await bench.objects.deletePrefix(key.replace(/[^/]+$/, ''));
    await expect(made()).rejects.toMatchObject({ code: 'storage_failed', retryable: true });
  });

  test('of sound alone', async () => {
    const parent = await transcode('sound.m4a', [...sound(440, 48_000, 60), '-c:a', 'aac'], {
      pieceSeconds: 10,
    });
    const clip = await bench.clip(parent, { start: 3.1, end: 27.5 });
    await expectHlsRules(clip.stored, clip.video.videoId, clip.manifest);
    expect(clip.manifest.duration).toBe(24.4);
  });
});

describe('a clip in CMAF', () => {
  beforeAll(() => {
    bench.packaging = 'cmaf';
  });
  afterAll(() => {
    bench.packaging = TEST_PACKAGING;
  });

  test('has exactly its frames', async () => {
    const parent = await transcode('encoded.mkv', ENCODED);
    // Also of one frame and two before and after key frames.
    await expectClip(parent, { start: 3.96, end: 10.08 }, { frames: 153 });
    const clip = await expectClip(parent, { start: 3.04, end: 17.52 }, { frames: 362 });
    await expectClip(clip, { start: 1, end: 10 }, { frames: 225 });
  });

  test('of a stream copy has the parameter sets of its edges, and a clip of that clip those of both', async () => {
    const parent = await transcodeCopy('copied.mp4', WITH_B_FRAMES);
    const clip = await expectClip(parent, { start: 3.1, end: 17.5 }, { frames: 432 });
    await expectContinued(clip, { head: 27, tail: 45 });
    const ofClip = await expectClip(clip, { start: 1.2, end: 12.5 }, { frames: 339 });
    expect([parent, clip, ofClip].map(parameterSetsOf)).toEqual([1, 2, 3]);
  });
});

/** The number of sequence parameter sets in the initialization section of the top rendition. */
function parameterSetsOf({ manifest, plan }: Stored): number {
  const top = plan.encode.videoRenditions.at(-1)?.name;
  const { initialization = '' } = manifest.renditions.find(({ name }) => name === top) ?? {};
  const section = Buffer.from(initialization, 'base64');
  // After the type of the box, the sixth byte of the record.
  return section.readUInt8(section.indexOf('avcC') + 9) & 31;
}
