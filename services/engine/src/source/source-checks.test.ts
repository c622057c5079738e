import type { AudioOnlyRule } from '@framelane/contracts/internal-api';
import { describe, expect, test } from '@jest/globals';
import { audioTrack, videoTrack } from '../../tests/support/tracks.ts';
import type { AudioTrack, VideoTrack } from './media-source.ts';
import { checkHiddenPackets, checkTimeline, chooseTracks, VideoBudget } from './source-checks.ts';

const video = videoTrack;
const audio = (changes: Partial<AudioTrack> = {}) => audioTrack({ isDefault: false, ...changes });
const choose = (
  videoTracks: VideoTrack[],
  audioTracks: AudioTrack[] = [],
  audioOnly: AudioOnlyRule = 'refused',
) =>
  chooseTracks(
    {
      container: 'mp4',
      startTime: 0,
      declaredDuration: null,
      videoTracks,
      audioTracks,
      chapters: [],
      startTimes: [],
      withoutParameters: [],
      covers: [],
      tracks: [
        ...videoTracks.map(({ index, codec }) => ({ index, kind: 'video' as const, codec, language: null })),
        ...audioTracks.map(({ index, codec, language }) => ({
          index,
          kind: 'audio' as const,
          codec,
          language,
        })),
      ],
    },
    audioOnly,
  );

const side = (width: number, height: number) => ({ coded: { width, height }, display: { width, height } });

