import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLOCK_HZ } from '@framelane/contracts/manifest';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectHlsRules } from '../support/hls-rules.ts';
import type { MadeVideo } from '../support/made-video.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let streams: WorkerBench;
let fragments: WorkerBench;
beforeAll(async () => {
  [streams, fragments] = await Promise.all([
    WorkerBench.start({ surround: true }),
    WorkerBench.start({ surround: true }),
  ]);
  streams.packaging = 'ts';
  streams.audioOnly = 'accepted';
  fragments.packaging = 'cmaf';
  fragments.audioOnly = 'accepted';
});
afterAll(() => Promise.all([streams.stop(), fragments.stop()]));

const video = (rate: string, seconds = 3, size = '160x90') => `testsrc2=s=${size}:r=${rate}:d=${seconds}`;
const tone = (rate: number, seconds = 3) => `sine=r=${rate}:d=${seconds}`;
const KEPT = [
  '-preset',
  'veryfast',
  '-b:v',
  '200k',
  '-maxrate',
  '300k',
  '-bufsize',
  '300k',
  '-g',
  '50',
  '-sc_threshold',
  '0',
];
const STEREO = ['-c:a', 'aac', '-ac', '2', '-b:a', '96k'];
const TELEVISION = ['-c:v', 'mpeg2video', '-q:v', '4', '-bf', '2', '-g', '12'];
const INTERLACED = ['-flags', '+ilme+ildct', '-vf', 'tinterlace=interleave_top,fieldorder=tff'];

/** Kinds of sources by their clock, their order of frames, and how their tracks begin and end. */
const SOURCES: Record<string, { file: string } & Clip> = {
  'MP4 that is copied, with B-frames': {
    file: 'a.mp4',
    video: video('25'),
    audio: tone(48_000),
    options: [...KEPT, '-bf', '3', ...STEREO],
  },
  'MP4 that is copied, without B-frames': {
    file: 'b.mp4',
    video: video('25'),
    options: [...KEPT, '-bf', '0'],
  },
  'MP4 that is copied, at 30000/1001 frames a second': {
    file: 'c.mp4',
    video: video('30000/1001'),
    audio: tone(44_100),
    options: [...KEPT, '-g', '60', ...STEREO],
  },
  'MP4 that is copied, Baseline': {
    file: 'd.mp4',
    video: video('24'),
    options: [...KEPT, '-g', '48', '-profile:v', 'baseline'],
  },
  'fragmented MP4 that is copied': {
    file: 'e.mp4',
    video: video('25'),
    options: [...KEPT, '-movflags', '+frag_keyframe+empty_moov'],
  },
  'QuickTime that is copied, at 60 frames a second': {
    file: 'f.mov',
    video: video('60'),
    options: [...KEPT, '-g', '120'],
  },
  'Matroska that is copied': {
    file: 'g.mkv',
    video: video('24000/1001'),
    audio: tone(48_000),
    options: [...KEPT, '-g', '48', ...STEREO],
  },
  'MP4 with open GOPs': {
    file: 'h.mp4',
    video: video('25'),
    options: ['-x264-params', 'open-gop=1:keyint=25:bframes=3'],
  },
  'MP4 at 24000/1001 frames a second': {
    file: 'i.mp4',
    video: video('24000/1001'),
    audio: tone(44_100),
    options: ['-c:v', 'mpeg4', ...STEREO],
  },
  'MP4 at 59.94 frames a second': {
    file: 'j.mp4',
    video: video('60000/1001', 3),
    options: ['-c:v', 'mpeg4'],
  },
  'MP4 at 12.5 frames a second': { file: 'k.mp4', video: video('25/2'), options: ['-c:v', 'mpeg4'] },
  'MP4 whose audio begins late': {
    file: 'l.mp4',
    video: video('25'),
    audio: tone(48_000),
    options: ['-c:v', 'mpeg4', '-af', 'aselect=gte(t\\,1.7)', ...STEREO],
  },
  'MP4 whose audio ends early': {
    file: 'm.mp4',
    video: video('25'),
    audio: tone(48_000, 2),
    options: ['-c:v', 'mpeg4', ...STEREO],
  },
  'Matroska whose video begins late': {
    file: 'n.mkv',
    video: video('25'),
    audio: tone(48_000),
    options: ['-vf', 'select=gte(t\\,1.3)', '-vsync', 'vfr', '-c:a', 'flac'],
  },
  'Matroska with a variable frame rate': {
    file: 'o.mkv',
    video: `${video('30')},select='not(mod(n\\,7)*gt(mod(n\\,5)\\,3))'`,
    options: ['-vsync', 'vfr'],
  },
  'Matroska with two languages and 5.1': {
    file: 'p.mkv',
    options: [
      ...[video('25'), tone(48_000), tone(32_000)].flatMap((source) => ['-f', 'lavfi', '-i', source]),
      ...['-map', '0', '-map', '1', '-map', '2', '-c:v', 'mpeg4', '-c:a', 'ac3', '-ac:a:1', '6'],
      ...['-metadata:s:a:1', 'language=ger'],
    ],
  },
  'transport stream with late timestamps': {
    file: 'q.ts',
    video: video('25'),
    audio: tone(48_000),
    options: ['-c:a', 'mp2', '-output_ts_offset', '5000'],
  },
  'transport stream whose clock wraps': {
    file: 'r.ts',
    video: video('25'),
    audio: tone(48_000),
    options: ['-c:a', 'aac', '-output_ts_offset', '95441.8'],
  },
  'interlaced MPEG-2': {
    file: 's.ts',
    video: video('50'),
    audio: tone(48_000),
    options: [...INTERLACED, ...TELEVISION, '-c:a', 'mp2'],
  },
  'program stream': {
    file: 't.mpg',
    video: video('25'),
    audio: tone(44_100),
    options: [...TELEVISION, '-c:a', 'mp2'],
  },
  'WebM with VP8 and Vorbis': {
    file: 'u.webm',
    video: video('25'),
    audio: tone(44_100),
    options: ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8'],
  },
  'WebM with VP9 and Opus': {
    file: 'v.webm',
    video: video('30'),
    audio: tone(48_000),
    options: ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-c:a', 'libopus'],
  },
  HEVC: {
    file: 'w.mp4',
    video: video('25', 3),
    options: ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'],
  },
  FLV: { file: 'x.flv', video: video('25'), audio: tone(44_100), options: ['-c:v', 'flv', '-c:a', 'mp3'] },
  AVI: {
    file: 'y.avi',
    video: video('25'),
    audio: tone(22_050),
    options: ['-c:v', 'mpeg4', '-bf', '0', '-c:a', 'mp3'],
  },
  'two sizes, one of them with half the frames': {
    file: 'z.mp4',
    video: `testsrc2=s=160x160:r=50:d=3,pad=720:720`,
    options: ['-c:v', 'mpeg4'],
  },
  'five frames': { file: 'still.mp4', video: video('25', 0.2), options: ['-c:v', 'mpeg4'] },
  'sound alone': { file: 'alone.m4a', audio: tone(44_100, 7), options: STEREO },
};

