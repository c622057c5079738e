import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fieldCodedVideo } from '../support/field-coded-video.ts';
import { ffprobe, greyFrames } from '../support/media.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

/** Vertical bars that move to the right: all lines of a field are equal, and differ from those of other fields. */
const SIZE = { width: 128, height: 96 };
const PIXELS_A_FIELD = 4;
const BAR = 32;
const luma = (x: number, field: number) => ((x - PIXELS_A_FIELD * field + 1600) % (2 * BAR) < BAR ? 200 : 50);

/** The bars at 50 fields per second. */
function movingBars(seconds: number, { width, height } = SIZE): string {
  const moving = String.raw`if(lt(mod(X-${PIXELS_A_FIELD}*N+1600\,${2 * BAR})\,${BAR})\,200\,50)`;
  return `color=s=${width}x${height}:r=50:d=${seconds},format=yuv420p,geq=lum=${moving}:cb=128:cr=128`;
}

/** One second of the bars, interlaced, top or bottom field first. */
function bars(first: 'tff' | 'bff'): string {
  return `${movingBars(1)},interlace=scan=${first}:lowpass=off`;
}

/** The mean difference between adjacent lines of all frames. */
function combing(frames: Buffer[], width: number): number {
  let [sum, count] = [0, 0];
  for (const frame of frames) {
    for (let at = width; at < frame.length; at += 1) {
      sum += Math.abs((frame[at] ?? 0) - (frame[at - width] ?? 0));
      count += 1;
    }
  }
  return sum / count;
}

/** Whether a frame shows the bars of a field, except for their edges. */
function shows(frame: Buffer, field: number, width = SIZE.width): boolean {
  const isBright = (value: number) => value > 125;
  const wrong = frame.filter((value, at) => isBright(value) !== isBright(luma(at % width, field)));
  return wrong.length < 0.06 * frame.length;
}

/** Transcodes interlaced bars, and expects progressive ones at the field rate. */
async function expectProgressive(path: string): Promise<void> {
  const { width, height } = SIZE;
  const before = await greyFrames(path, width, height);
  expect(before).toHaveLength(25);
  expect(combing(before, width)).toBeGreaterThan(5);

  const { videoId, manifest, outcome } = await transcodeByTheRules(bench, path);
  const renditions = [`360p ${width}x${height}`];
  expect(outcome).toMatchObject({ renditions, rate: 50, frames: 50 });
  expect(outcome.issues).toContain('interlaced');
  expect(outcome.issues).not.toContain('frame_rate_changed');
  expect(manifest.source.frameRate).toBeCloseTo(25, 1);
  const output = await renditionFile(bench, videoId, manifest.renditions[0]);
  const after = await greyFrames(output, width, height);
  expect(combing(after, width)).toBeLessThan(1);
  // Each field becomes a frame.
  const wrong = after.flatMap((frame, at) => (shows(frame, at) ? [] : [at]));
  expect(wrong).toEqual([]);
}

const INTERLACED = ['-flags', '+ildct+ilme'];
const UPPER = ['-top', '1'];
const LOWER = ['-top', '0'];

test.each([
  ['H.264 in MP4', 'upper.mp4', 'tff', UPPER],
  ['H.264 in MP4, bottom field first', 'lower.mp4', 'bff', LOWER],
  ['H.264 in Matroska, bottom field first', 'lower.mkv', 'bff', LOWER],
  ['H.264 in a transport stream', 'upper.ts', 'tff', UPPER],
  ['MPEG-2 in QuickTime', 'upper.mov', 'tff', ['-c:v', 'mpeg2video', '-q:v', '2', ...UPPER]],
  ['MPEG-4 in AVI', 'upper.avi', 'tff', ['-c:v', 'mpeg4', '-q:v', '2', ...UPPER]],
  ['ProRes', 'upper-prores.mov', 'tff', ['-c:v', 'prores_ks', '-pix_fmt', 'yuv420p10le', ...UPPER]],
] as const)('interlaced %s is deinterlaced', async (_, file, first, options) => {
  await expectProgressive(
    await makeClip(inBench(file), { video: bars(first), options: [...INTERLACED, ...options] }),
  );
});

test.each([
  ['a transport stream', 'fields.ts', 'upper'],
  ['a transport stream, bottom field first', 'lower-fields.ts', 'lower'],
  ['Matroska', 'fields.mkv', 'lower'],
  ['MP4', 'fields.mp4', 'upper'],
] as const)('separately coded fields of H.264 in %s are paired into frames', async (_, file, first) => {
  const stream = inBench(`${file}.264`);
  await writeFile(stream, fieldCodedVideo({ ...SIZE, frames: 25, first, luma }));
  const inStream = inBench(`${file}.ts`);
  const makeAt = (rate: string) =>
    ffmpeg('-f', 'h264', '-framerate', rate, '-i', stream, '-c', 'copy', inStream);
  await makeAt('25');
  const { format } = await ffprobe<{ format: { duration: string } }>('-show_format', inStream);
  // From version 7 on, ffmpeg takes the rate as that of fields.
  if (Number(format.duration) > 1.5) await makeAt('50');
  await ffmpeg('-i', inStream, '-c', 'copy', inBench(file));
  await expectProgressive(inBench(file));
});

test('lower renditions of a fast video have every second frame', async () => {
  const size = { width: 720, height: 720 };
  const path = await makeClip(inBench('large.mp4'), {
    video: `${movingBars(1, size)},interlace=scan=tff:lowpass=off`,
    options: [...INTERLACED, ...UPPER],
  });
  const { videoId, manifest, outcome } = await transcodeByTheRules(bench, path);
  expect(outcome).toMatchObject({ rate: 50, frames: 50, issues: ['interlaced'] });
  expect(manifest.renditions.map(({ name, frameRate }) => [name, frameRate])).toEqual([
    ['360p', 25],
    ['480p', 25],
    ['720p', 50],
  ]);
  const [, , top] = manifest.renditions;
  const frames = await greyFrames(await renditionFile(bench, videoId, top), size.width, size.height);
  expect(frames.flatMap((frame, at) => (shows(frame, at, size.width) ? [] : [at]))).toEqual([]);
});

test.each(['ts', 'mkv'])(
  'a recording in %s that changes to interlaced is deinterlaced from there on',
  async (kind) => {
    const options = ['-c:v', 'mpeg2video', '-q:v', '2'];
    const film = await makeClip(inBench('film.ts'), { video: `${movingBars(6)},fps=25`, options });
    const news = await makeClip(inBench('news.ts'), {
      video: bars('tff'),
      options: [...options, ...INTERLACED, ...UPPER],
    });
    await writeFile(inBench('evening.ts'), Buffer.concat([await readFile(film), await readFile(news)]));
    await ffmpeg('-i', inBench('evening.ts'), '-c', 'copy', inBench(`recorded.${kind}`));
    const { videoId, manifest, outcome } = await transcodeByTheRules(bench, inBench(`recorded.${kind}`));
    expect(outcome).toMatchObject({ rate: 25, frames: 175 });
    const output = await renditionFile(bench, videoId, manifest.renditions[0]);
    const frames = await greyFrames(output, SIZE.width, SIZE.height);
    expect(combing(frames.slice(-20), SIZE.width)).toBeLessThan(1);
  },
);
