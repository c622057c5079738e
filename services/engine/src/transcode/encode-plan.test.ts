import { describe, expect, test } from '@jest/globals';
import { planEncoding } from './encode-plan.ts';
import type { VideoTrack } from './media-source.ts';

const plan = (duration: number, video: Partial<VideoTrack> = {}, channels = 2) =>
  planEncoding({
    container: 'mp4',
    video: {
      ...{
        index: 0,
        codec: 'h264',
        encrypted: false,
        isDefault: true,
        pixelFormat: 'yuv420p',
        interlaced: false,
      },
      ...{ coded: { width: 640, height: 360 }, display: { width: 640, height: 360 }, dynamicRange: 'sdr' },
      ...{ colorMatrix: 'bt709', declaredRate: null, declaredDuration: null },
      ...video,
    },
    audio: { index: 1, codec: 'aac', encrypted: false, channels, language: null, isDefault: true },
    timeline: { frames: duration * 25, duration, averageRate: 25 },
  });

describe('an encode plan', () => {
  test.each([0.1, 1, 6, 23.96, 24, 30, 3600.04])('ends the sound of %s s with the picture', (duration) => {
    const { frames, audio, duration: delivered } = plan(duration);
    expect(frames).toBe(Math.round(duration * 25));
    const samples = audio?.samples ?? Number.NaN;
    // Whole AAC frames behind the one the encoder puts in front; the last begins before the picture ends.
    expect(samples % 1024).toBe(0);
    expect(samples).toBeLessThan(delivered * 48_000);
    expect(samples).toBeGreaterThanOrEqual(delivered * 48_000 - 1024);
  });

  test('assumes the matrix of its size for untagged video only', () => {
    expect(plan(1).assumedMatrix).toBeNull();
    expect(plan(1, { colorMatrix: null }).assumedMatrix).toBe('bt601');
    expect(plan(1, { colorMatrix: null, coded: { width: 1280, height: 720 } }).assumedMatrix).toBe('bt709');
  });

  test.each([
    ['nothing', {}, 2, []],
    ['fields', { interlaced: true }, 2, ['interlaced']],
    [
      'ten bits of high dynamic range',
      { pixelFormat: 'yuv420p10le', dynamicRange: 'pq' },
      2,
      ['hdr', 'high_bit_depth'],
    ],
    ['ten bits in two planes', { pixelFormat: 'p010le' }, 2, ['high_bit_depth']],
    ['eight bits of 4:2:2', { pixelFormat: 'yuvj422p' }, 2, ['chroma_subsampling']],
    ['a missing end', { declaredDuration: 20 }, 2, ['truncated']],
    ['six channels', {}, 6, ['audio_downmixed']],
  ] as [string, Partial<VideoTrack>, number, string[]][])('tells of %s', (_, video, channels, codes) => {
    expect(plan(10, video, channels).inputIssues.map(({ code }) => code)).toEqual(codes);
  });
});
