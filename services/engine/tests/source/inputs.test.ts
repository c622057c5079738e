import { join } from 'node:path';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Outcome, transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const transcode = (path: string) => transcodeByTheRules(bench, path);

const SMALL = 'testsrc2=s=160x120';
const TONE = 'sine=d=2';
const CODED = {
  hevc: ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'],
  vp9: ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'],
  interlaced: ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '3M'],
};

/** Files as people upload them: name, file, clip, the expected output, and what is expected of the source. */
const INPUTS: [name: string, file: string, clip: Clip, expected: Partial<Outcome>, source?: object][] = [
  // Frame size.
  [
    'portrait video',
    'portrait.mp4',
    { video: 'testsrc2=s=480x854:r=25:d=1' },
    { renditions: ['360p 360x640', '480p 480x854'], frames: 25 },
  ],
  [
    'video below the lowest rung, with odd sides and 4:4:4',
    'odd.mp4',
    { video: 'testsrc=s=321x241:r=25:d=1', options: ['-pix_fmt', 'yuv444p'] },
    { renditions: ['360p 320x240'], issues: ['chroma_subsampling'] },
  ],
  [
    'odd sides above a rung',
    'odd-large.webm',
    { video: 'testsrc=s=853x481:r=25:d=1', options: CODED.vp9 },
    { renditions: ['360p 638x360', '480p 852x480'] },
  ],
  [
    'video of 16×16 pixels',
    'tiny.mp4',
    { video: 'testsrc2=s=16x16:r=25:d=1' },
    { renditions: ['360p 16x16'], frames: 25 },
  ],
  [
    'video of 2×2 pixels in a container that may change to interlaced',
    'smallest.mkv',
    { video: 'testsrc2=s=2x2:r=25:d=1' },
    { renditions: ['360p 2x2'], frames: 25 },
  ],
  [
    'video of 4×400 pixels in a container that may change to interlaced',
    'column.mkv',
    { video: 'testsrc2=s=4x400:r=25:d=1' },
    { renditions: ['360p 4x400'], frames: 25 },
  ],
  [
    'video of 2000×48 pixels',
    'stripe.mp4',
    { video: 'testsrc2=s=2000x48:r=25:d=1' },
    { renditions: ['360p 2000x48'] },
  ],
  [
    'non-square pixels',
    'wide-pixels.mp4',
    { video: 'testsrc2=s=480x360:r=25:d=1,setsar=4/3' },
    { renditions: ['360p 640x360'] },
    { width: 640, height: 360 },
  ],
  [
    'nearly square pixels',
    'trace.mp4',
    { video: 'testsrc2=s=854x480:r=25:d=1,setsar=r=1281/1280:max=2000' },
    { renditions: ['360p 640x360', '480p 854x480'] },
    { width: 854, height: 480 },
  ],
  [
    'interlaced video, top field first, with non-square pixels',
    'upper.ts',
    {
      video: 'testsrc2=s=720x576:r=50:d=2,interlace=scan=tff,setsar=16/15',
      options: [...CODED.interlaced, '-top', '1'],
    },
    { renditions: ['360p 480x360', '480p 640x480'], rate: 50, frames: 100, issues: ['interlaced'] },
    { width: 768, height: 576, videoCodec: 'mpeg2video' },
  ],
  [
    'interlaced video, bottom field first',
    'lower.mpg',
    {
      video: 'testsrc2=s=720x480:r=60000/1001:d=2,interlace=scan=bff',
      options: [...CODED.interlaced, '-top', '0'],
    },
    { renditions: ['360p 540x360', '480p 720x480'], rate: 59.94, frames: 120, issues: ['interlaced'] },
    { container: 'mpeg' },
  ],

  // Timing.
  [
    '29.97 frames per second, short mono audio at 44.1 kHz',
    'ntsc.mp4',
    { video: `${SMALL}:r=30000/1001:d=13`, audio: 'sine=r=44100:d=4', options: ['-ac', '1'] },
    { rate: 29.97, frames: 390, audio: true },
  ],
  [
    '23.976 frames per second, audio longer than the video',
    'film.mkv',
    { video: `${SMALL}:r=24000/1001:d=7`, audio: 'sine=d=11', options: ['-c:a', 'libopus'] },
    { rate: 23.976, frames: 168, audio: true },
    { container: 'matroska', audioCodec: 'opus', frameRate: 23.976 },
  ],
  [
    '8 frames per second',
    'slow.mp4',
    { video: `${SMALL}:r=8:d=7` },
    { rate: 16, frames: 112, issues: ['frame_rate_changed'] },
  ],
  [
    '2 frames per second',
    'slower.mp4',
    { video: `${SMALL}:r=2:d=7` },
    { rate: 10, frames: 70, issues: ['frame_rate_changed'] },
  ],
  ['60 frames per second', 'fast.mp4', { video: `${SMALL}:r=60:d=3` }, { rate: 60, frames: 180 }],
  [
    '59.94 frames per second with B-frames',
    'fast-ntsc.mp4',
    { video: `${SMALL}:r=60000/1001:d=7`, options: ['-bf', '2'] },
    { rate: 59.94, frames: 420 },
  ],
  [
    '120 frames per second',
    'faster.mp4',
    { video: `${SMALL}:r=120:d=2` },
    { rate: 60, frames: 120, issues: ['frame_rate_changed'] },
  ],
  [
    '240 frames per second',
    'fastest.mp4',
    { video: `${SMALL}:r=240:d=1` },
    { rate: 60, frames: 60, issues: ['frame_rate_changed'] },
  ],
  [
    'a variable frame rate',
    'variable.mp4',
    {
      video: String.raw`${SMALL}:r=30:d=9,select=not(between(mod(n\,7)\,3\,4))`,
      audio: 'sine=d=9',
      options: ['-vsync', 'vfr'],
    },
    { rate: 30, frames: 269, audio: true, issues: ['frame_rate_changed'] },
  ],
  [
    'an odd number of frames at a high frame rate',
    'halved.mp4',
    // Most of the frame is black, which takes little time to encode.
    { video: 'testsrc2=s=160x160:r=99/2:d=6.95,pad=720:720' },
    { renditions: ['360p 360x360', '480p 480x480', '720p 720x720'], rate: 49.5, frames: 345 },
  ],
  [
    'jittering timestamps, as of phones',
    'jitter.mp4',
    {
      video: `${SMALL}:r=30:d=6,settb=1/90000,setpts=PTS+(random(0)-0.5)*0.02/TB`,
      options: ['-vsync', 'passthrough', '-enc_time_base', '1:90000', '-video_track_timescale', '90000'],
    },
    // The last frame has nearly no duration.
    { rate: 30, frames: 179 },
  ],
  [
    'a fifth of a second',
    'blink.mp4',
    { video: `${SMALL}:r=25:d=0.2`, audio: 'sine=d=0.2' },
    { frames: 5, audio: true },
  ],
  [
    'a fifth of a second without audio',
    'blink.webm',
    { video: `${SMALL}:r=25:d=0.2`, options: CODED.vp9 },
    { frames: 5 },
  ],
  [
    'timestamps that do not begin at zero, late audio',
    'offset.ts',
    {
      video: `${SMALL}:r=25:d=8`,
      audio: 'sine=d=7',
      options: ['-c:a', 'aac', '-af', 'asetpts=PTS+1/TB', '-output_ts_offset', '100'],
    },
    { rate: 25, frames: 200, audio: true },
    { container: 'mpegts' },
  ],
  [
    'a program stream with B-frames whose last packet has no presentation timestamp',
    'b-frames.mpg',
    { video: `${SMALL}:r=25:d=4`, options: ['-c:v', 'mpeg2video', '-bf', '2'] },
    { rate: 25, frames: 100 },
    { container: 'mpeg' },
  ],

  // Colours.
  [
    '10-bit HEVC',
    'ten-bit.mp4',
    { video: `${SMALL}:r=25:d=1`, options: [...CODED.hevc, '-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1'] },
    { frames: 25, issues: ['high_bit_depth'] },
    { videoCodec: 'hevc' },
  ],
  [
    'full-range video, as cameras write it',
    'camera.avi',
    { video: `${SMALL}:r=25:d=1`, options: ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj422p'] },
    { frames: 25, issues: ['chroma_subsampling'] },
    { container: 'avi', videoCodec: 'mjpeg' },
  ],

  // Containers; for codecs see codecs.test.ts.
  [
    'a recording of a browser without a declared duration',
    'browser.webm',
    {
      video: `${SMALL}:r=25:d=7`,
      audio: 'sine=d=7',
      options: ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '16', '-live', '1'],
    },
    { frames: 175, audio: true },
    { videoCodec: 'vp8' },
  ],
  [
    'a transport stream of a broadcaster',
    'broadcast.ts',
    { video: `${SMALL}:r=25:d=2`, audio: TONE, options: ['-c:a', 'ac3'] },
    { frames: 50, audio: true },
    { container: 'mpegts', videoCodec: 'h264', audioCodec: 'ac3' },
  ],
  [
    'FLV with H.264',
    'newer.flv',
    { video: `${SMALL}:r=25:d=2`, audio: TONE, options: ['-c:a', 'aac'] },
    { frames: 50, audio: true },
    { container: 'flv', videoCodec: 'h264' },
  ],
  [
    'a fragmented MP4',
    'fragments.mp4',
    {
      video: `${SMALL}:r=25:d=5`,
      audio: 'sine=d=5',
      options: ['-g', '25', '-c:a', 'aac', '-movflags', '+frag_keyframe+delay_moov+default_base_moof'],
    },
    { frames: 125, audio: true },
    { container: 'mp4' },
  ],
  [
    'an index at the beginning',
    'index-first.mp4',
    { video: `${SMALL}:r=25:d=2`, audio: TONE, options: ['-movflags', '+faststart'] },
    { frames: 50, audio: true },
  ],
  [
    'an index at the end',
    'index-last.mov',
    { video: `${SMALL}:r=25:d=2`, audio: TONE },
    { frames: 50, audio: true },
    { container: 'mov' },
  ],

  // Audio.
  [
    'surround audio with a language',
    'surround.mp4',
    {
      video: `${SMALL}:r=25:d=2`,
      audio: 'aevalsrc=sin(t*900)|0|0|0|0|0:c=5.1:d=2',
      options: ['-metadata:s:a:0', 'language=fre'],
    },
    { frames: 50, audio: true, issues: ['audio_downmixed'] },
  ],
  [
    'mono audio',
    'mono.mov',
    { video: `${SMALL}:r=25:d=2`, audio: 'sine=r=22050:d=2', options: ['-c:a', 'pcm_s16le'] },
    { frames: 50, audio: true },
  ],
  [
    'audio that ends early',
    'short-audio.mp4',
    { video: `${SMALL}:r=25:d=7`, audio: 'sine=d=0.5' },
    { frames: 175, audio: true },
  ],
  [
    'audio that continues after the video',
    'long-audio.mp4',
    { video: `${SMALL}:r=25:d=1`, audio: 'sine=d=9' },
    { frames: 25, audio: true },
  ],
];

test.each(INPUTS)('%s', async (_name, file, clip, expected, source = {}) => {
  const { manifest, outcome } = await transcode(await makeClip(inBench(file), clip));
  const usual = { renditions: ['360p 160x120'], rate: 25, frames: 25, audio: false, issues: [] };
  expect(outcome).toEqual({ ...usual, ...expected });
  expect(manifest.source).toMatchObject(source);
});
