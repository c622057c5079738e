/** Short clips in every accepted codec, each in its usual container. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RenditionManifest } from '@framelane/contracts/manifest';
import { makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PRESETS } from '../../src/encoders/encoder.ts';
import { isAudioCodecAccepted, isVideoCodecAccepted } from '../../src/source/whitelist.ts';
import { ffmpegReport, firstFrameAndSamples } from '../support/media.ts';
import { coloursOf, nameOf, QUARTERS, quartered } from '../support/quarters.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { StereoMeter } from '../support/stereo-meter.ts';
import { telephoneSpeech } from '../support/telephone-speech.ts';
import { transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

/** A size that every codec supports; H.263 has only a few. */
const SIZE = { width: 352, height: 288 };
const TONE_HERTZ = 1000;

/** Container names by file extension. */
const CONTAINERS = {
  mp4: 'mp4',
  '3gp': 'mp4',
  mov: 'mov',
  mkv: 'matroska',
  webm: 'matroska',
  ogv: 'ogg',
  ts: 'mpegts',
  m2ts: 'mpegts',
  mpg: 'mpeg',
  vob: 'mpeg',
  avi: 'avi',
  flv: 'flv',
  wmv: 'asf',
  mxf: 'mxf',
};

type Facts = { size?: typeof SIZE; renditions?: string[]; rate?: number; frames?: number; issues?: string[] };

const HEVC = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'];
const AV1 = ['-c:v', 'libaom-av1', '-cpu-used', '8', '-usage', 'realtime'];
const VP9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'];
const VP8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '16'];
const PRORES = ['-c:v', 'prores_ks', '-pix_fmt', 'yuv422p10le'];
const DNXHD = ['-c:v', 'dnxhd', '-profile:v', 'dnxhr_sq', '-pix_fmt', 'yuv422p'];
/** The encoder writes nothing for frames equal to their predecessor, so noise is added. */
const THEORA = ['-vf', 'noise=c0s=20:c0f=t', '-c:v', 'libtheora', '-q:v', '7'];
const DV = ['-vf', 'setsar=16/15', '-c:v', 'dvvideo'];

