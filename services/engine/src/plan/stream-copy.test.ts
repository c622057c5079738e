import { describe, expect, test } from '@jest/globals';
import { audioTrack, videoTrack } from '../../tests/support/tracks.ts';
import type { Gop } from '../source/gop-scan.ts';
import { checkAudioCopy, checkVideoCopy } from './stream-copy.ts';

/** Groups of pictures with these durations in seconds, at a bit rate. */
function groups(durations: readonly number[], bitsPerSecond = 1_000_000): Gop[] {
  let start = 0;
  return durations.map((duration) => {
    const gop = { start, duration, bytes: (bitsPerSecond * duration) / 8 };
    start += duration;
    return gop;
  });
}

const HD = { width: 1920, height: 1080 };
const RATE = { numerator: 25, denominator: 1 };

const facts = {
  container: 'mp4',
  video: videoTrack({ coded: HD, display: HD, level: 40 }),
  gops: groups(Array(15).fill(2)),
  top: { name: '1080p', ...HD, maxRate: 5_000_000, frameStep: 1 } as const,
  frameStep: 1,
  frameRate: RATE,
  duration: 30,
};
const withVideo = (changes: Parameters<typeof videoTrack>[0]) => ({ video: { ...facts.video, ...changes } });

describe('video stream copy', () => {
  test('is possible for compatible video', () => {
    expect(checkVideoCopy(facts)).toEqual({
      copy: { startsShort: true, segmentSeconds: 6 },
      obstacle: null,
    });
  });

  test.each([
    ['container', { container: 'mpegts' }],
    ['codec', withVideo({ codec: 'hevc' })],
    ['profile', withVideo({ profile: 'High 10' })],
    ['profile', withVideo({ profile: 'Baseline' })],
    ['level', withVideo({ level: 50 })],
    ['level', withVideo({ level: 0 })],
    ['pixel_format', withVideo({ pixelFormat: 'yuv422p' })],
    ['pixel_format', withVideo({ fullRange: true })],
    ['colour', withVideo({ dynamicRange: 'hlg' })],
    ['colour', withVideo({ colorMatrix: 'bt2020nc' })],
    ['colour', withVideo({ colorPrimaries: 'bt2020' })],
    ['colour', withVideo({ colorPrimaries: 'smpte432' })],
    ['colour', withVideo({ colorTransfer: 'linear' })],
    ['interlaced', withVideo({ interlaced: true })],
    ['shape', withVideo({ turn: ['hflip'] })],
    ['shape', withVideo({ squarePixels: false })],
    ['size', withVideo({ coded: { width: 1920, height: 1088 } })],
    ['size', withVideo({ coded: { width: 1918, height: 1080 } })],
    ['size', { top: { ...facts.top, width: 1728, height: 720 } }],
    ['frame_rate', withVideo({ declaredRate: { numerator: 50, denominator: 1 } })],
    ['frame_rate', withVideo({ declaredRate: null })],
    ['open_gop', { gops: 'open_gop' }],
    ['truncated', withVideo({ declaredDuration: 40 })],
    ['truncated', withVideo({ declaredDuration: 30.05 })],
    ['length', { duration: 31 }],
    ['length', { duration: 30.03 }],
    ['bit_rate', { gops: groups(Array(15).fill(2), 5_100_000) }],
    ['bit_rate', { gops: facts.gops.with(3, { start: 6, duration: 2, bytes: 2_600_000 }) }],
    ['segments', { gops: groups([1.9, 6.4, 6.4, 6.4, 6.4, 2.5]) }],
    // Frame 151 is missing in renditions of half the frame rate.
    ['segments', { gops: groups([6.04, ...Array(5).fill(4.792)]), frameStep: 2 }],
  ] as const)('is refused because of %s', (obstacle, changes) => {
    expect(checkVideoCopy({ ...facts, ...changes })).toEqual({ copy: null, obstacle });
  });

  test.each([
    ['with the tags of standard definition', withVideo({ colorMatrix: 'smpte170m' })],
    ['of each common profile', withVideo({ profile: 'Constrained Baseline' })],
    ['of each common profile', withVideo({ profile: 'Main' })],
    ['of the highest level', withVideo({ level: 42 })],
    ['that declares half a frame more', withVideo({ declaredDuration: 30.02 })],
    [
      'at a declared rate written as another fraction',
      withVideo({ declaredRate: { numerator: 50, denominator: 2 } }),
    ],
    ['with European tags', withVideo({ colorMatrix: 'bt470bg', colorTransfer: 'bt470bg' })],
    ['with the transfer function of computers', withVideo({ colorTransfer: 'iec61966-2-1' })],
    ['with old American tags', withVideo({ colorTransfer: 'bt470m' })],
    ['with American tags', withVideo({ colorTransfer: 'smpte170m' })],
    ['untagged', withVideo({ colorMatrix: null, colorPrimaries: null, colorTransfer: null })],
    ['above renditions of half the frame rate', { frameStep: 2 }],
    [
      'above such renditions, with an odd key frame inside a segment',
      { gops: groups([6, 1.04, 4.96, ...Array(9).fill(2)]), frameStep: 2 },
    ],
    ['at a rate written as another fraction', { frameRate: { numerator: 50, denominator: 2 } }],
    [
      'with a short peak above the maximum bit rate',
      { gops: facts.gops.with(3, { start: 6, duration: 2, bytes: 2_400_000 }) },
    ],
  ])('is possible %s', (_, changes) => {
    expect(checkVideoCopy({ ...facts, ...changes }).obstacle).toBeNull();
  });

  test.each([
    ['2 s', Array(15).fill(2), { startsShort: true, segmentSeconds: 6 }],
    [
      '1 to 2.5 s',
      [1.5, 1.5, 2.5, 2, 1, 2, 1.5, 2.5, 2, 2, 1.5, 2, 2, 2, 2, 2],
      { startsShort: true, segmentSeconds: 6 },
    ],
    ['5 s', Array(6).fill(5), { startsShort: false, segmentSeconds: 5 }],
    ['6.4 s', [6.4, 6.4, 6.4, 6.4, 4.4], { startsShort: false, segmentSeconds: 6 }],
    ['4.1666 s', [...Array(7).fill(25 / 6), 5 / 6], { startsShort: false, segmentSeconds: 4 }],
  ])('with key frames %s apart is cut so that no segment rounds to seven seconds', (_, durations, cuts) => {
    expect(checkVideoCopy({ ...facts, gops: groups(durations) }).copy).toEqual(cuts);
  });
});

