import { describe, expect, test } from '@jest/globals';
import { joinAlternative, joinManifest } from './joined-manifest.ts';
import type { TaskResult } from './outputs/outputs.ts';
import type { StoredRendition } from './outputs/renditions.ts';
import type { TranscodePlan } from './transcode-plan.ts';

/** 24 seconds in two renditions, with audio. */
const PLAN = {
  encode: {
    videoRenditions: [
      { name: '360p', width: 640, height: 360, maxRate: 1, frameStep: 2 },
      { name: '720p', width: 1280, height: 720, maxRate: 1, frameStep: 1 },
    ],
    audio: [{ name: 'audio', index: 3, channels: 2, end: 23.99 }],
    frameRate: { numerator: 50, denominator: 1 },
    duration: 24,
    inputIssues: [],
  } as unknown as TranscodePlan['encode'],
  facts: {
    source: {} as TranscodePlan['facts']['source'],
    audioTracks: [{ index: 3, language: 'de', label: 'Deutsch', role: null }],
    captions: [],
    chapters: [{ start: 500, title: 'A' }],
  },
  segmentStarts: [0, 300, 600, 900],
} satisfies Pick<TranscodePlan, 'encode' | 'facts' | 'segmentStarts'>;

/** Segments of six seconds. The first one of the video begins at 11.4 s. */
const part = (
  name: StoredRendition['name'],
  first: number,
  count: number,
  changes = {},
): StoredRendition => ({
  name,
  first,
  codecs: name === 'audio' ? 'mp4a.40.2' : 'avc1.64001f',
  segments: Array.from({ length: count }, (_, at) => ({
    start: 11.4 + 6 * (first + at),
    bytes: 100 + first + at,
  })),
  ...changes,
});
const pieceOf = (first: number, count: number): TaskResult => ({
  renditions: [part('360p', first, count), part('720p', first, count), part('iframes', 3 * first, 3 * count)],
});
const AUDIO: TaskResult = { renditions: [part('audio', 0, 4)] };
const IMAGES: TaskResult = { renditions: [], images: { poster: { bytes: 7 }, storyboard: null } };

describe('the manifest of a video of pieces', () => {
  test('has all segments in order, whatever the order of the results', () => {
    const { renditions, ...rest } = joinManifest(PLAN, [pieceOf(2, 2), IMAGES, AUDIO, pieceOf(0, 2)]);
    expect(
      renditions.map(({ name, frameRate, language, label }) => [name, frameRate, language, label]),
    ).toEqual([
      ['360p', 25, null, undefined],
      ['720p', 50, null, undefined],
      ['audio', null, 'de', 'Deutsch'],
    ]);
    for (const { segments } of renditions)
      expect(segments.map(({ bytes }) => bytes)).toEqual([100, 101, 102, 103]);
    expect(renditions.map(({ segments }) => segments.map(({ duration }) => duration))).toEqual([
      [6, 6, 6, 6],
      [6, 6, 6, 6],
      [6, 6, 6, 5.99],
    ]);
    expect(rest).toMatchObject({
      duration: 24,
      chapters: [{ start: 500, title: 'A' }],
      startTimestamp: 1_026_000,
    });
    expect(rest.iFrames?.segments).toHaveLength(12);
  });

  test('has I-frames only if they are stored', () => {
    const renditions = [part('360p', 0, 4), part('720p', 0, 4)];
    expect(joinManifest(PLAN, [{ renditions }, AUDIO])).not.toHaveProperty('iFrames');
  });

  const shifted = ({ renditions = [] }: TaskResult): TaskResult => ({
    renditions: renditions.map((rendition) => ({
      ...rendition,
      segments: rendition.segments.map(({ start, bytes }) => ({ start: start + 0.04, bytes })),
    })),
  });
  const whole = (changed: StoredRendition): TaskResult[] => [
    { renditions: [part('360p', 0, 4), part('720p', 0, 2), changed] },
    AUDIO,
  ];

  test.each([
    ['a missing piece', [pieceOf(0, 2), AUDIO], 'has 2 segments, not 4'],
    [
      'a piece whose segments all start late',
      [shifted(pieceOf(0, 2)), pieceOf(2, 2), AUDIO],
      'Segment 2 starts at another time',
    ],
    [
      'a piece that occurs twice',
      [pieceOf(0, 2), pieceOf(0, 2), AUDIO],
      'Segment 2 of 360p is missing or duplicate',
    ],
    ['a gap', [pieceOf(0, 1), pieceOf(2, 2), AUDIO], 'Segment 1 of 360p is missing or duplicate'],
    ['missing audio', [pieceOf(0, 4)], 'audio is missing'],
    ['missing segments of a rendition', whole(part('720p', 2, 1)), 'differ in their number of segments'],
    ['other codecs', whole(part('720p', 2, 2, { codecs: 'avc1.640020' })), 'differ in their codecs'],
    [
      'segments at other times',
      whole(part('720p', 2, 2, { segments: [23.4, 29.402].map((start) => ({ start, bytes: 1 })) })),
      'Segment 3 starts at different times',
    ],
  ])('is not made with %s', (_, results, message) => {
    expect(() => joinManifest(PLAN, results)).toThrow(message);
  });
});

