import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { withCaptions } from '../support/captions.ts';
import { expectHlsRules } from '../support/hls-rules.ts';
import { ffprobe } from '../support/media.ts';
import { withSecondSampleEntry } from '../support/mp4-boxes.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const GOP_2 = ['-preset', 'veryfast', '-g', '50', '-sc_threshold', '0'];
const STEREO = ['-c:a', 'aac', '-ac', '2', '-b:a', '96k'];
/** Keeps its size, as all video below the lowest rung. */
const SMALL = 'testsrc2=s=160x90:r=25';

/** Most of the frame is black, which takes little time to encode. */
const padded = (rate: number, seconds: number, size: string) =>
  `testsrc2=s=160x160:r=${rate}:d=${seconds},pad=${size}`;
/** Has a lower rendition, whose segments must begin at the key frames of the copied one. */
const sd = (seconds: number) => padded(25, seconds, '854:480');
const hd = (seconds: number) => padded(50, seconds, '720:720');

type Track = { path: string; track: 'v' | 'a' };

/** Hashes of all frames or all samples of each track, decoded. One run for all tracks, because each start of ffmpeg takes time. */
async function decoded(tracks: readonly Track[]): Promise<string[][]> {
  const paths = [...new Set(tracks.map(({ path }) => path))];
  const listings = tracks.map(({ path, track }) => `${path}.${track}.hashes`);
  await ffmpeg(
    ...paths.flatMap((path) => ['-i', path]),
    ...tracks.flatMap(({ path, track }, at) => [
      ...[
        '-map',
        `${paths.indexOf(path)}:${track}`,
        '-f',
        'framehash',
        '-hash',
        'murmur3',
        listings[at] ?? '',
      ],
    ]),
  );
  return Promise.all(
    listings.map(async (listing) => {
      const lines = (await readFile(listing, 'utf8')).split('\n').filter((line) => /^\d/.test(line));
      return lines.map((line) => line.split(',').at(-1)?.trim() ?? '');
    }),
  );
}

/** Transcodes a file, checks the rules, and lists the renditions that are copies of the source. */
async function transcode(path: string): Promise<{ manifest: Manifest; copied: string[] }> {
  const { videoId, manifest } = await bench.transcode(path);
  await expectHlsRules(bench, videoId, manifest);
  const outputs: (Track & { name: string })[] = [];
  for (const rendition of manifest.renditions) {
    const track = rendition.width === null ? 'a' : 'v';
    outputs.push({ name: rendition.name, track, path: await renditionFile(bench, videoId, rendition) });
  }
  const kinds = [...new Set(outputs.map(({ track }) => track))];
  const hashes = await decoded([...kinds.map((track) => ({ path, track })), ...outputs]);
  const copied = outputs.filter(({ track }, at) => {
    const source = new Set(hashes[kinds.indexOf(track)]);
    const frames = hashes[kinds.length + at] ?? [];
    expect(frames.length).toBeGreaterThan(3);
    // Priming frames of the audio are decoded in the output and skipped in the source.
    return frames.filter((frame) => source.has(frame)).length >= frames.length - 3;
  });
  return { manifest, copied: copied.map(({ name }) => name) };
}

const durations = ({ renditions }: Manifest) => renditions[0]?.segments.map(({ duration }) => duration);

