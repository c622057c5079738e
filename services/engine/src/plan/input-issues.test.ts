import { describe, expect, test } from '@jest/globals';
import { audioTrack, videoTrack } from '../../tests/support/tracks.ts';
import type { VideoTrack } from '../source/media-source.ts';
import type { ProbedVideo } from '../source/probe.ts';
import { inputIssues } from './input-issues.ts';

/** The issues of ten seconds at 25 frames per second, with changes. */
function issues(
  {
    video,
    channels = 2,
    timeline,
    ...source
  }: Partial<Omit<ProbedVideo, 'video' | 'timeline'>> & {
    video?: Partial<VideoTrack>;
    channels?: number;
    timeline?: Partial<ProbedVideo['timeline']>;
  },
  {
    framesPerSecond = 25,
    lead = 0,
    surround = false,
    ...asked
  }: Partial<Parameters<typeof inputIssues>[1]> = {},
) {
  return inputIssues(
    {
      container: 'mp4',
      reading: {},
      audio: [{ ...audioTrack({ channels }), start: 0, end: 10, frames: null }],
      leftOut: [],
      chapters: [],
      end: 10,
      unread: 0,
      declaredDuration: null,
      changes: new Map(Array.from({ length: 60 }, (_, second) => [second, 2])),
      gops: 'irregular',
      entryPoints: null,
      audioAhead: 0,
      keyFramesNeedOthers: false,
      layout: null,
      ...source,
      video: videoTrack(video),
      timeline: { cut: 0, frames: 250, start: 0, duration: 10, averageRate: 25, grid: null, ...timeline },
    },
    { framesPerSecond, lead, surround, copyPreventedBy: null, endsAt: null, ...asked },
  );
}
const codes = (...facts: Parameters<typeof issues>) => issues(...facts).map(({ code }) => code);

describe('the issues of a source', () => {
  test.each([
    ['no flaw', {}, []],
    ['fields', { video: { interlaced: true } }, ['interlaced']],
    [
      'ten bits of high dynamic range',
      { video: { pixelFormat: 'yuv420p10le', dynamicRange: 'pq' } },
      ['hdr', 'high_bit_depth'],
    ],
    ['stereo', { channels: 2 }, []],
    ['six channels', { channels: 6 }, ['audio_downmixed']],
    ['no audio', { audio: [] }, []],
  ] as const)('depend on the tracks: %s', (_, facts, expected) => {
    expect(codes(facts)).toEqual(expected);
  });

  test.each([
    ['yuv420p', []],
    ['nv12', []],
    ['gray', []],
    ['yuv420p9le', ['high_bit_depth']],
    ['yuv420p12be', ['high_bit_depth']],
    ['p010le', ['high_bit_depth']],
    ['gray10le', ['high_bit_depth']],
    ['gray16be', ['high_bit_depth']],
    ['yuv411p', []],
    ['yuvj422p', ['chroma_subsampling']],
    ['yuv440p', ['chroma_subsampling']],
    ['yuv444p14le', ['high_bit_depth', 'chroma_subsampling']],
    ['gbrp', ['chroma_subsampling']],
    ['gbrap10le', ['high_bit_depth', 'chroma_subsampling']],
    ['gbrpf16le', ['high_bit_depth', 'chroma_subsampling']],
    ['xyz12le', ['high_bit_depth']],
    ['ya16be', ['high_bit_depth']],
    ['rgb24', ['chroma_subsampling']],
    ['rgb48be', ['high_bit_depth', 'chroma_subsampling']],
    ['bgra64le', ['high_bit_depth', 'chroma_subsampling']],
    ['bgr0', ['chroma_subsampling']],
  ])('of the pixel format %s are %j', (pixelFormat, expected) => {
    expect(codes({ video: { pixelFormat } })).toEqual(expected);
  });

  test.each([
    [4, true, ['4 audio channels were downmixed to stereo.']],
    [6, true, []],
    [8, true, ['8 audio channels were downmixed to 5.1 and to stereo.']],
    [8, false, ['8 audio channels were downmixed to stereo.']],
  ])('of %d channels, with a rendition in 5.1: %s', (channels, surround, messages) => {
    expect(issues({ channels }, { surround }).map(({ message }) => message)).toEqual(messages);
  });

  test('name the track, if there are several', () => {
    const audio = [2, 6].map((channels, index) => ({
      ...audioTrack({ index, channels }),
      start: 0,
      end: 10,
      frames: null,
    }));
    expect(issues({ audio }).map(({ message }) => message)).toEqual([
      '6 audio channels of track 2 were downmixed to stereo.',
    ]);
  });

  test('include each track that is left out', () => {
    const leftOut = [{ index: 2, kind: 'audio' as const, codec: 'aac', language: 'de' }];
    expect(issues({ leftOut })).toEqual([
      { code: 'track_left_out', message: 'Track 3 (audio, aac, de) was left out.' },
    ]);
  });
});