describe('the chosen tracks', () => {
  test('are the default ones, else the first', () => {
    const tracks = choose(
      [video({ isDefault: false }), video({ index: 5 })],
      [audio({ index: 2 }), audio({ index: 3 })],
    );
    expect([tracks.video?.index, ...tracks.audio.map(({ index }) => index)]).toEqual([5, 2, 3]);
  });

  test('leave out audio that cannot be decoded if there is other audio', () => {
    expect(
      choose([video()], [audio({ codec: 'apac', isDefault: true }), audio({ index: 2 })]).audio,
    ).toMatchObject([{ index: 2 }]);
  });

  test('are sound alone if it is accepted and there is no video', () => {
    expect(choose([], [audio()], 'accepted')).toMatchObject({ video: null, audio: [{ index: 1 }] });
    expect(choose([video()], [audio()], 'accepted').video).not.toBeNull();
    expect(() => choose([video({ codec: 'dirac' })], [audio()], 'accepted')).toThrow('codec');
  });

  test('are sound alone if it is required', () => {
    expect(choose([video()], [audio()], 'required')).toMatchObject({ video: null, audio: [{ index: 1 }] });
    expect(() => choose([video()], [], 'required')).toThrow('no audio track');
    expect(() => choose([video()], [audio({ codec: 'tta' })], 'required')).toThrow('codec');
  });

  test('are refused without video, and the message says how to publish sound', () => {
    expect(() => choose([], [audio()])).toThrow('"audioOnly": true');
    for (const rule of ['refused', 'accepted'] as const) {
      expect(() => choose([], [], rule)).toThrow(
        /^The file has no video track\. Upload a file that contains video\.$/,
      );
    }
  });

  test('leave out audio without channels', () => {
    expect(
      choose([video()], [audio({ channels: 0, isDefault: true }), audio({ index: 2 })]).audio,
    ).toMatchObject([{ index: 2 }]);
  });

  test('leave out video that cannot be decoded if there is other video', () => {
    const tracks = choose([video({ codec: 'dirac' }), video({ index: 3, isDefault: false })]);
    expect(tracks.video?.index).toBe(3);
  });

  test.each([
    ['has an unknown codec', audio({ codec: 'tta' })],
    ['is encrypted', audio({ encrypted: true })],
  ])('may lack audio, if the only track %s', (_, track) => {
    expect(choose([video()], [track]).audio).toEqual([]);
  });

  test('have at most eight of audio: the default one, then the first', () => {
    const tracks = Array.from({ length: 12 }, (_, at) => audio({ index: at + 1, isDefault: at === 10 }));
    const { audio: chosen } = choose([video()], tracks);
    expect(chosen.map(({ index }) => index)).toEqual([11, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('include audio without channels if there is no other audio', () => {
    expect(choose([video()], [audio({ index: 2, channels: 0 })]).audio).toMatchObject([{ index: 2 }]);
  });

  test.each([
    ['a side of the maximum length', side(8192, 16)],
    ['the maximum number of pixels', side(8000, 5000)],
    ['a single pixel', side(1, 1)],
  ])('may have %s', (_, size) => {
    expect(choose([video(size)]).video).toMatchObject(size);
  });

  test('that are encrypted are named in the refusal', () => {
    expect(() =>
      choose([video({ codec: 'cinepak', isDefault: false }), video({ index: 1, encrypted: true })]),
    ).toThrow('Track 2 (video, h264) is encrypted.');
  });

  test('that cannot be decoded are named in the refusal', () => {
    expect(() => choose([video({ index: 1, codec: 'cinepak' })])).toThrow(
      'Track 2 (video, cinepak) has a codec that is not supported.',
    );
  });

  test('may lack audio', () => {
    expect(choose([video()]).audio).toEqual([]);
  });

  test.each([
    ['there is no video track', [], [audio()], 'no_video_track'],
    ['the video codec is not accepted', [video({ codec: 'cinepak' })], [], 'unsupported_codec'],
    ['the video is encrypted', [video({ encrypted: true })], [], 'unsupported_codec'],
    ['the video needs Dolby Vision', [video({ needsDolbyVision: true })], [], 'unsupported_codec'],
    ['the frame height is too large', [video(side(16, 8193))], [], 'dimensions_exceeded'],
    [
      'the display height is too large',
      [video({ display: { width: 16, height: 9000 } })],
      [],
      'dimensions_exceeded',
    ],
    ['the frame width is unknown', [video(side(0, 16))], [], 'malformed_media'],
    ['the frame height is unknown', [video(side(16, 0))], [], 'malformed_media'],
    ['the frame width is too large', [video(side(8193, 16))], [], 'dimensions_exceeded'],
    [
      'the display width is too large',
      [video({ display: { width: 9000, height: 16 } })],
      [],
      'dimensions_exceeded',
    ],
    ['a frame has too many pixels', [video(side(8192, 8192))], [], 'dimensions_exceeded'],
    ['the frame size is unknown', [video(side(0, 0))], [], 'malformed_media'],
  ])('are refused when %s', (_, videoTracks, audioTracks, code) => {
    expect(() => choose(videoTracks, audioTracks)).toThrow(
      expect.objectContaining({ code, retryable: false }),
    );
  });
});

describe('a timeline', () => {
  const check =
    (changes: object | null, size = { width: 1920, height: 1080 }) =>
    () =>
      checkTimeline(
        changes && {
          cut: 0,
          frames: 250,
          start: 0,
          duration: 10,
          averageRate: 25,
          grid: null,
          losses: [],
          ...changes,
        },
        size,
        { maxDurationSeconds: 3600, maxSourceSeconds: 3600 },
      );

  test.each([{}, { duration: 0.1 }, { duration: 3600 }, { averageRate: 0.01 }, { averageRate: 240 }])(
    'is accepted with %j',
    (changes) => {
      expect(check(changes)).not.toThrow();
    },
  );

  test.each([
    [null, 'malformed_media'],
    [{ duration: 0.09 }, 'duration_too_short'],
    [{ duration: 3601 }, 'duration_exceeded'],
    [{ averageRate: 241 }, 'malformed_media'],
    [{ averageRate: Number.POSITIVE_INFINITY }, 'malformed_media'],
  ])('is refused with %j', (changes, code) => {
    expect(check(changes)).toThrow(expect.objectContaining({ code, retryable: false }));
  });

  test.each([
    [8192, 4320, 30],
    [3840, 2160, 120],
    [1920, 1080, 240],
  ])('of %s×%s pixels at %s frames per second is accepted', (width, height, averageRate) => {
    expect(check({ averageRate }, { width, height })).not.toThrow();
  });

  test('is refused with too many pixels per second', () => {
    expect(check({ averageRate: 60 }, { width: 8192, height: 4880 })).toThrow(
      expect.objectContaining({
        code: 'dimensions_exceeded',
        message:
          '8192×4880 at 60.0 frames per second has 2.4 billion pixels per second; at most 1.1 billion are allowed. Reduce the size or the frame rate.',
        retryable: false,
      }),
    );
  });
});

describe('the frame budget', () => {
  const spend = (frames: number, duration: number, width = 640, height = 360) =>
    new VideoBudget({ width, height }, { maxDurationSeconds: 12 * 3600, maxSourceSeconds: 12 * 3600 }).check(
      frames,
      duration,
    );

  test('allows twelve hours at 240 frames per second, and twelve hours of 4K at 30', () => {
    expect(() => spend(12 * 3600 * 240, 12 * 3600)).not.toThrow();
    expect(() => spend(12 * 3600 * 30, 12 * 3600, 3840, 2160)).not.toThrow();
  });

  test('refuses one frame more than twelve hours of 4K at 30', () => {
    expect(() => spend(12 * 3600 * 30 + 1, 1, 3840, 2160)).toThrow(
      expect.objectContaining({ code: 'dimensions_exceeded' }),
    );
  });

  test.each([
    ['last too long', 10, 12 * 3600 + 1, 640, 'duration_exceeded'],
    ['are too many', 12 * 3600 * 240 + 1, 10, 640, 'malformed_media'],
    ['are too many for their size', 12 * 3600 * 30, 12 * 3600, 12_000, 'dimensions_exceeded'],
  ])('refuses a video whose frames %s', (_, frames, duration, width, code) => {
    expect(() => spend(frames, duration, width, 2160)).toThrow(
      expect.objectContaining({ code, retryable: false }),
    );
  });
});

test.each([
  [true, 'av1', true],
  [false, 'av1', false],
  [true, 'h264', false],
])('hidden packets among displayed ones (%s) of %s are refused: %s', (hidesWithin, codec, isRefused) => {
  const check = () => checkHiddenPackets({ hidesAll: false, hidesWithin }, codec);
  if (isRefused) expect(check).toThrow('not supported for AV1');
  else expect(check).not.toThrow();
});