/** Name, file, clip, copied renditions, and durations of the segments. */
const SOURCES: [string, string, Clip, string[], number[]][] = [
  [
    'key frames every two seconds',
    'a.mp4',
    { video: `${SMALL}:d=13`, audio: 'sine=r=48000:d=13', options: [...GOP_2, ...STEREO] },
    ['360p', 'audio'],
    [2, 2, 4, 5],
  ],
  [
    'irregular key frames',
    'b.mp4',
    {
      video: sd(15),
      options: [...GOP_2, '-g', '250', '-force_key_frames', '1.4,4.4,5.8,8,9.6,12.2'],
    },
    ['480p'],
    [5.8, 6.4, 2.8],
  ],
  [
    '29.97 frames per second, audio at 44.1 kHz',
    'c.mov',
    {
      video: 'testsrc2=s=640x360:r=30000/1001:d=9',
      audio: 'sine=r=44100:d=10',
      options: [...GOP_2, '-g', '60', ...STEREO],
    },
    ['360p', 'audio'],
    [2.002, 2.002, 4.004, 1.001],
  ],
  [
    'a fragmented MP4 without B-frames',
    'd.mp4',
    {
      video: `${SMALL}:d=7`,
      options: [...GOP_2, '-bf', '0', '-movflags', '+frag_keyframe+empty_moov'],
    },
    ['360p'],
    [2, 2, 3],
  ],
  [
    '50 frames per second, with half the frame rate in lower renditions',
    'fast.mp4',
    { video: hd(7.02), options: [...GOP_2, '-g', '100'] },
    ['720p'],
    [2, 2, 3.02],
  ],
  [
    'a segment boundary at a frame that lower renditions do not have',
    'odd.mp4',
    {
      video: hd(7),
      options: [...GOP_2, '-g', '350', '-force_key_frames', '6.02'],
    },
    [],
    [2, 2, 3],
  ],
  [
    'audio that does not allow a stream copy',
    'e.mp4',
    { video: `${SMALL}:d=3`, audio: 'sine=d=3', options: [...GOP_2, '-c:a', 'aac', '-ac', '1'] },
    ['360p'],
    [2, 1],
  ],
  [
    'audio that ends early',
    'f.mp4',
    { video: `${SMALL}:d=3`, audio: 'sine=r=48000:d=2', options: [...GOP_2, ...STEREO] },
    ['360p'],
    [2, 1],
  ],
  [
    'key frames too far apart',
    'g.mp4',
    { video: `${SMALL}:d=13`, audio: 'sine=r=48000:d=13', options: [...GOP_2, '-g', '300', ...STEREO] },
    ['audio'],
    [2, 2, 4, 5],
  ],
  [
    'open groups of pictures',
    'h.mp4',
    { video: `${SMALL}:d=5`, options: [...GOP_2, '-x264-params', 'open-gop=1:bframes=3:b-adapt=0'] },
    [],
    [2, 2, 1],
  ],
  [
    'key frames that are not IDR, which only the segments show',
    'i.mp4',
    { video: `${SMALL}:d=9`, options: [...GOP_2, '-intra-refresh', '1', '-bf', '0'] },
    [],
    [2, 2, 4, 1],
  ],
  [
    'a bit rate above the cap',
    'j.mp4',
    {
      video: 'testsrc2=s=640x360:r=25:d=3,noise=alls=40:allf=t',
      options: [...GOP_2, '-crf', '23'],
    },
    [],
    [2, 1],
  ],
];

test.each(SOURCES)('%s', async (_name, file, clip, expected, segments) => {
  const { manifest, copied } = await transcode(await makeClip(inBench(file), clip));
  expect(copied).toEqual(expected);
  expect(durations(manifest)).toEqual(segments);
});

test('a stream copy removes closed captions, as the playlist declares', async () => {
  const plain = inBench('plain.264');
  const slices = ['-bf', '0', '-x264-params', 'slices=1:threads=1'];
  await makeClip(plain, { video: sd(2), options: [...GOP_2, ...slices] });
  await writeFile(inBench('captioned.264'), withCaptions(await readFile(plain)));
  await ffmpeg('-framerate', '25', '-i', inBench('captioned.264'), '-c', 'copy', inBench('captioned.mp4'));
  const captions = async (path: string) => {
    const entries = ['-show_entries', 'frame=side_data_list:frame_side_data=side_data_type'];
    return JSON.stringify(await ffprobe(...entries, path)).match(/Closed Captions/g)?.length ?? 0;
  };
  expect(await captions(inBench('captioned.mp4'))).toBe(50);
  const { videoId, manifest } = await bench.transcode(inBench('captioned.mp4'));
  expect(bench.copiesVideo.has(videoId)).toBe(true);
  const files = await Promise.all(manifest.renditions.map((each) => renditionFile(bench, videoId, each)));
  expect(await Promise.all(files.map(captions))).toEqual([0, 0]);
});

const ELEMENTARY = [...GOP_2, '-bf', '0', '-level', '3', '-f', 'h264'];

