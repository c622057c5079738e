import { join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { renditionFile } from '../support/rendition-file.ts';
import { StereoMeter } from '../support/stereo-meter.ts';
import { transcodeByTheRules } from '../support/transcode-outcome.ts';
import { WorkerBench } from '../support/worker-bench.ts';

jest.setTimeout(60_000);

let bench: WorkerBench;
beforeAll(async () => {
  bench = await WorkerBench.start();
});
afterAll(() => bench.stop());

/** The tone of each channel, and the stereo channel that must contain it. */
const LAYOUTS: [layout: string, file: string, codec: string, channels: [hertz: number, ears: string][]][] = [
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
function earsOf([left, right]: [number, number]): string {
  const [inLeft, inRight] = [left > 0.02, right > 0.02];
  if (inLeft && inRight) return Math.abs(left - right) < 0.01 ? 'both' : 'both, unevenly';
  if (Math.min(left, right) > 0.003) return 'both, one faintly';
  return inLeft ? 'left' : inRight ? 'right' : 'none';
}

test.each(LAYOUTS)(
  'every channel of %s is in the right stereo channel',
  async (layout, file, codec, channels) => {
    const tones = channels.map(([hertz]) => `0.2*sin(2*PI*${hertz}*t)`);
    const clip = await makeClip(join(bench.directory, file), {
      video: 'testsrc2=s=64x64:r=25:d=1',
      audio: `aevalsrc=${tones.join('|')}:c=${layout}:s=48000:d=1`,
      options: ['-c:a', codec],
    });
    const { videoId, manifest, outcome } = await transcodeByTheRules(bench, clip);
    expect(outcome.issues).toEqual(channels.length > 2 ? ['audio_downmixed'] : []);
    const ears = await StereoMeter.open(await renditionFile(bench, videoId, manifest.renditions.at(-1)));
    expect(channels.map(([hertz]) => [hertz, earsOf(ears.tone(hertz))])).toEqual(channels);
  },
);

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
