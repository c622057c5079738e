import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Clip, ffmpeg, makeClip } from '../support/media.ts';
import { expectHlsRules } from './support/hls-rules.ts';
import { WorkerBench } from './support/worker-bench.ts';

jest.setTimeout(60_000);

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

/** Transcodes a file and checks what came of it against the rules of HLS. */
async function transcode(path: string): Promise<Manifest> {
  const { videoId, manifest } = await bench.transcode(path);
  await expectHlsRules(bench, videoId, manifest);
  return manifest;
}

const inBench = (name: string) => join(bench.directory, name);
const videoOf = ({ renditions }: Manifest) =>
  renditions
    .filter(({ width }) => width !== null)
    .map(({ name, width, height }) => `${name} ${width}x${height}`);
const issuesOf = ({ inputIssues }: Manifest) => inputIssues.map(({ code }) => code);

/** Name, clip, and what the result has in common with what is expected. */
const SOURCES: [string, string, Clip, object][] = [
  [
    '29.97 frames a second, short mono sound at 44.1 kHz',
    'a.mp4',
    { video: 'testsrc2=s=320x240:r=30000/1001:d=13', audio: 'sine=r=44100:d=4', options: ['-ac', '1'] },
    { source: { frameRate: 29.97 }, duration: 13.013 },
  ],
  [
    '23.976 frames a second, sound longer than the picture',
    'b.mkv',
    { video: 'testsrc2=s=320x240:r=24000/1001:d=7', audio: 'sine=d=11', options: ['-c:a', 'libopus'] },
    { source: { container: 'matroska', audioCodec: 'opus' } },
  ],
  [
    '59.94 frames a second with B-frames, no sound',
    'c.mp4',
    { video: 'testsrc2=s=320x240:r=60000/1001:d=7', options: ['-bf', '2'] },
    { inputIssues: [], renditions: [{ name: '360p' }] },
  ],
  [
    '120 frames a second',
    'd.mp4',
    { video: 'testsrc2=s=320x240:r=120:d=3' },
    { renditions: [{ frameRate: 60 }], inputIssues: [{ code: 'frame_rate_changed' }] },
  ],
  [
    'two frames a second',
    'e.mp4',
    { video: 'testsrc2=s=320x240:r=2:d=13' },
    { duration: 13, renditions: [{ frameRate: 10 }], inputIssues: [{ code: 'frame_rate_changed' }] },
  ],
  [
    'a variable frame rate',
    'f.mp4',
    {
      video: String.raw`testsrc2=s=320x240:r=30:d=9,select=not(between(mod(n\,7)\,3\,4))`,
      audio: 'sine=d=9',
      options: ['-vsync', 'vfr'],
    },
    { renditions: [{ frameRate: 25 }, {}], inputIssues: [{ code: 'frame_rate_changed' }] },
  ],
  [
    'timestamps that begin elsewhere, late sound',
    'g.ts',
    {
      video: 'testsrc2=s=320x240:r=25:d=8',
      audio: 'sine=d=7,asetpts=PTS+1/TB',
      options: ['-c:a', 'aac', '-output_ts_offset', '100'],
    },
    { source: { container: 'mpegts' } },
  ],
  [
    'interlaced pictures with oblong pixels',
    'h.ts',
    {
      video: 'testsrc2=s=720x576:r=50:d=3,interlace,setsar=16/15',
      options: ['-flags', '+ilme+ildct', '-x264opts', 'tff=1'],
    },
    {
      source: { width: 768, height: 576 },
      inputIssues: [{ code: 'interlaced' }],
      renditions: [{}, { width: 640 }],
    },
  ],
  [
    'odd sides and full colour',
    'i.mp4',
    { video: 'testsrc2=s=321x241:r=25:d=2', options: ['-pix_fmt', 'yuv444p'] },
    { renditions: [{ width: 320, height: 240 }], inputIssues: [{ code: 'chroma_subsampling' }] },
  ],
  [
    'high dynamic range',
    'j.mp4',
    {
      video: 'testsrc2=s=640x360:r=25:d=2',
      options: [
        ...['-c:v', 'libx265', '-x265-params', 'log-level=none', '-pix_fmt', 'yuv420p10le'],
        ...['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'],
      ],
    },
    { source: { videoCodec: 'hevc' }, inputIssues: [{ code: 'hdr' }, { code: 'high_bit_depth' }] },
  ],
  [
    'a recording of a browser, which declares no duration',
    'k.webm',
    {
      video: 'testsrc2=s=320x240:r=25:d=7',
      audio: 'sine=d=7',
      options: ['-c:v', 'libvpx', '-deadline', 'realtime', '-live', '1'],
    },
    { source: { videoCodec: 'vp8' } },
  ],
  [
    'surround sound in a language',
    'l.mp4',
    {
      video: 'testsrc2=s=320x240:r=25:d=2',
      audio: 'aevalsrc=sin(t*900)|0|0|0|0|0:c=5.1:d=2',
      options: ['-metadata:s:a:0', 'language=fre'],
    },
    { inputIssues: [{ code: 'audio_downmixed' }], renditions: [{}, { channels: 2, language: 'fr' }] },
  ],
];

test.each(SOURCES)('%s', async (_name, file, clip, expected) => {
  expect(await transcode(await makeClip(inBench(file), clip))).toMatchObject(expected);
});

test('a video filmed upright keeps its orientation', async () => {
  const lying = await makeClip(inBench('lying.mp4'), { video: 'testsrc2=s=854x480:r=25:d=2' });
  await ffmpeg('-i', lying, '-c', 'copy', '-metadata:s:v:0', 'rotate=90', inBench('upright.mp4'));
  const manifest = await transcode(inBench('upright.mp4'));
  expect(manifest.source).toMatchObject({ width: 480, height: 854 });
  expect(videoOf(manifest)).toEqual(['360p 360x640', '480p 480x854']);
});

test('a clock that starts over in the middle is mended', async () => {
  const clip = await makeClip(inBench('part.ts'), {
    video: 'testsrc2=s=320x240:r=25:d=5',
    audio: 'sine=d=5',
    options: ['-c:a', 'aac'],
  });
  const part = await readFile(clip);
  await writeFile(inBench('twice.ts'), Buffer.concat([part, part]));
  const { duration } = await transcode(inBench('twice.ts'));
  expect(Math.abs(duration - 10)).toBeLessThan(0.1);
});

test('a file that was cut off is delivered as far as it goes, and says so', async () => {
  const clip = await makeClip(inBench('cut.mp4'), {
    video: 'testsrc2=s=320x240:r=25:d=10',
    options: ['-movflags', '+faststart'],
  });
  await truncate(clip, Math.round((await stat(clip)).size / 2));
  const manifest = await transcode(clip);
  expect(manifest.duration).toBeLessThan(8);
  expect(issuesOf(manifest)).toEqual(['truncated']);
});