/** Two H.264 streams of a second each. */
async function twoStreams(second: string, options: readonly string[]): Promise<[Buffer, Buffer]> {
  const clips = [
    await makeClip(inBench('first.264'), { video: sd(1), options: ELEMENTARY }),
    await makeClip(inBench('second.264'), { video: second, options: [...ELEMENTARY, ...options] }),
  ];
  const [a, b] = await Promise.all(clips.map((clip) => readFile(clip)));
  return [a ?? Buffer.alloc(0), b ?? Buffer.alloc(0)];
}

/** Transcodes an H.264 stream in MP4, and resolves with the messages of warnings. No rendition may be a copy. */
async function transcodeStream(stream: Buffer): Promise<unknown[]> {
  await writeFile(inBench('stream.264'), stream);
  await ffmpeg('-framerate', '25', '-i', inBench('stream.264'), '-c', 'copy', inBench('stream.mp4'));
  const warn = jest.spyOn(bench.logger, 'warn').mockClear();
  const { videoId, manifest } = await bench.transcode(inBench('stream.mp4'));
  await expectHlsRules(bench, videoId, manifest);
  expect(bench.copiesVideo.has(videoId)).toBe(false);
  expect(manifest.duration).toBe(2);
  return warn.mock.calls.map(([event]) => event);
}

test.each([
  ['size', padded(25, 1, '640:480'), []],
  [
    'colours',
    sd(1),
    ['-colorspace', 'smpte170m', '-color_primaries', 'smpte170m', '-color_trc', 'smpte170m'],
  ],
])('video that changes its %s within the stream is encoded at once', async (_what, second, options) => {
  expect(await transcodeStream(Buffer.concat(await twoStreams(second, options)))).toEqual([]);
});

test('video whose key frames all have the parameter sets of two sizes is encoded, as the segments show them', async () => {
  const [first, second] = await twoStreams(padded(25, 1, '640:480'), ['-x264-params', 'sps-id=1']);
  // Each stream begins with its parameter sets. Supplemental information follows them.
  const parts = [first, second].map((stream) => {
    const at = stream.indexOf('00000106', 0, 'hex');
    return { sets: stream.subarray(0, at), frames: stream.subarray(at) };
  });
  const sets = parts.map((part) => part.sets);
  const both = parts.flatMap(({ frames }) => [...sets, frames]);
  expect(await transcodeStream(Buffer.concat(both))).toEqual(['transcode.copy_failed']);
});

test.each([
  ['video', ['0:v', '1:a'], ['audio']],
  ['audio', ['1:a', '0:v'], ['360p']],
])('%s with several sample entries in MP4 is encoded', async (what, [first = '', second = ''], expected) => {
  const clip = await makeClip(inBench(`described-${what}.mp4`), {
    video: `${SMALL}:d=3`,
    audio: 'sine=r=48000:d=3',
    options: [...GOP_2, ...STEREO, '-map', first, '-map', second],
  });
  await writeFile(clip, withSecondSampleEntry(await readFile(clip)));
  expect((await transcode(clip)).copied).toEqual(expected);
});

test('frames before the start of an edit list are not displayed', async () => {
  const whole = await makeClip(inBench('whole.mp4'), { video: `${SMALL}:d=8`, options: GOP_2 });
  await ffmpeg('-ss', '1', '-i', whole, '-c', 'copy', inBench('cut.mp4'));
  const { manifest, copied } = await transcode(inBench('cut.mp4'));
  expect(manifest.duration).toBe(7);
  expect(copied).toEqual([]);
});

test('a frame that is too damaged to copy leads to an encode of all frames', async () => {
  const path = await makeClip(inBench('damaged.mp4'), { video: `${SMALL}:d=3`, options: GOP_2 });
  const { packets } = await ffprobe<{ packets: { pos: string }[] }>(
    ...['-select_streams', 'v', '-show_entries', 'packet=pos', path],
  );
  const file = await readFile(path);
  // The length of the first NAL unit of the frame.
  file.writeUInt32BE(0x7fffffff, Number(packets[30]?.pos));
  await writeFile(path, file);
  const warn = jest.spyOn(bench.logger, 'warn').mockClear();
  const { videoId, manifest } = await bench.transcode(path);
  expect(warn.mock.calls).toMatchObject([['transcode.copy_failed', {}]]);
  await expectHlsRules(bench, videoId, manifest);
  expect(manifest.duration).toBe(3);
  expect(bench.copiesVideo.has(videoId)).toBe(false);
});