type Frame = { milliseconds: number; hash: string };

/** A rendition of a video that a bench has made, by its name. */
type StoredRendition = { bench: WorkerBench; videoId: string; manifest: MadeVideo; name: string };

/**
 * The decoded frames or the decoded audio of renditions, and when each is shown or heard after the first frame of the video. One run of ffmpeg
 * reads all: each start takes time.
 */
async function framesOf(renditions: readonly StoredRendition[]): Promise<Frame[][]> {
  const paths = await Promise.all(
    renditions.map(({ bench, videoId, manifest, name }) =>
      renditionFile(
        bench,
        videoId,
        manifest.renditions.find((each) => each.name === name),
      ),
    ),
  );
  const listingOf = (path: string) => `${path}.frames`;
  await ffmpeg(
    '-copyts',
    ...paths.flatMap((path) => ['-i', path]),
    // Audio is decoded in frames, each of which has a time.
    ...paths.flatMap((path, input) => [
      ...['-map', String(input), '-vsync', 'passthrough', '-enc_time_base', `1:${CLOCK_HZ}`],
      ...['-f', 'framehash', '-hash', 'murmur3', listingOf(path)],
    ]),
  );
  return Promise.all(
    renditions.map(async ({ manifest }, at) =>
      readFrames(await readFile(listingOf(paths[at] ?? ''), 'utf8'), manifest.startTimestamp),
    ),
  );
}

/** Reads lines of stream, dts, pts, duration, size and checksum. */
function readFrames(listing: string, startTimestamp: number): Frame[] {
  const lines = listing.split('\n').filter((line) => /^\d/.test(line));
  return lines.map((line) => {
    const [, , pts, , , hash = ''] = line.split(',').map((part) => part.trim());
    return { milliseconds: (1000 * (Number(pts) - startTimestamp)) / CLOCK_HZ, hash };
  });
}

test.each(Object.entries(SOURCES))(
  'both packagings have the same frames at the same times: %s',
  async (_, { file, ...clip }) => {
    const path = await makeClip(join(fragments.directory, file), clip);
    const [inStreams, inFragments] = await Promise.all([streams.transcode(path), fragments.transcode(path)]);
    await expectHlsRules(fragments, inFragments.videoId, inFragments.manifest);
    const facts = ({ renditions }: MadeVideo) =>
      renditions.map(({ segments, initialization, ...rest }) => ({
        ...rest,
        durations: segments.map(({ duration }) => duration.toFixed(3)),
      }));
    expect(facts(inFragments.manifest)).toEqual(facts(inStreams.manifest));
    expect(inFragments.manifest.iFrames?.segments.length).toBe(inStreams.manifest.iFrames?.segments.length);
    const names = inFragments.manifest.renditions.map(({ name }) => name);
    const frames = await framesOf([
      ...names.map((name) => ({ bench: fragments, ...inFragments, name })),
      ...names.map((name) => ({ bench: streams, ...inStreams, name })),
    ]);
    for (const at of names.keys()) {
      const [made = [], expected = []] = [frames[at], frames[names.length + at]];
      expect(expected.length).toBeGreaterThan(0);
      expect(made.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
      const apart = made.map(({ milliseconds }, at) =>
        Math.abs(milliseconds - (expected[at]?.milliseconds ?? 0)),
      );
      expect(Math.max(...apart)).toBeLessThan(0.1);
    }
  },
);
