import { ALTERNATIVE_CODECS } from '@framelane/contracts/renditions';
import { describe, expect, test } from '@jest/globals';
import { videoTrack } from '../../tests/support/tracks.ts';
import type { Gop } from '../source/gop-scan.ts';
import { checkAlternativeCopy } from './alternative-copy.ts';

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
    ['with one key frame more', { gops: groups([0.5, 0.5, ...Array(29).fill(1)]) }],
    // At 29.97 frames a second, 60 frames last longer than two seconds.
    ['with a key frame that is one frame late', { gops: groups([2, 2.04, ...Array(12).fill(2), 1.96]) }],
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
    ['sparse_key_frames', { gops: groups([2, 2.08, ...Array(12).fill(2), 1.92]) }],
    ['dense_key_frames', { gops: groups([...Array(4).fill(0.5), ...Array(28).fill(1)]) }],
  ] as const)('is refused because of %s', (obstacle, changes) => {
    expect(checkAlternativeCopy({ ...facts, ...changes })).toEqual({ copy: null, obstacle });
  });
});

test('a copy whose first segments cannot be short is refused', () => {
  // The fourth segment, due after eight seconds, would begin later than the fifth is due.
  const facts = { ...factsIn('av1'), frameRate: { numerator: 1, denominator: 2 } };
  const video = { ...facts.video, declaredRate: facts.frameRate };
  const gops = groups(Array(10).fill(4));
  expect(checkAlternativeCopy({ ...facts, video, gops, duration: 40 }).obstacle).toBe('segments');
});
