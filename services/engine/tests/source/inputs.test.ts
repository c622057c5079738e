import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Size } from '../../src/source/media-source.ts';
import { deliveredFile, firstSigns } from '../support/delivered-file.ts';
import { type Clip, ffmpeg, ffprobe, greyFrames, makeClip, samples } from '../support/media.ts';
import { withBox } from '../support/mp4-boxes.ts';
import { maxDifference, nameOf, QUARTER_COLOURS, quartered, quarters } from '../support/quarters.ts';
import { withTeletext } from '../support/teletext.ts';
import { type Outcome, transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

jest.setTimeout(120_000);

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const transcode = (path: string) => transcodeByTheRules(bench, path);

const SMALL = 'testsrc2=s=320x240';
const TONE = 'sine=d=2';
const CODED = {
  hevc: ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'],
  vp9: ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'],
  interlaced: ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '3M'],
};

/** Files as people upload them: name, file, clip, and the expected output. */
const INPUTS: [name: string, file: string, clip: Clip, expected: Partial<Outcome>, source?: object][] = [
  // Frame size.
  [
    'portrait video',
    'portrait.mp4',
    { video: 'testsrc2=s=480x854:r=25:d=1' },
    { rungs: ['360p 360x640', '480p 480x854'], frames: 25 },
  ],
  [
    'video below the lowest rung, with odd sides and 4:4:4',
    'odd.mp4',
    { video: 'testsrc=s=321x241:r=25:d=1', options: ['-pix_fmt', 'yuv444p'] },
    { rungs: ['360p 320x240'], issues: ['chroma_subsampling'] },
  ],
  [
    'odd sides above a rung',
    'odd-large.webm',
    { video: 'testsrc=s=853x481:r=25:d=1', options: CODED.vp9 },
    { rungs: ['360p 638x360', '480p 852x480'] },
  ],
  [
    'video of 16×16 pixels',
    'tiny.mp4',
    { video: 'testsrc2=s=16x16:r=25:d=1' },
    { rungs: ['360p 16x16'], frames: 25 },
  ],
  [
    'video of 2000×48 pixels',
    'stripe.mp4',
    { video: 'testsrc2=s=2000x48:r=25:d=1' },
    { rungs: ['360p 2000x48'] },
  ],
  [
    'non-square pixels',
    'wide-pixels.mp4',
    { video: 'testsrc2=s=480x360:r=25:d=1,setsar=4/3' },
    { rungs: ['360p 640x360'] },
    { width: 640, height: 360 },
  ],
  [
    'nearly square pixels',
    'trace.mp4',
    { video: 'testsrc2=s=854x480:r=25:d=1,setsar=r=1281/1280:max=2000' },
    { rungs: ['360p 640x360', '480p 854x480'] },
    { width: 854, height: 480 },
  ],
  [
    'interlaced video, top field first, with non-square pixels',
    'upper.ts',
    {
      video: 'testsrc2=s=720x576:r=50:d=2,interlace=scan=tff,setsar=16/15',
      options: [...CODED.interlaced, '-top', '1'],
    },
    { rungs: ['360p 480x360', '480p 640x480'], rate: 50, frames: 100, issues: ['interlaced'] },
    { width: 768, height: 576, videoCodec: 'mpeg2video' },
  ],
  [
    'interlaced video, bottom field first',
    'lower.mpg',
    {
      video: 'testsrc2=s=720x480:r=60000/1001:d=2,interlace=scan=bff',
      options: [...CODED.interlaced, '-top', '0'],
    },
    { rungs: ['360p 540x360', '480p 720x480'], rate: 59.94, frames: 120, issues: ['interlaced'] },
    { container: 'mpeg' },
  ],

  // Timing.
  [
    '29.97 frames a second, short mono audio at 44.1 kHz',
    'ntsc.mp4',
    { video: `${SMALL}:r=30000/1001:d=13`, audio: 'sine=r=44100:d=4', options: ['-ac', '1'] },
    { rate: 29.97, frames: 390, audio: true },
  ],
  [
    '23.976 frames a second, audio longer than the video',
    'film.mkv',
    { video: `${SMALL}:r=24000/1001:d=7`, audio: 'sine=d=11', options: ['-c:a', 'libopus'] },
    { rate: 23.976, frames: 168, audio: true },
    { container: 'matroska', audioCodec: 'opus', frameRate: 23.976 },
  ],
  [
    '8 frames a second',
    'slow.mp4',
    { video: `${SMALL}:r=8:d=7` },
    { rate: 16, frames: 112, issues: ['frame_rate_changed'] },
  ],
  [
    '2 frames a second',
    'slower.mp4',
    { video: `${SMALL}:r=2:d=7` },
    { rate: 10, frames: 70, issues: ['frame_rate_changed'] },
  ],
  ['60 frames a second', 'fast.mp4', { video: `${SMALL}:r=60:d=3` }, { rate: 60, frames: 180 }],
  [
    '59.94 frames a second with B-frames',
    'fast-ntsc.mp4',
    { video: `${SMALL}:r=60000/1001:d=7`, options: ['-bf', '2'] },
    { rate: 59.94, frames: 420 },
  ],
  [
    '120 frames a second',
    'faster.mp4',
    { video: `${SMALL}:r=120:d=2` },
    { rate: 60, frames: 120, issues: ['frame_rate_changed'] },
  ],
  [
    '240 frames a second',
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
    'an odd number of frames, with half the frame rate in lower rungs',
    'halved.mp4',
    { video: 'testsrc2=s=720x720:r=99/2:d=6.95' },
    { rungs: ['360p 360x360', '480p 480x480', '720p 720x720'], rate: 49.5, frames: 345 },
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
  const usual = { rungs: ['360p 320x240'], rate: 25, frames: 25, audio: false, issues: [] };
  expect(outcome).toEqual({ ...usual, ...expected });
  expect(manifest.source).toMatchObject(source);
});