describe('audio stream copy', () => {
  const FRAME = 1024 / 48_000;
  const compatible = {
    container: 'mp4',
    audio: audioTrack(),
    frames: { start: -FRAME, frames: 1408, bytes: 480_000 },
    lead: 0,
    duration: 30,
  };

  test('is possible for compatible audio, up to the end of the video', () => {
    const { copy } = checkAudioCopy(compatible);
    expect(copy).toEqual({ frames: 1407, end: expect.closeTo(1406 * FRAME) });
    expect(
      checkAudioCopy({
        ...compatible,
        frames: { ...compatible.frames, frames: 9000, bytes: 3_000_000 },
      }).copy,
    ).toEqual(copy);
  });

  test.each([
    ['starts a little late', { start: 0.02, frames: 1408, bytes: 480_000 }, 1406],
    ['ends one frame early', { start: 0.0055, frames: 1405, bytes: 480_000 }, 1405],
  ])('is possible if the audio %s', (_, frames, passed) => {
    expect(checkAudioCopy({ ...compatible, frames }).copy?.frames).toBe(passed);
  });

  test.each([
    ['container', { container: 'avi' }],
    ['codec', { audio: audioTrack({ codec: 'mp3' }) }],
    ['profile', { audio: audioTrack({ profile: 'HE-AAC' }) }],
    ['channels', { audio: audioTrack({ channels: 1 }) }],
    ['sample_rate', { audio: audioTrack({ sampleRate: 22_050 }) }],
    ['gaps', { frames: null }],
    ['start', { frames: { ...compatible.frames, start: -0.05 } }],
    ['start', { frames: { ...compatible.frames, start: 0.05 } }],
    ['start', { lead: 0.02 }],
    ['length', { frames: { ...compatible.frames, frames: 1300 } }],
    ['bit_rate', { frames: { ...compatible.frames, bytes: 700_000 } }],
  ] as const)('is refused because of %s', (obstacle, changes) => {
    expect(checkAudioCopy({ ...compatible, ...changes })).toEqual({ copy: null, obstacle });
  });
});