const CODECS: [
  video: string,
  audio: string,
  kind: keyof typeof CONTAINERS,
  options: string[],
  facts?: Facts,
][] = [
  ['h264', 'aac', 'mp4', ['-c:a', 'aac']],
  ['h264', 'alac', 'mov', ['-c:a', 'alac']],
  ['h264', 'eac3', 'ts', ['-c:a', 'eac3']],
  ['h264', 'pcm_s32le', 'mov', ['-c:a', 'pcm_s32le']],
  ['h264', 'pcm_f32le', 'mkv', ['-c:a', 'pcm_f32le']],
  ['h264', 'pcm_s32be', 'mov', ['-c:a', 'pcm_s32be']],
  ['h264', 'pcm_f32be', 'mov', ['-c:a', 'pcm_f32be']],
  ['h264', 'pcm_f64le', 'mov', ['-c:a', 'pcm_f64le']],
  ['h264', 'pcm_f64be', 'mov', ['-c:a', 'pcm_f64be']],
  ['h264', 'pcm_s8', 'mov', ['-c:a', 'pcm_s8']],
  ['h264', 'adpcm_ima_qt', 'mov', ['-c:a', 'adpcm_ima_qt']],
  ['h264', 'pcm_bluray', 'm2ts', ['-mpegts_m2ts_mode', '1', '-ac', '2', '-c:a', 'pcm_bluray']],
  ['h264', 'aac_latm', 'ts', ['-c:a', 'aac', '-mpegts_flags', 'latm']],
  ['h264', 'dts', 'mkv', ['-c:a', 'dca', '-strict', '-2']],
  ['h264', 'truehd', 'mkv', ['-c:a', 'truehd', '-strict', '-2']],
  ['hevc', 'ac3', 'mp4', [...HEVC, '-c:a', 'ac3']],
  ['av1', 'opus', 'mp4', [...AV1, '-c:a', 'libopus']],
  ['vp9', 'opus', 'webm', [...VP9, '-c:a', 'libopus']],
  ['vp8', 'vorbis', 'webm', [...VP8, '-c:a', 'libvorbis']],
  ['theora', 'flac', 'ogv', [...THEORA, '-c:a', 'flac']],
  ['mpeg1video', 'mp2', 'mpg', ['-c:v', 'mpeg1video', '-c:a', 'mp2']],
  ['mpeg2video', 'ac3', 'mpg', ['-c:v', 'mpeg2video', '-c:a', 'ac3']],
  // The second packet is empty, and counts as a frame.
  ['mpeg4', 'mp3', 'avi', ['-c:v', 'mpeg4', '-c:a', 'libmp3lame'], { frames: 26 }],
  ['msmpeg4v3', 'pcm_u8', 'avi', ['-c:v', 'msmpeg4', '-c:a', 'pcm_u8']],
  ['msmpeg4v2', 'adpcm_ms', 'avi', ['-c:v', 'msmpeg4v2', '-c:a', 'adpcm_ms']],
  ['wmv1', 'wmav1', 'wmv', ['-c:v', 'wmv1', '-c:a', 'wmav1']],
  ['wmv2', 'wmav2', 'wmv', ['-c:v', 'wmv2', '-c:a', 'wmav2']],
  ['mpeg2video', 'pcm_dvd', 'vob', ['-c:v', 'mpeg2video', '-ac', '2', '-c:a', 'pcm_dvd', '-f', 'dvd']],
  ['mjpeg', 'adpcm_ima_wav', 'avi', ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-c:a', 'adpcm_ima_wav']],
  ['mpeg2video', 'pcm_s16le', 'mxf', ['-c:v', 'mpeg2video', '-c:a', 'pcm_s16le']],
  ['jpeg2000', 'pcm_s24le', 'mxf', ['-c:v', 'jpeg2000', '-pix_fmt', 'yuv420p', '-c:a', 'pcm_s24le']],
  [
    'cfhd',
    'pcm_s24le',
    'mov',
    ['-c:v', 'cfhd', '-pix_fmt', 'yuv422p10le', '-c:a', 'pcm_s24le'],
    { issues: ['high_bit_depth', 'chroma_subsampling'] },
  ],
  ['h263', 'aac', '3gp', ['-c:v', 'h263', '-c:a', 'aac']],
  ['flv1', 'pcm_alaw', 'flv', ['-c:v', 'flv1', '-c:a', 'pcm_alaw', '-ar', '8000']],
  ['mjpeg', 'pcm_mulaw', 'mov', ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-c:a', 'pcm_mulaw']],
  [
    'prores',
    'pcm_s24le',
    'mov',
    [...PRORES, '-c:a', 'pcm_s24le'],
    { issues: ['high_bit_depth', 'chroma_subsampling'] },
  ],
  [
    'prores',
    'pcm_s16be',
    'mov',
    [...PRORES, '-c:a', 'pcm_s16be'],
    { issues: ['high_bit_depth', 'chroma_subsampling'] },
  ],
  ['dnxhd', 'pcm_s24be', 'mov', [...DNXHD, '-c:a', 'pcm_s24be'], { issues: ['chroma_subsampling'] }],
  [
    'dvvideo',
    'pcm_s16le',
    'avi',
    [...DV, '-c:a', 'pcm_s16le'],
    {
      size: { width: 720, height: 576 },
      renditions: ['360p 480x360', '480p 640x480'],
      rate: 50,
      frames: 50,
      issues: ['interlaced'],
    },
  ],
];

test.each(CODECS)('%s and %s in %s', async (video, audio, kind, options, facts = {}) => {
  const { size = SIZE, ...expected } = facts;
  const clip = await makeClip(inBench(`${video}-${audio}.${kind}`), {
    video: quartered(1, size),
    audio: `sine=f=${TONE_HERTZ}:r=48000:d=1`,
    options,
  });
  const { videoId, manifest, outcome } = await transcodeByTheRules(bench, clip);
  const container = CONTAINERS[kind];
  expect(manifest.source).toMatchObject({ container, videoCodec: video, audioCodec: audio });
  expect(outcome).toEqual({
    renditions: ['360p 352x288'],
    rate: 25,
    frames: 25,
    audio: true,
    issues: [],
    ...expected,
  });
  const [lowest, last] = [manifest.renditions.at(0), manifest.renditions.at(-1)];
  const [frame, samples] = await firstFrameAndSamples(
    await renditionFile(bench, videoId, lowest),
    await renditionFile(bench, videoId, last),
  );
  expect(coloursOf(frame, lowest as RenditionManifest).map(nameOf)).toEqual(QUARTERS);
  const ears = new StereoMeter(samples);
  for (const [ear, tone] of ears.tone(TONE_HERTZ).entries()) {
    expect(tone).toBeGreaterThan(0.05);
    expect(tone / (ears.loudness()[ear] ?? 0)).toBeGreaterThan(0.9);
  }
});

test.each(['amr_nb', 'amr_wb'] as const)('%s of a phone', async (audio) => {
  await writeFile(inBench(audio), telephoneSpeech(audio, 1));
  const video = await makeClip(inBench(`${audio}.avi`), {
    video: quartered(1, SIZE),
    options: ['-c:v', 'h263'],
  });
  await ffmpeg('-i', video, '-i', inBench(audio), '-c', 'copy', inBench(`${audio}.3gp`));
  const { videoId, manifest, outcome } = await transcodeByTheRules(bench, inBench(`${audio}.3gp`));
  expect(manifest.source).toMatchObject({ videoCodec: 'h263', audioCodec: audio });
  expect(outcome).toMatchObject({ frames: 25, audio: true });
  const ears = await StereoMeter.open(await renditionFile(bench, videoId, manifest.renditions.at(-1)));
  expect(Math.min(...ears.loudness())).toBeGreaterThan(0.05);
});

/** For the rungs of a 1080p video at 60 frames a second: the level, and the frames that it lets a decoder store. */
const LEVELS = [
  { level: 30, maxFrames: 8 },
  { level: 31, maxFrames: 11 },
  { level: 32, maxFrames: 5 },
  { level: 42, maxFrames: 4 },
];

test.each(PRESETS)('the preset %s stays within the H.264 level of the rung', async (preset) => {
  const presetBench = await WorkerBench.start({ preset });
  try {
    const clip = await makeClip(inBench('level.mp4'), {
      video: 'testsrc2=s=1920x1080:r=60:d=0.1',
      options: ['-c:v', 'mpeg4'],
    });
    const { videoId, manifest } = await transcodeByTheRules(presetBench, clip);
    const levels = LEVELS.map(({ level }) => level);
    expect(manifest.renditions.map(({ codecs }) => Number.parseInt(codecs.slice(-2), 16))).toEqual(levels);
    // x264 declares the level that it is given, even if the stream exceeds it.
    const files = await Promise.all(
      manifest.renditions.map((each) => renditionFile(presetBench, videoId, each)),
    );
    const headers = await ffmpegReport(
      ...files.flatMap((file) => ['-i', file]),
      ...files.flatMap((_, at) => ['-map', `${at}`]),
      ...['-c', 'copy', '-bsf:v', 'trace_headers'],
    );
    const parameterSets = headers.matchAll(/ level_idc .* = (\d+)|max_dec_frame_buffering .* = (\d+)/g);
    const stored = new Map<number, number>();
    let current = 0;
    for (const [, level, frames] of parameterSets) {
      if (level === undefined) stored.set(current, Number(frames));
      else current = Number(level);
    }
    expect([...stored.keys()].sort()).toEqual(levels);
    for (const { level, maxFrames } of LEVELS) expect(stored.get(level)).toBeLessThanOrEqual(maxFrames);
  } finally {
    await presetBench.stop();
  }
});

/** ffmpeg has no encoders for these. */
const WITHOUT_CLIP = ['wmv3', 'vc1', 'wmapro'];

test('every accepted codec has a test', async () => {
  const { stdout } = await promisify(execFile)('ffmpeg', ['-v', 'error', '-codecs']);
  const known = [...stdout.matchAll(/^ D\S{5} (\S+)/gm)].map(([, name = '']) => name);
  const accepted = known.filter((name) => isVideoCodecAccepted(name) || isAudioCodecAccepted(name));
  const tried = new Set(
    CODECS.map(([video]) => video).concat(
      CODECS.map(([, audio]) => audio),
      ...['amr_nb', 'amr_wb', ...WITHOUT_CLIP],
    ),
  );
  expect(accepted.sort()).toEqual([...tried].sort());
});