test('a variable frame rate on a common grid loses no frame', async () => {
  const grey = String.raw`geq=lum=30+mod(N*37\,180):cb=128:cr=128`;
  const clip = await makeClip(inBench('grid.mp4'), {
    video: String.raw`color=s=64x64:r=60:d=8,format=yuv420p,${grey},select=lt(mod(n\,24)\,13)`,
    options: ['-vsync', 'vfr'],
  });
  const { videoId, manifest, outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ rate: 60, issues: ['frame_rate_changed'] });
  const shown = await greyFrames(await deliveredFile(bench, videoId, manifest.renditions[0]), 64, 64);
  const changes = shown.filter(([level = 0], at) => Math.abs(level - (shown[at - 1]?.[0] ?? 255)) > 10);
  expect(changes).toHaveLength(260);
});

test.each([
  ['is not rotated', '0', '320x180', ['red', 'green', 'blue', 'grey']],
  ['is rotated left', '90', '180x320', ['green', 'grey', 'red', 'blue']],
  ['is rotated by 180°', '180', '320x180', ['grey', 'blue', 'green', 'red']],
  ['is rotated right', '270', '180x320', ['blue', 'red', 'grey', 'green']],
])('video that %s is displayed upright', async (_, degrees, size, colours) => {
  const lying = await makeClip(inBench(`lying-${degrees}.mp4`), { video: quartered(1) });
  const turned = inBench(`turned-${degrees}.mp4`);
  await ffmpeg('-i', lying, '-c', 'copy', '-metadata:s:v:0', `rotate=${degrees}`, turned);
  const { videoId, manifest, outcome } = await transcode(turned);
  expect(outcome).toMatchObject({ rungs: [`360p ${size}`], frames: 25, issues: [] });
  expect((await quarters(bench, videoId, manifest)).map(nameOf)).toEqual(colours);
});