describe('the renditions in another codec', () => {
  const AV1 = {
    ...PLAN,
    encode: { ...PLAN.encode, copiesVideo: true },
    alternatives: [
      {
        codec: 'av1' as const,
        videoRenditions: [
          { name: '360p-av1' as const, width: 640, height: 360, maxRate: 1, frameStep: 2 as const },
          { name: '720p-av1' as const, width: 1280, height: 720, maxRate: 1, frameStep: 1 as const },
        ],
      },
    ],
  };
  const START = 1_026_000;
  const av1 = (name: '360p-av1' | '720p-av1', first: number, count: number, changes = {}) =>
    part(name, first, count, { codecs: 'av01.0.05M.08', initialization: name, ...changes });
  const av1Piece = (first: number, count: number): TaskResult => ({
    renditions: [av1('360p-av1', first, count), av1('720p-av1', first, count)],
  });

  test('have all segments in order, whatever the order of the results', () => {
    // Results of other tasks are no part of them.
    const results = [av1Piece(3, 1), {}, pieceOf(0, 4), AUDIO, IMAGES, av1Piece(0, 3)];
    const durations = { channels: null, language: null, codecs: 'av01.0.05M.08' };
    const segments = [100, 101, 102, 103].map((bytes) => ({ duration: 6, bytes }));
    expect(joinAlternative('av1', AV1, results, START)).toEqual([
      {
        ...durations,
        name: '360p-av1',
        width: 640,
        height: 360,
        frameRate: 25,
        initialization: '360p-av1',
        segments,
      },
      {
        ...durations,
        name: '720p-av1',
        width: 1280,
        height: 720,
        frameRate: 50,
        initialization: '720p-av1',
        segments,
      },
    ]);
  });

  test('have segments where the plan has them, at any frame rate', () => {
    const ntsc = {
      ...AV1,
      encode: { ...AV1.encode, frameRate: { numerator: 50_000, denominator: 1001 }, duration: 24.024 },
    };
    const segments = [0, 1, 2, 3].map((at) => ({ start: 11.4 + 6.006 * at, bytes: 1 }));
    const result = { renditions: [av1('360p-av1', 0, 4, { segments }), av1('720p-av1', 0, 4, { segments })] };
    const [lowest, highest] = joinAlternative('av1', ntsc, [result], START);
    expect([lowest?.frameRate, highest?.frameRate]).toEqual([25_000 / 1001, 50_000 / 1001]);
    expect(lowest?.segments.map(({ duration }) => duration)).toEqual([6.006, 6.006, 6.006, 6.006]);
  });

  test('end with the video, not with its last segment', () => {
    const shorter = { ...AV1, encode: { ...AV1.encode, duration: 19.5 } };
    const [lowest] = joinAlternative('av1', shorter, [av1Piece(0, 4)], START);
    expect(lowest?.segments.map(({ duration }) => duration)).toEqual([6, 6, 6, 1.5]);
  });

  const whole = (changed: StoredRendition): TaskResult[] => [
    { renditions: [av1('360p-av1', 0, 4), av1('720p-av1', 0, 2), changed] },
  ];
  test.each([
    ['a missing piece', [av1Piece(0, 3)], START, 'has 3 segments, not 4'],
    ['no piece', [pieceOf(0, 4)], START, '360p-av1 is missing'],
    ['a gap', [av1Piece(0, 1), av1Piece(2, 2)], START, 'Segment 1 of 360p-av1 is missing or duplicate'],
    ['a piece that occurs twice', [av1Piece(0, 4), av1Piece(0, 4)], START, 'missing or duplicate'],
    [
      'fewer segments of a rendition',
      whole(av1('720p-av1', 2, 1)),
      START,
      'differ in their number of segments',
    ],
    [
      'other codecs',
      whole(av1('720p-av1', 2, 2, { codecs: 'av01.0.08M.08' })),
      START,
      'differ in their codecs',
    ],
    [
      'other initialization sections',
      whole(av1('720p-av1', 2, 2, { initialization: 'other' })),
      START,
      'differ in their initialization sections',
    ],
    // A player that changes the codec would show other frames.
    [
      'another start than that of the video',
      [av1Piece(0, 4)],
      START + 3600,
      'Segment 0 starts at another time',
    ],
  ])('are not made with %s', (_, results, start, message) => {
    expect(() => joinAlternative('av1', AV1, results, start)).toThrow(message);
  });

  test('may start at a slightly different time, as any rendition may', () => {
    expect(joinAlternative('av1', AV1, [av1Piece(0, 4)], START + 45)).toHaveLength(2);
  });

  test('must be a part of the plan', () => {
    expect(() => joinAlternative('hevc', AV1, [av1Piece(0, 4)], START)).toThrow('no renditions in hevc');
  });
});
