import { createCipheriv } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredTrack } from '@framelane/contracts/internal-api';
import { CLOCK_HZ } from '@framelane/contracts/manifest';
import { type DownloadWork, downloadExtension } from '@framelane/contracts/outputs/download';
import { PACKAGINGS, type PackagingName } from '@framelane/contracts/packaging';
import type { TrackRendition } from '@framelane/contracts/renditions';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fetchTrack } from '../../src/outputs/stored-tracks.ts';
import { TEST_PACKAGING } from '../support/packaging.ts';
import { TaskBench, type TaskVideo } from '../support/task-bench.ts';

const SECONDS = 14;
const zeroOf = (packaging: PackagingName) => PACKAGINGS[packaging].startTimestamp / CLOCK_HZ;
const ZERO = zeroOf(TEST_PACKAGING);
const TITLE = 'Tage & "Nächte" = 1; #2\\3';

const CHAPTERS = [
  { start: 0, title: 'Begin' },
  { start: 6.25, title: 'Ende = 2;' },
];

let bench: TaskBench;
let video: TaskVideo;
let tracks: StoredTrack[];

/** A video in pieces with B-frames and two languages. The audio of the second begins later. */
beforeAll(async () => {
  bench = await TaskBench.start();
  const clip = await makeClip(join(bench.directory, 'clip.mkv'), {
    options: [
      ...['-f', 'lavfi', '-i', `testsrc2=s=640x360:r=25:d=${SECONDS}`],
      ...['-f', 'lavfi', '-i', `sine=440:r=48000:d=${SECONDS}`],
      ...['-itsoffset', '1.5', '-f', 'lavfi', '-i', `sine=880:r=44100:d=${SECONDS - 3}`],
      ...['-map', '0', '-map', '1', '-map', '2', '-g', '50', '-bf', '2', '-pix_fmt', 'yuv420p'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'],
      ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=ger'],
    ],
  });
  ({ video } = await bench.transcode(clip, 4, false));
  const [picture, first, second] = await bench.tracks(video.videoId, ['360p', 'audio', 'audio2']);
  tracks = [
    picture as StoredTrack,
    { ...(first as StoredTrack), language: 'en', label: 'English' },
    { ...(second as StoredTrack), language: 'de', label: 'Deutsch, "live"' },
  ];
});
afterAll(() => bench.stop());

const work = (
  name: DownloadWork['name'],
  renditions: TrackRendition[],
  inside: Pick<DownloadWork, 'title' | 'chapters'> = { title: TITLE, chapters: CHAPTERS },
): DownloadWork => ({ kind: 'download', name, renditions, ...inside });

/** Makes a download, and resolves with the path of the file and its size. */
async function download(
  name: DownloadWork['name'],
  of = tracks,
  inside?: Pick<DownloadWork, 'title' | 'chapters'>,
): Promise<{ path: string; bytes: number }> {
  const { result, prefix } = await bench.derive(video, {
    work: work(
      name,
      of.map((track) => track.name),
      inside,
    ),
    tracks: of,
    duration: SECONDS,
  });
  const file = `download.${downloadExtension(name)}`;
  const path = join(bench.directory, `${name}-${of.length}-${file}`);
  await rm(path, { force: true });
  await bench.objects.fetchToFile(`${prefix}${file}`, path, new AbortController().signal);
  expect(result).toEqual({
    download: { name, bytes: (await bench.objects.head(`${prefix}${file}`))?.bytes },
  });
  return { path, bytes: result.download?.bytes ?? 0 };
}

/** The decrypted segments of a rendition in one file. */
async function decrypted(track: StoredTrack): Promise<string> {
  const path = join(bench.directory, `${track.name}.ts`);
  const { objects, packaging, contentKey } = bench;
  const signal = new AbortController().signal;
  await fetchTrack(track, path, { objects, packaging, contentKey, signal, onFetched: () => {} });
  return path;
}

/** The decoded frames of a stream: when each is shown, in milliseconds after `zero`, and its checksum. */
async function frames(path: string, zero: number): Promise<string[]> {
  const { stdout } = await runProgram('ffmpeg', [
    ...['-v', 'error', '-copyts', '-i', path, '-map', '0:v', '-vsync', 'passthrough'],
    ...['-enc_time_base', '1:90000', '-f', 'framemd5', '-'],
  ]);
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, , pts, , , hash] = line.split(',').map((part) => part.trim());
      return `${Math.round((Number(pts) / 90 - zero * 1000) * 1000) / 1000} ${hash}`;
    });
}

/** The checksum of the decoded samples of an audio stream from `zero` on. */
async function samples(path: string, stream: number, zero: number): Promise<string> {
  const { stdout } = await runProgram('ffmpeg', [
    ...['-v', 'error', '-copyts', '-i', path, '-map', `0:a:${stream}`, '-af', `atrim=start=${zero}`],
    ...['-f', 'hash', '-hash', 'md5', '-'],
  ]);
  return stdout.trim();
}

async function probe(path: string, entries: string) {
  const { stdout } = await runProgram('ffprobe', [
    '-v',
    'error',
    '-show_entries',
    entries,
    '-of',
    'json',
    path,
  ]);
  return JSON.parse(stdout);
}

