import { join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { samples } from '../support/media.ts';
import { renditionFile } from '../support/rendition-file.ts';
import { StereoMeter } from '../support/stereo-meter.ts';
import { transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

/** The tone of each channel, and the stereo channel that must contain it. */
const LAYOUTS: [layout: string, file: string, codec: string, channels: [hertz: number, sides: string][]][] = [
  ['mono', 'mono.mkv', 'flac', [[440, 'both']]],
  [
    'stereo',
    'stereo.mov',
    'pcm_s16le',
    [
      [300, 'left'],
      [500, 'right'],
    ],
  ],
  [
    '5.1',
    'cinema.mp4',
    'aac',
    [
      [300, 'left'],
      [500, 'right'],
      [700, 'both'],
      [60, 'none'],
      [1100, 'left'],
      [1300, 'right'],
    ],
  ],
  [
    '7.1',
    'cinema.mkv',
    'flac',
    [
      [300, 'left'],
      [500, 'right'],
      [700, 'both'],
      [60, 'none'],
      [1100, 'left'],
      [1300, 'right'],
      [1700, 'left'],
      [1900, 'right'],
    ],
  ],
];

/** The stereo channels that contain a tone; crosstalk is far quieter. */
function sidesOf([left, right]: [number, number]): string {
  const [inLeft, inRight] = [left > 0.02, right > 0.02];
  if (inLeft && inRight) return Math.abs(left - right) < 0.01 ? 'both' : 'both, unevenly';
  if (Math.min(left, right) > 0.003) return 'both, one faintly';
  return inLeft ? 'left' : inRight ? 'right' : 'none';
}

test.each(LAYOUTS)('each channel of %s is on its stereo side', async (layout, file, codec, channels) => {
  const tones = channels.map(([hertz]) => `0.2*sin(2*PI*${hertz}*t)`);
  const clip = await makeClip(join(bench.directory, file), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    audio: `aevalsrc=${tones.join('|')}:c=${layout}:s=48000:d=1`,
    options: ['-c:a', codec],
  });
  const { videoId, manifest, outcome } = await transcodeByTheRules(bench, clip);
  expect(outcome.issues).toEqual(channels.length > 2 ? ['audio_downmixed'] : []);
  const meter = await StereoMeter.open(await renditionFile(bench, videoId, manifest.renditions.at(-1)));
  expect(channels.map(([hertz]) => [hertz, sidesOf(meter.tone(hertz))])).toEqual(channels);
});

/** The loudest of some tones in a file, in seconds `from` to `to`; null in silence. */
async function toneAt(path: string, [from, to]: [number, number]): Promise<number | null> {
  const heard = await samples(path, '-ac', '1', '-ar', '48000');
  const part = heard.subarray(from * 48_000, to * 48_000);
  const loudness = (hertz: number) => {
    const step = (2 * Math.PI * hertz) / 48_000;
    const [real, imaginary] = [Math.cos, Math.sin].map((wave) =>
      part.reduce((sum, sample, at) => sum + sample * wave(step * at), 0),
    );
    return (2 * Math.hypot(real ?? 0, imaginary ?? 0)) / part.length;
  };
  const [loudest] = [300, 500, 700, 1100].toSorted((a, b) => loudness(b) - loudness(a));
  return loudest !== undefined && loudness(loudest) > 0.01 ? loudest : null;
}

test('every audio track of a known codec becomes a rendition; those that end early or begin late are padded with silence', async () => {
  const tone = (hertz: number, layout: string, seconds: number) => {
    const channels = layout === '5.1' ? 6 : layout === 'stereo' ? 2 : 1;
    const expression = Array.from({ length: channels }, () => `0.2*sin(2*PI*${hertz}*t)`).join('|');
    return ['-f', 'lavfi', '-i', `aevalsrc=${expression}:c=${layout}:s=48000:d=${seconds}`];
  };
  await ffmpeg(
    ...['-f', 'lavfi', '-i', 'testsrc2=s=64x64:r=25:d=8', ...tone(300, 'stereo', 8), ...tone(500, 'mono', 2)],
    ...['-itsoffset', '3', ...tone(700, 'stereo', 5), ...tone(1100, '5.1', 8), ...tone(300, 'stereo', 8)],
    ...Array.from({ length: 6 }, (_, at) => ['-map', String(at)]).flat(),
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'],
    ...[
      '-c:a:1',
      'flac',
      '-c:a:3',
      'ac3',
      '-c:a:4',
      'tta',
      '-disposition:a',
      '0',
      '-disposition:a:1',
      'default',
    ],
    ...['-disposition:a:2', 'visual_impaired', '-disposition:a:3', 'comment'],
    ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=ger'],
    ...['-metadata:s:a:2', 'language=eng', '-metadata:s:a:3', 'language=eng'],
    ...['-metadata:s:a:3', 'title=The "director"\u202e speaks', join(bench.directory, 'languages.mkv')],
  );
  const { videoId, manifest } = await transcodeByTheRules(bench, join(bench.directory, 'languages.mkv'));
  const audio = manifest.renditions.slice(1);
  expect(
    audio.map(({ name, language, label, role, channels }) => [name, language, label, role, channels]),
  ).toEqual([
    ['audio', 'de', 'Deutsch', undefined, 1],
    ['audio2', 'en', 'English', undefined, 2],
    ['audio3', 'en', 'English 2', 'audio_description', 2],
    ['audio4', 'en', "The 'director' speaks", 'commentary', 2],
  ]);
  expect(manifest.inputIssues).toEqual([
    { code: 'audio_downmixed', message: '6 audio channels of track 5 were downmixed to stereo.' },
    { code: 'track_left_out', message: 'Track 6 (audio, tta) was left out.' },
  ]);
  const files = await Promise.all(audio.map((rendition) => renditionFile(bench, videoId, rendition)));
  const parts = [
    [0.5, 1.5],
    [6.5, 7.5],
  ] as const;
  expect(
    await Promise.all(files.map((file) => Promise.all(parts.map((part) => toneAt(file, [...part]))))),
  ).toEqual([
    [500, null],
    [300, 300],
    [null, 700],
    [1100, 1100],
  ]);
});

test('with ENGINE_SURROUND, a track with 5.1 is also a rendition in 5.1', async () => {
  const clip = await makeClip(join(bench.directory, 'both.mkv'), {
    video: 'testsrc2=s=64x64:r=25:d=7',
    audio: 'aevalsrc=0|0|0|0|0.2*sin(2*PI*700*t)|0:c=5.1:s=48000:d=7',
    options: ['-map', '0', '-map', '1', '-map', '1', '-c:a', 'ac3', '-ac:a:0', '2'],
  });
  const surroundBench = await WorkerBench.start({ surround: true });
  try {
    const { videoId, manifest, outcome } = await transcodeByTheRules(surroundBench, clip);
    expect(outcome.issues).toEqual([]);
    expect(manifest.renditions.slice(1).map(({ name, channels }) => [name, channels])).toEqual([
      ['audio', 2],
      ['audio2', 2],
      ['surround2', 6],
    ]);
    const heard = await samples(await renditionFile(surroundBench, videoId, manifest.renditions.at(-1)));
    const peaks = [0, 1, 2, 3, 4, 5].map((channel) =>
      heard.reduce((peak, sample, at) => (at % 6 === channel ? Math.max(peak, sample) : peak), 0),
    );
    expect(peaks.map((peak) => peak > 0.1)).toEqual([false, false, false, false, true, false]);
  } finally {
    await surroundBench.stop();
  }
});

test('at most eight tracks become renditions, each in stereo and in 5.1', async () => {
  const clip = await makeClip(join(bench.directory, 'nine.mkv'), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    audio: 'anullsrc=cl=5.1:r=48000:d=1',
    options: ['-map', '0', ...Array.from({ length: 9 }, () => ['-map', '1']).flat(), '-c:a', 'ac3'],
  });
  const surroundBench = await WorkerBench.start({ surround: true });
  try {
    const { manifest, outcome } = await transcodeByTheRules(surroundBench, clip);
    const names = ['audio', 'surround'].flatMap((name) =>
      Array.from({ length: 8 }, (_, at) => (at === 0 ? name : `${name}${at + 1}`)),
    );
    expect(manifest.renditions.slice(1).map(({ name }) => name)).toEqual(names);
    expect(outcome.issues).toEqual(['track_left_out']);
  } finally {
    await surroundBench.stop();
  }
});

test('loud surround audio does not clip in stereo, and quiet audio keeps its loudness', async () => {
  const loud = 'sin(2*PI*300*t)';
  const quiet = '0.2*sin(2*PI*300*t)';
  const listen = async (name: string, channels: string[]) => {
    const clip = await makeClip(join(bench.directory, name), {
      video: 'testsrc2=s=64x64:r=25:d=2',
      audio: `aevalsrc=${channels.join('|')}:c=5.1:s=48000:d=2`,
      options: ['-c:a', 'flac'],
    });
    const { videoId, manifest } = await transcodeByTheRules(bench, clip);
    return StereoMeter.open(await renditionFile(bench, videoId, manifest.renditions.at(-1)));
  };
  const hot = await listen('hot.mkv', [loud, loud, loud, loud, loud, loud]);
  expect(hot.peak()).toBeLessThanOrEqual(1);
  expect(Math.min(...hot.tone(300))).toBeGreaterThan(0.7);
  // The centre is mixed into both channels at −3 dB (ITU-R BS.775).
  const speech = await listen('speech.mkv', ['0', '0', quiet, '0', '0', '0']);
  for (const tone of speech.tone(300)) expect(tone).toBeCloseTo(0.2 * Math.SQRT1_2, 2);
});
