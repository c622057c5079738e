import { describe, expect, test } from '@jest/globals';
import { audioTrack, videoTrack } from '../../tests/support/tracks.ts';
import type { MediaSource } from './media-source.ts';
import { analysisOptions, hasFurtherTracks, lacksVideo, TrackArrivals } from './track-arrivals.ts';

const source = (changes: Partial<MediaSource> = {}): MediaSource => ({
  container: 'mpegts',
  startTime: 10,
  declaredDuration: null,
  videoTracks: [],
  audioTracks: [],
  covers: [],
  tracks: [],
  chapters: [],
  startTimes: [10, 10],
  withoutParameters: [],
  ...changes,
});

/** The arrivals of three tracks in a file that begins at 10 seconds. */
function arrivals() {
  const found = new TrackArrivals(10);
  found.add(0, 10, 188);
  found.add(1, 19.2, 3_000_000);
  found.add(0, 19.3, 3_000_188);
  found.add(2, Number.NaN, Number.NaN);
  return found;
}

describe('the arrivals of tracks', () => {
  test('are late where a track has packets and no parameters', () => {
    expect(arrivals().areLate(source())).toBe(false);
    expect(arrivals().areLate(source({ withoutParameters: [1] }))).toBe(true);
  });

  test('are not late where a track has neither', () => {
    expect(arrivals().areLate(source({ withoutParameters: [5] }))).toBe(false);
  });

  test('are late where a track is missing in the description', () => {
    const found = arrivals();
    found.countTracks(2);
    expect(found.areLate(source())).toBe(false);
    found.countTracks(3);
    expect(found.areLate(source())).toBe(true);
  });

  test('need an analysis that reaches the latest of the used tracks', () => {
    expect(arrivals().analysisOf([{ index: 0 }])).toEqual({ seconds: 10, bytes: 188 + 8 * 1024 ** 2 });
    expect(arrivals().analysisOf([0, 1, 2, 7].map((index) => ({ index })))).toEqual({
      seconds: 20,
      bytes: 3_000_000 + 8 * 1024 ** 2,
    });
  });
});

describe('a longer analysis', () => {
  const described = (changes: Partial<MediaSource> = {}) =>
    source({ videoTracks: [videoTrack()], audioTracks: [audioTrack()], ...changes });
  const text = { index: 2, kind: 'subtitles', language: null } as const;

  test.each([
    ['audio', described({ audioTracks: [audioTrack(), audioTrack({ index: 2 })] }), true],
    ['text', described({ tracks: [{ ...text, codec: 'subrip' }] }), true],
    ['nothing', described(), false],
    ['subtitles that are images', described({ tracks: [{ ...text, codec: 'dvb_subtitle' }] }), false],
    [
      'audio in a codec that is not accepted',
      described({ audioTracks: [audioTrack(), audioTrack({ index: 2, codec: 'unknown' })] }),
      false,
    ],
    ['other video', described({ videoTracks: [videoTrack(), videoTrack({ index: 2 })] }), false],
  ])('that has found %s', (_, thorough, expected) => {
    expect(hasFurtherTracks(thorough, described(), 'refused')).toBe(expected);
  });

  test.each([
    ['video', [0]],
    ['audio', [1]],
  ])('that has found the parameters of the %s', (_, withoutParameters) => {
    expect(hasFurtherTracks(described(), described({ withoutParameters }), 'refused')).toBe(true);
    expect(
      hasFurtherTracks(described({ withoutParameters }), described({ withoutParameters }), 'refused'),
    ).toBe(false);
  });
});

test('a file lacks video if no video track has a size', () => {
  const empty = videoTrack({ coded: { width: 0, height: 0 } });
  expect(lacksVideo(source())).toBe(true);
  expect(lacksVideo(source({ videoTracks: [empty] }))).toBe(true);
  expect(lacksVideo(source({ videoTracks: [empty, videoTrack({})] }))).toBe(false);
});

test('an analysis has options in microseconds and bytes', () => {
  expect(analysisOptions()).toEqual([]);
  expect(analysisOptions(undefined)).toEqual([]);
  expect(analysisOptions({ seconds: 20, bytes: 500 })).toEqual([
    '-analyzeduration',
    '20000000',
    '-probesize',
    '500',
  ]);
  expect(analysisOptions({ seconds: 10, bytes: 900 }, { seconds: 20, bytes: 500 })).toEqual([
    '-analyzeduration',
    '20000000',
    '-probesize',
    '900',
  ]);
});