/** The first two columns of display matrices (ISO/IEC 14496-12 §6.2.2), and the expected quarters row by row. */
test.each([
  ['horizontally', [-1, 0, 0, 1], '320x180', ['green', 'red', 'grey', 'blue']],
  ['vertically', [1, 0, 0, -1], '320x180', ['blue', 'grey', 'red', 'green']],
  ['at its diagonal', [0, 1, 1, 0], '180x320', ['red', 'blue', 'green', 'grey']],
  ['at its other diagonal', [0, -1, -1, 0], '180x320', ['grey', 'green', 'blue', 'red']],
])(
  'video that is mirrored %s is displayed mirrored',
  async (_, [a = 0, b = 0, c = 0, d = 0], size, colours) => {
    const plain = await makeClip(inBench('plain.mp4'), { video: quartered(1) });
    const mirrored = withBox(await readFile(plain), ['moov', 'trak', 'tkhd'], (header) => {
      for (const [place, value] of [a, b, 0, c, d].entries())
        header.writeInt32BE(value * 65_536, 40 + 4 * place);
      return header;
    });
    await writeFile(inBench('mirrored.mp4'), mirrored);
    const { videoId, manifest, outcome } = await transcode(inBench('mirrored.mp4'));
    expect(outcome).toMatchObject({ rungs: [`360p ${size}`], frames: 25, issues: [] });
    expect((await quarters(bench, videoId, manifest)).map(nameOf)).toEqual(colours);
  },
);

/** A second audio track. */
test.each([
  ['dts', ['-c:a:1', 'dca', '-strict', '-2']],
  ['wmav2', ['-c:a:1', 'wmav2']],
  ['truehd', ['-c:a:1', 'truehd', '-strict', '-2']],
  ['tta', ['-c:a:1', 'tta']],
])('a second track in %s is left out and named', async (codec, options) => {
  const maps = ['-map', '0', '-map', '1', '-map', '1', '-metadata:s:a:1', 'language=fre'];
  const clip = await makeClip(inBench(`second-${codec}.mkv`), {
    video: `${SMALL}:r=25:d=1`,
    audio: 'sine=d=1',
    options: [...maps, '-c:a:0', 'aac', ...options],
  });
  const { manifest } = await transcode(clip);
  expect(manifest.source).toMatchObject({ audioCodec: 'aac' });
  expect(manifest.inputIssues).toEqual([
    { code: 'track_left_out', message: `Track 3 (audio, ${codec}, fr) was left out.` },
  ]);
});

test('a track that can be decoded is preferred to a default track that cannot', async () => {
  const clip = await makeClip(inBench('default.mkv'), {
    video: `${SMALL}:r=25:d=1`,
    audio: 'sine=d=1',
    options: ['-map', '0', '-map', '1', '-map', '1', '-c:a:0', 'tta', '-c:a:1', 'ac3'],
  });
  const { manifest, outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ audio: true, issues: ['track_left_out'] });
  expect(manifest.source).toMatchObject({ audioCodec: 'ac3' });
});

test('closed captions of QuickTime are left out, with an issue', async () => {
  await writeFile(inBench('one.srt'), '1\n00:00:00,000 --> 00:00:00,500\nHello\n');
  const video = await makeClip(inBench('uncaptioned.mov'), { video: `${SMALL}:r=25:d=1` });
  await ffmpeg(
    '-i',
    video,
    '-i',
    inBench('one.srt'),
    '-c:v',
    'copy',
    '-c:s',
    'mov_text',
    inBench('text.mov'),
  );
  const file = await readFile(inBench('text.mov'));
  file.write('mhlrclcp', file.indexOf('mhlrtext'), 'latin1');
  // The last box is the sample entry.
  file.write('c608', file.lastIndexOf('text'), 'latin1');
  await writeFile(inBench('captions.mov'), file);
  const { manifest } = await transcode(inBench('captions.mov'));
  expect(manifest.inputIssues).toEqual([
    {
      code: 'track_left_out',
      message: expect.stringMatching(/^Track 2 \(subtitles, eia_608.*\) was left out\.$/),
    },
  ]);
});