test('chapters that cannot be taken are an issue', () => {
  expect(codes({ chapters: [{ start: 0, title: 'A' }] })).toEqual([]);
  expect(codes({ chapters: 'too_many' })).toEqual(['chapters_left_out']);
});

describe('a file is truncated', () => {
  test.each([
    [10.5, []],
    [10.6, ['truncated']],
  ])('if its video is much shorter than its declared %s seconds: %j', (declaredDuration, expected) => {
    expect(codes({ video: { declaredDuration }, end: 20 })).toEqual(expected);
  });

  test('if its longest track is much shorter than the file declares, and the video declares no duration', () => {
    const truncated = (end: number) => issues({ end, declaredDuration: 20 });
    expect(truncated(15)).toEqual([
      { code: 'truncated', message: 'The file ends after 15.0 of 20.0 seconds.' },
    ]);
    expect(truncated(19.5)).toEqual([]);
  });

  test('if much of the file cannot be read', () => {
    const unread = (fraction: number, container = 'mpegts') => issues({ unread: fraction, container });
    expect(unread(0.6)).toEqual([
      { code: 'truncated', message: 'The last 60 % of the file cannot be read: it is damaged.' },
    ]);
    expect(unread(0.5, 'ogg').map(({ message }) => message)).toEqual([
      'The last 50 % of the file cannot be read: it is damaged, or another video follows in it (chained Ogg).',
    ]);
    expect(unread(0.05)).toEqual([]);
    expect(codes({ unread: 0.6, end: 4, declaredDuration: 10 })).toEqual(['truncated']);
  });
});

describe('the frame rate is changed', () => {
  test.each([
    ['of a variable rate', { averageRate: 17.3, frames: 173 }, {}],
    ['of a fast source', { averageRate: 120, frames: 1200 }, { framesPerSecond: 60 }],
    ['by two frames', { averageRate: 24.7, frames: 248 }, {}],
    ['by more frames than a cut at the start explains', { averageRate: 26, frames: 250 }, { lead: 0.1 }],
  ])('%s', (_, timeline, output) => {
    expect(codes({ timeline }, output)).toEqual(['frame_rate_changed']);
  });

  test.each([
    ['a measured rate within one percent', { averageRate: 25.24, frames: 300 }, {}],
    ['a short video with a rounded rate', { averageRate: 26, frames: 251 }, {}],
    ['a start that is cut', { averageRate: 26, frames: 248 }, { lead: 0.08 }],
  ])('except for %s', (_, timeline, output) => {
    expect(codes({ timeline }, output)).toEqual([]);
  });
});

test('what the owner has asked for', () => {
  expect(issues({}, { copyPreventedBy: 'watermark' })).toEqual([
    {
      code: 'copy_prevented',
      message: 'The highest quality was encoded instead of copied, because the video has a watermark.',
    },
  ]);
  expect(issues({}, { copyPreventedBy: 'trim', endsAt: 12.3456 })).toEqual([
    {
      code: 'copy_prevented',
      message: 'The highest quality was encoded instead of copied, because the video is trimmed.',
    },
    { code: 'trim_shortened', message: 'The trim ends with the file, which lasts 12.346 seconds.' },
  ]);
});
