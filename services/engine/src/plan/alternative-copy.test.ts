import { ALTERNATIVE_CODECS } from '@framelane/contracts/renditions';
import { describe, expect, test } from '@jest/globals';
import { videoTrack } from '../../tests/support/tracks.ts';
import type { Gop } from '../source/gop-scan.ts';
import { checkAlternativeCopy } from './alternative-copy.ts';
import { keyFrameInterval } from './key-frames.ts';

/** Groups of pictures with these durations in seconds, at 500 kb/s. */
function groups(durations: readonly number[]): Gop[] {
  let start = 0;
  return durations.map((duration) => {
    const gop = { start, duration, bytes: 62_500 * duration };
    start += duration;
    return gop;
  });
}

const TRACKS = {
  hevc: videoTrack({ codec: 'hevc', profile: 'Main', level: 63 }),
  av1: videoTrack({ codec: 'av1', profile: 'Main', level: 1 }),
};

const factsIn = (codec: keyof typeof TRACKS) => ({
  container: 'mp4',
  video: TRACKS[codec],
  gops: groups(Array(15).fill(2)),
  top: { name: `360p-${codec}`, width: 640, height: 360, maxRate: 560_000, frameStep: 1 } as const,
  frameStep: 1,
  frameRate: { numerator: 25, denominator: 1 },
  duration: 30,
});

describe.each(ALTERNATIVE_CODECS)('a stream copy in %s', (codec) => {
  const facts = factsIn(codec);
  const withVideo = (changes: Parameters<typeof videoTrack>[0]) => ({
    video: { ...facts.video, ...changes },
  });
  const highest = codec === 'hevc' ? 123 : 9;

  test.each([
    ['with key frames every two seconds', {}],
    ['with key frames every second', { gops: groups(Array(30).fill(1)) }],
    ['with more key frames', { gops: groups([0.48, 0.52, 1, ...Array(14).fill(2)]) }],
    ['with a short end', { gops: groups([...Array(14).fill(2), 0.04]), duration: 28.04 }],
    ['of the highest level', withVideo({ level: highest })],
    [
      'without tags, of high definition',
      {
        ...withVideo({
          coded: { width: 1280, height: 720 },
          colorMatrix: null,
          colorPrimaries: null,
          colorTransfer: null,
        }),
        top: { ...facts.top, width: 1280, height: 720 },
      },
    ],
  ])('is possible for video %s', (_, changes) => {
    expect(checkAlternativeCopy({ ...facts, ...changes })).toEqual({
      copy: { startsShort: true, segmentSeconds: 6 },
      obstacle: null,
    });
  });

  test.each([
    ['container', { container: 'mpegts' }],
    ['codec', withVideo({ codec: 'h264' })],
    ['profile', withVideo({ profile: 'Main 10' })],
    ['level', withVideo({ level: highest + 1 })],
    ['level', withVideo({ level: -99 })],
    ['pixel_format', withVideo({ pixelFormat: 'yuv420p10le' })],
    ['pixel_format', withVideo({ fullRange: true })],
    ['colour', withVideo({ dynamicRange: 'pq', colorTransfer: 'smpte2084' })],
    ['colour', withVideo({ colorMatrix: 'smpte170m' })],
    ['colour', withVideo({ colorPrimaries: 'bt470bg' })],
    ['colour', withVideo({ colorTransfer: 'iec61966-2-1' })],
    // The standard of this size is BT.601.
    ['colour', withVideo({ colorMatrix: null, colorPrimaries: null, colorTransfer: null })],
    ['shape', withVideo({ turn: ['hflip'] })],
    ['size', { top: { ...facts.top, width: 480 } }],
    ['frame_rate', withVideo({ declaredRate: null })],
    ['open_gop', { gops: 'open_gop' }],
    ['truncated', withVideo({ declaredDuration: 31 })],
    ['bit_rate', { top: { ...facts.top, maxRate: 490_000 } }],
    ['segments', { gops: groups([2, 2.04, ...Array(12).fill(2), 1.96]) }],
    ['segments', { gops: groups([4, ...Array(13).fill(2)]) }],
  ] as const)('is refused because of %s', (obstacle, changes) => {
    expect(checkAlternativeCopy({ ...facts, ...changes })).toEqual({ copy: null, obstacle });
  });
});

test.each([
  [30_000, 1001, 1, 30, 60],
  [24_000, 1001, 1, 24, 48],
  [60_000, 1001, 2, 60, 120],
])(
  'at %d/%d frames a second, key frames are those of two seconds, rounded up',
  (numerator, denominator, frameStep, gop, interval) => {
    const frameRate = { numerator, denominator };
    const seconds = (gop * denominator) / numerator;
    const facts = factsIn('hevc');
    const gops = groups(Array(1200).fill(seconds));
    const all = { ...facts, video: { ...facts.video, declaredRate: frameRate }, frameRate, frameStep, gops };
    expect(keyFrameInterval(frameRate, frameStep)).toBe(interval);
    // For twenty minutes, they drift away from multiples of two seconds.
    expect(checkAlternativeCopy({ ...all, duration: 1200 * seconds })).toEqual({
      copy: { startsShort: true, segmentSeconds: 6 },
      obstacle: null,
    });
  },
);

test('key frames are frames that all renditions have', () => {
  expect(keyFrameInterval({ numerator: 49, denominator: 2 }, 2)).toBe(50);
  expect(keyFrameInterval({ numerator: 49, denominator: 2 }, 1)).toBe(49);
});