test('teletext is left out, with an issue', async () => {
  const maps = ['-map', '0', '-map', '1', '-map', '1', '-metadata:s:a:1', 'language=ger'];
  const clip = await makeClip(inBench('television.ts'), {
    video: `${SMALL}:r=25:d=1`,
    audio: 'sine=d=1',
    options: [...maps, '-c:a:0', 'mp2', '-c:a:1', 'ac3'],
  });
  await writeFile(inBench('teletext.ts'), withTeletext(await readFile(clip)));
  const { manifest } = await transcode(inBench('teletext.ts'));
  expect(manifest.source).toMatchObject({ audioCodec: 'mp2' });
  expect(manifest.inputIssues).toEqual([
    { code: 'track_left_out', message: 'Track 3 (subtitles, dvb_teletext, de) was left out.' },
  ]);
});

/** Broadcasts change between surround and stereo from one program to the next. */
test.each([
  ['ac3', 'surround to stereo', ['5.1', 'stereo']],
  ['eac3', 'stereo to surround', ['stereo', '5.1']],
])('audio in %s that changes from %s is audible throughout', async (codec, change, layouts) => {
  const parts: Buffer[] = [];
  for (const layout of layouts) {
    const tones = layout === '5.1' ? '0.3*sin(6283*t)|0|0|0|0|0' : '0.3*sin(6283*t)|0';
    const part = inBench(`${layout}.${codec}`);
    await ffmpeg('-f', 'lavfi', '-i', `aevalsrc=${tones}:c=${layout}:s=48000:d=2`, '-c:a', codec, part);
    parts.push(await readFile(part));
  }
  const audio = inBench(`change.${codec}`);
  await writeFile(audio, Buffer.concat(parts));
  const video = await makeClip(inBench('video.mp4'), { video: `${SMALL}:r=25:d=4` });
  const clip = inBench(`${codec}-${change.replaceAll(' ', '-')}.ts`);
  await ffmpeg('-i', video, '-i', audio, '-map', '0', '-map', '1', '-c', 'copy', clip);
  const { videoId, manifest, outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ frames: 100, audio: true });
  const heard = await samples(await deliveredFile(bench, videoId, manifest.renditions.at(-1)));
  for (const second of [0.5, 1.5, 2.5, 3.5]) {
    const left = heard
      .subarray(2 * 48_000 * second, 2 * 48_000 * (second + 0.1))
      .filter((_, at) => at % 2 === 0);
    expect(Math.max(...left)).toBeGreaterThan(0.1);
  }
});

test('4K needs no more memory on a machine with many cores', async () => {
  const clip = await makeClip(inBench('4k.mp4'), {
    video: 'testsrc2=s=3840x2160:r=30:d=0.5',
    options: [...CODED.hevc, '-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1'],
  });
  const large = await WorkerBench.start({ threads: 64 });
  try {
    expect((await large.transcode(clip)).manifest.renditions.length).toBeGreaterThan(3);
  } finally {
    await large.stop();
  }
});

/** The quarters in high dynamic range, with white at 203 cd/m² (ITU-R BT.2408). */
function highRange(transfer: string): Clip {
  const steps = [
    'format=gbrpf32le,setparams=color_primaries=bt709:color_trc=bt709:colorspace=gbr',
    'zscale=transfer=linear:npl=203,zscale=primaries=2020',
    `zscale=transfer=${transfer}:npl=203:matrix=2020_ncl:range=tv,format=yuv420p10le`,
  ];
  const tags = `colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc`;
  return {
    video: `${quartered(1)},${steps.join(',')}`,
    options: [
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', `log-level=none:${tags}`],
      ...['-pix_fmt', 'yuv420p10le', '-color_primaries', 'bt2020', '-color_trc', transfer],
      ...['-colorspace', 'bt2020nc'],
    ],
  };
}

