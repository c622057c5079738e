import { describe, expect, test } from '@jest/globals';
import { audioTrack, videoTrack } from '../../tests/support/tracks.ts';
import type { AudioTrack, VideoTrack } from './media-source.ts';
import { checkTimeline, chooseTracks } from './source-checks.ts';

const video = videoTrack;
const audio = (changes: Partial<AudioTrack> = {}) => audioTrack({ isDefault: false, ...changes });
const choose = (videoTracks: VideoTrack[], audioTracks: AudioTrack[] = []) =>
  chooseTracks({ container: 'mp4', startTime: 0, declaredDuration: null, videoTracks, audioTracks });

describe('the tracks of a file', () => {
  test('are the default ones, else the first', () => {
    const tracks = choose(
      [video({ isDefault: false }), video({ index: 5 })],
      [audio({ index: 2 }), audio({ index: 3 })],
    );
    expect([tracks.video.index, tracks.audio?.index]).toEqual([5, 2]);
  });

  test('leave out sound that cannot be read when there is other sound', () => {
    expect(
      choose([video()], [audio({ codec: 'apac', isDefault: true }), audio({ index: 2 })]).audio?.index,
    ).toBe(2);
  });

  test('may have no sound', () => {
    expect(choose([video()]).audio).toBeNull();
  });

  const side = (width: number, height: number) => ({ coded: { width, height }, display: { width, height } });
  test.each([
    ['there is no video', [], [audio()], 'no_video_track'],
    ['the video codec is not on the list', [video({ codec: 'cinepak' })], [], 'unsupported_codec'],
    ['the video is encrypted', [video({ encrypted: true })], [], 'unsupported_codec'],
    ['no sound can be read', [video()], [audio({ codec: 'wmav2' })], 'unsupported_codec'],
    ['a side is too long', [video(side(8193, 16))], [], 'dimensions_exceeded'],
    ['it is shown too wide', [video({ display: { width: 9000, height: 16 } })], [], 'dimensions_exceeded'],
    ['there are too many pixels', [video(side(8192, 8192))], [], 'dimensions_exceeded'],
    ['its size is unknown', [video(side(0, 0))], [], 'malformed_media'],
  ])('are refused when %s', (_, videoTracks, audioTracks, code) => {
    expect(() => choose(videoTracks, audioTracks)).toThrow(
      expect.objectContaining({ code, retryable: false }),
    );
  });
});

describe('a timeline', () => {
  const check = (changes: object | null) => () =>
    checkTimeline(
      changes && { frames: 250, start: 0, duration: 10, averageRate: 25, grid: null, ...changes },
      3600,
    );

  test.each([{}, { duration: 0.1 }, { duration: 3600 }, { averageRate: 1 }, { averageRate: 240 }])(
    'is accepted with %j',
    (changes) => {
      expect(check(changes)).not.toThrow();
    },
  );

  test.each([
    [null, 'malformed_media'],
    [{ duration: 0.09 }, 'duration_too_short'],
    [{ duration: 3601 }, 'duration_exceeded'],
    [{ averageRate: 0.9 }, 'malformed_media'],
    [{ averageRate: 241 }, 'malformed_media'],
    [{ averageRate: Number.POSITIVE_INFINITY }, 'malformed_media'],
  ])('is refused with %j', (changes, code) => {
    expect(check(changes)).toThrow(expect.objectContaining({ code, retryable: false }));
  });
});