describe('a download', () => {
  test('has every frame and every sample of the renditions, at the same times', async () => {
    const { path } = await download('highest');
    const [picture, ...sounds] = tracks as [StoredTrack, StoredTrack, StoredTrack];
    expect(picture.places.length).toBeGreaterThan(1);
    const expected = await frames(await decrypted(picture), ZERO);
    expect(expected).toHaveLength(SECONDS * 25);
    expect(expected[0]).toMatch(/^0 /);
    expect(await frames(path, 0)).toEqual(expected);
    for (const [at, sound] of sounds.entries())
      expect(await samples(path, at, 0)).toBe(await samples(await decrypted(sound), 0, ZERO));
  });

  test('says its title, and the language and the name of each audio track', async () => {
    const { path } = await download('highest');
    expect(
      await probe(
        path,
        'format_tags=title:stream=codec_name:stream_tags=language,handler_name:stream_disposition=default',
      ),
    ).toMatchObject({
      format: { tags: { title: TITLE } },
      streams: [
        { codec_name: 'h264' },
        {
          codec_name: 'aac',
          disposition: { default: 1 },
          tags: { language: 'eng', handler_name: 'English' },
        },
        { disposition: { default: 0 }, tags: { language: 'deu', handler_name: 'Deutsch, "live"' } },
        // The titles of the chapters.
        { codec_name: 'bin_data' },
      ],
    });
  });

  test('has the chapters of the video', async () => {
    const { path } = await download('highest');
    expect(await probe(path, 'chapter=start_time,end_time:chapter_tags=title')).toMatchObject({
      chapters: [
        { start_time: '0.000000', end_time: '6.250000', tags: { title: 'Begin' } },
        { start_time: '6.250000', end_time: '14.000000', tags: { title: 'Ende = 2;' } },
      ],
    });
  });

  test('has all chapters, whatever their number, titles and times', async () => {
    const chapters = Array.from({ length: 300 }, (_, at) => ({ start: (at + 1) / 30, title: `${at} \\` }));
    const { path } = await download('audio', tracks.slice(1, 2), { title: 'ends with \\', chapters });
    const read = await probe(path, 'format_tags=title:chapter=start_time:chapter_tags=title');
    expect(read.format.tags.title.trim()).toBe('ends with \\');
    const found = read.chapters.map(
      ({ start_time, tags }: { start_time: string; tags: { title: string } }) => [
        Number(start_time).toFixed(3),
        tags.title.trim(),
      ],
    );
    expect(found).toEqual([['0.000', ''], ...chapters.map(({ start, title }) => [start.toFixed(3), title])]);
    const { stderr } = await runProgram('ffprobe', ['-v', 'trace', path]);
    expect(stderr).not.toContain("type:'chpl'");
  });

  test('begins with its index, so that it can be played while it is fetched', async () => {
    const { path } = await download('highest');
    const { stderr } = await runProgram('ffprobe', ['-v', 'trace', path]);
    const boxes = [...stderr.matchAll(/type:'(\w{4})' parent:'root'/g)].map(([, type]) => type);
    expect(boxes.indexOf('moov')).toBeGreaterThan(0);
    expect(boxes.indexOf('moov')).toBeLessThan(boxes.indexOf('mdat'));
  });

  test('of the audio alone has all languages', async () => {
    const { path } = await download('audio', tracks.slice(1));
    expect(await probe(path, 'format_tags=major_brand:stream=codec_type')).toMatchObject({
      format: { tags: { major_brand: 'M4A ' } },
      streams: [{ codec_type: 'audio' }, { codec_type: 'audio' }, { codec_type: 'data' }],
    });
  });
});

describe('a download of CMAF', () => {
  beforeAll(() => {
    bench.packaging = 'cmaf';
  });
  afterAll(() => {
    bench.packaging = TEST_PACKAGING;
  });

  test('has every frame and every sample', async () => {
    const clip = await makeClip(join(bench.directory, 'short.mkv'), {
      video: 'testsrc2=s=160x90:r=25:d=10',
      audio: 'sine=440:r=48000:d=10',
      options: ['-g', '25', '-bf', '2', '-c:a', 'aac'],
    });
    const { video: short } = await bench.transcode(clip, 4, false);
    const [picture, sound] = await bench.tracks(short.videoId, ['360p', 'audio']);
    const { path } = await download('360p', [picture, sound] as StoredTrack[]);
    const zero = zeroOf(bench.packaging);
    const expected = await frames(await decrypted(picture as StoredTrack), zero);
    expect(expected).toHaveLength(250);
    expect(expected[0]).toMatch(/^0 /);
    expect(await frames(path, 0)).toEqual(expected);
    expect(await samples(path, 0, 0)).toBe(await samples(await decrypted(sound as StoredTrack), 0, zero));
  });
});

describe('a download fails', () => {
  const derive = (of: StoredTrack[]) =>
    bench.derive(video, { work: work('360p', ['360p']), tracks: of, duration: SECONDS });

  test('if a segment is missing, and leaves no directory', async () => {
    const [picture] = tracks as [StoredTrack];
    const jobs = async () =>
      (await readdir(join(bench.directory, 'work'))).filter((name) => name.startsWith('job-'));
    await expect(derive([{ ...picture, segmentBytes: [...picture.segmentBytes, 1] }])).rejects.toMatchObject({
      code: 'storage_failed',
      retryable: true,
    });
    expect(await jobs()).toEqual([]);
  });

  test('if the segments are not video', async () => {
    const [picture] = tracks as [StoredTrack];
    const prefix = 'hls/ws_x/vid_x/a1/t1.1/';
    const cipher = createCipheriv('aes-128-cbc', bench.contentKey, Buffer.alloc(16));
    const body = Buffer.concat([cipher.update(Buffer.alloc(5000)), cipher.final()]);
    await bench.objects.put(segmentKeyBelow(prefix, '360p', 0, bench.packaging), body, 'video/mp2t');
    const odd = { ...picture, segmentBytes: [body.length], places: [{ firstSegment: 0, prefix }] };
    await expect(derive([odd])).rejects.toMatchObject({ name: 'TranscodeFailure', retryable: false });
  });
});
