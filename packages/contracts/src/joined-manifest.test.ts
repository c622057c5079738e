import { describe, expect, test } from '@jest/globals';
import { joinManifest } from './joined-manifest.ts';
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