test.each(['smpte2084', 'arib-std-b67'])(
  'high dynamic range with %s has the right colours in standard range',
  async (transfer) => {
    const clip = await makeClip(inBench(`${transfer}.mp4`), highRange(transfer));
    const { videoId, manifest, outcome } = await transcode(clip);
    expect(outcome).toMatchObject({ frames: 25, issues: ['hdr', 'high_bit_depth'] });
    const colours = await quarters(bench, videoId, manifest);
    expect(colours.map(nameOf)).toEqual(['red', 'green', 'blue', 'grey']);
    for (const [red, green, blue] of colours) {
      // Tone mapping keeps headroom above diffuse white. Without it, the quarters would have nearly no saturation.
      expect(Math.max(red, green, blue)).toBeGreaterThan(130);
      expect(Math.max(red, green, blue)).toBeLessThan(190);
    }
    for (const [red, green, blue] of colours.slice(0, 3)) expect(Math.min(red, green, blue)).toBeLessThan(30);
  },
);

/** The quarters in standard range, with other primaries and another matrix than BT.709's. */
function inPrimaries(primaries: string, matrix: string, size: Size): Clip {
  const tags = ['-color_primaries', primaries, '-color_trc', 'bt709', '-colorspace', matrix];
  const steps = [
    'format=gbrp,setparams=color_primaries=bt709:color_trc=bt709:colorspace=gbr:range=pc',
    `zscale=primaries=${primaries}:transfer=bt709:matrix=${matrix}:range=tv,format=yuv420p`,
  ];
  return {
    video: `${quartered(1, size)},${steps.join(',')}`,
    options: ['-preset', 'veryfast', '-crf', '10', ...tags],
  };
}

test.each([
  ['BT.2020', 'bt2020', 'bt2020nc'],
  ['Display P3', 'smpte432', 'bt709'],
  ['BT.601', 'smpte170m', 'smpte170m'],
])('colours of %s in standard range are converted', async (_, primaries, matrix) => {
  // Not the size of a rung, or the last case would be passthrough.
  const size = { width: 852, height: 484 };
  const clip = await makeClip(inBench(`${primaries}.mp4`), inPrimaries(primaries, matrix, size));
  const { videoId, manifest } = await transcode(clip);
  expect(bench.videoPassthrough.has(videoId)).toBe(false);
  for (const { name } of manifest.renditions) {
    const colours = await quarters(bench, videoId, manifest, name);
    // The 8 bits of the clip alone cause a difference of 17 where a component is zero.
    expect(maxDifference(colours, QUARTER_COLOURS)).toBeLessThan(20);
  }
});

test.each([
  ['tagged', ['-colorspace', 'smpte170m', '-color_primaries', 'smpte170m', '-color_trc', 'smpte170m']],
  ['with a tagged matrix alone', ['-colorspace', 'bt470bg']],
  ['untagged', []],
])(
  'rungs below a passthrough rung of standard definition that is %s have its colours',
  async (name, options) => {
    const clip = await makeClip(inBench(`sd-${name}.mp4`), {
      video: quartered(1, { width: 852, height: 480 }),
      options: ['-preset', 'veryfast', ...options],
    });
    const { videoId, manifest } = await transcode(clip);
    expect(bench.videoPassthrough.has(videoId)).toBe(true);
    const tags: unknown[] = [];
    for (const rendition of manifest.renditions) {
      const file = await deliveredFile(bench, videoId, rendition);
      const entries = 'stream=color_range,color_space,color_primaries,color_transfer';
      const { streams } = await ffprobe<{ streams: object[] }>('-show_entries', entries, file);
      tags.push(streams[0]);
      expect(
        maxDifference(await quarters(bench, videoId, manifest, rendition.name), QUARTER_COLOURS),
      ).toBeLessThan(8);
    }
    expect(tags).toHaveLength(2);
    expect(tags[0]).toEqual(tags[1]);
    expect(tags[0]).toMatchObject({ color_primaries: expect.not.stringContaining('unknown') });
  },
);

test('two hours of nearly static video', async () => {
  const clip = await makeClip(inBench('long.mp4'), { video: 'color=s=64x36:r=1:d=7200' });
  const { outcome } = await transcode(clip);
  expect(outcome).toMatchObject({ rungs: ['360p 64x36'], rate: 10, frames: 72_000 });
});

test('of several tracks, the default video and the default audio track are chosen', async () => {
  const tracks = [
    `${SMALL}:r=25:d=2`,
    'testsrc2=s=64x64:r=25:d=2',
    'sine=d=2',
    'sine=f=880:d=2',
    'sine=f=220:d=2',
  ];
  await writeFile(inBench('words.srt'), '1\n00:00:00,000 --> 00:00:01,500\nHello\n');
  await ffmpeg(
    ...tracks.flatMap((track) => ['-f', 'lavfi', '-i', track]),
    ...['-i', inBench('words.srt'), '-attach', inBench('words.srt'), '-metadata:s:t', 'mimetype=text/plain'],
    ...['-map', '1:v', '-map', '0:v', '-map', '2:a', '-map', '3:a', '-map', '4:a', '-map', '5:s'],
    ...[
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-c:a',
      'flac',
      '-disposition:0',
      '0',
      '-disposition:1',
      'default',
    ],
    ...['-disposition:a', '0', '-disposition:a:1', 'default', '-metadata:s:a:0', 'language=eng'],
    ...['-metadata:s:a:1', 'language=ger', inBench('tracks.mkv')],
  );
  const { manifest, outcome } = await transcode(inBench('tracks.mkv'));
  expect(outcome).toMatchObject({ rungs: ['360p 320x240'], frames: 50, audio: true });
  expect(manifest.renditions.at(-1)).toMatchObject({ name: 'audio', language: 'de' });
});

test.each(['cover.mp4', 'cover.mkv'])('a cover image in %s is not the video', async (file) => {
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=640x640', '-frames:v', '1', inBench('cover.png'));
  const clip = await makeClip(inBench(`plain-${file}`), { video: `${SMALL}:r=25:d=1` });
  const cover = file.endsWith('mkv')
    ? ['-attach', inBench('cover.png'), '-metadata:s:t', 'mimetype=image/png', '-map', '0']
    : ['-i', inBench('cover.png'), '-map', '1', '-map', '0', '-disposition:v:0', 'attached_pic'];
  await ffmpeg('-i', clip, ...cover, '-c', 'copy', inBench(file));
  const { outcome } = await transcode(inBench(file));
  expect(outcome).toMatchObject({ rungs: ['360p 320x240'], frames: 25 });
});

test('video that an edit list delays begins late', async () => {
  const clip = await makeClip(inBench('in-time.mp4'), { video: `${SMALL}:r=25:d=2`, audio: 'sine=d=4' });
  await ffmpeg(
    '-itsoffset',
    '1.01',
    '-i',
    clip,
    '-i',
    clip,
    '-map',
    '0:v',
    '-map',
    '1:a',
    '-c',
    'copy',
    inBench('late.mp4'),
  );
  const { outcome } = await transcode(inBench('late.mp4'));
  expect(outcome).toMatchObject({ frames: 75, audio: true, issues: [] });
});

/** Expects video to get bright and audio to begin after some seconds. */
const flash = (seconds: number): Clip => ({
  video: `color=black:s=320x240:r=25:d=3,drawbox=color=white:t=fill:enable=gte(t\\,${seconds})`,
  audio: `aevalsrc=gte(t\\,${seconds})*sin(2000*t):s=48000:d=3`,
});

async function expectFlash(path: string, seconds: number, frames: number): Promise<void> {
  const { videoId, manifest, outcome } = await transcode(path);
  expect(outcome).toMatchObject({ frames, audio: true, issues: [] });
  const { light, audio } = await firstSigns(bench, videoId, manifest);
  expect(Math.abs(light - seconds)).toBeLessThan(0.03);
  expect(Math.abs(audio - light)).toBeLessThan(0.03);
}

test.each([
  ['MP4', 'flash.mp4', ['-c:a', 'aac']],
  ['FLV', 'flash.flv', ['-c:a', 'aac']],
  ['transport stream with late timestamps', 'late.ts', ['-c:a', 'aac', '-output_ts_offset', '1000']],
  ['Matroska', 'flash.mkv', ['-c:a', 'libopus']],
  ['Matroska with late timestamps', 'late.mkv', ['-c:a', 'libopus', '-output_ts_offset', '100']],
  ['MP4 with a delaying edit list', 'late.mp4', ['-c:a', 'aac', '-output_ts_offset', '100']],
])('audio and video of a %s stay in sync', async (_, file, options) => {
  await expectFlash(await makeClip(inBench(file), { ...flash(1), options }), 1, 75);
});

test('audio and video of fragments with late timestamps stay in sync', async () => {
  const movFlags = ['-movflags', '+frag_keyframe+delay_moov+default_base_moof'];
  const options = ['-c:a', 'ac3', '-video_track_timescale', '48000', ...movFlags];
  const clip = await makeClip(inBench('fragments-in-time.mp4'), { ...flash(1), options });
  const file = await readFile(clip);
  for (let at = file.indexOf('tfdt'); at !== -1; at = file.indexOf('tfdt', at + 4)) {
    file.writeBigUInt64BE(file.readBigUInt64BE(at + 8) + 100n * 48_000n, at + 8);
  }
  await writeFile(inBench('late-fragments.mp4'), file);
  await expectFlash(inBench('late-fragments.mp4'), 1, 75);
});

test('an edit list may begin between two key frames', async () => {
  const options = ['-c:a', 'aac', '-bf', '2', '-g', '100'];
  const whole = await makeClip(inBench('flash-whole.mp4'), { ...flash(1.6), options });
  await ffmpeg('-ss', '0.6', '-i', whole, '-c', 'copy', inBench('flash-cut.mp4'));
  await expectFlash(inBench('flash-cut.mp4'), 1, 60);
});

test('timestamps that start over are corrected', async () => {
  const clip = await makeClip(inBench('part.ts'), {
    video: `${SMALL}:r=25:d=5`,
    audio: 'sine=d=5',
    options: ['-c:a', 'aac'],
  });
  const part = await readFile(clip);
  await writeFile(inBench('twice.ts'), Buffer.concat([part, part]));
  const { manifest } = await transcode(inBench('twice.ts'));
  expect(Math.abs(manifest.duration - 10)).toBeLessThan(0.1);
});

test('frames that change their size are scaled to the first size', async () => {
  const sizes = ['320x240', '240x320', '640x480'];
  const options = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '16'];
  const files = sizes.map((size) => `size-${size}.webm`);
  for (const [at, size] of sizes.entries()) {
    await makeClip(inBench(files[at] ?? ''), { video: `testsrc2=s=${size}:r=25:d=2`, options });
  }
  await writeFile(inBench('sizes.txt'), files.map((file) => `file ${file}`).join('\n'));
  await ffmpeg('-f', 'concat', '-i', inBench('sizes.txt'), '-c', 'copy', inBench('sizes.webm'));
  const { outcome } = await transcode(inBench('sizes.webm'));
  expect(outcome).toMatchObject({ rungs: ['360p 320x240'], frames: 150 });
});

test.each([
  ['cut.mp4', ['-movflags', '+faststart', '-c:a', 'aac']],
  ['cut.mkv', ['-c:a', 'aac']],
  ['cut.flv', ['-c:a', 'aac']],
  ['cut.avi', ['-c:v', 'mpeg4', '-c:a', 'libmp3lame']],
])('%s is truncated: its content is transcoded, with an issue', async (file, options) => {
  const clip = await makeClip(inBench(file), { video: `${SMALL}:r=25:d=10`, audio: 'sine=d=12', options });
  await truncate(clip, Math.round((await stat(clip)).size / 2));
  const { manifest, outcome } = await transcode(clip);
  expect(manifest.duration).toBeLessThan(8);
  expect(outcome.issues).toEqual(['truncated']);
});
