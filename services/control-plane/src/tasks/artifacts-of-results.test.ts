import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import { expect, test } from '@jest/globals';
import { artifactsOf } from './artifacts-of-results.ts';

const rendition = (name: StoredRendition['name'], first: number, sizes: number[]): StoredRendition => ({
  name,
  first,
  codecs: 'any',
  segments: sizes.map((bytes, at) => ({ start: at, bytes })),
});

test('each part of a rendition is an artifact, with the sum of its segments', () => {
  const results = [
    { task: 2, try: 1, result: { renditions: [rendition('360p', 0, [3, 4]), rendition('480p', 0, [5])] } },
    { task: 3, try: 2, result: { renditions: [rendition('360p', 2, [6])] } },
  ];
  const segments = { kind: 'segments', attempt: 7 };
  expect(artifactsOf({ attempt: 7, revision: 0 }, results)).toEqual([
    { ...segments, name: '360p', firstSegment: 0, folder: 't2.1/', bytes: 7 },
    { ...segments, name: '480p', firstSegment: 0, folder: 't2.1/', bytes: 5 },
    { ...segments, name: '360p', firstSegment: 2, folder: 't3.2/', bytes: 6 },
  ]);
});

test.each<[string, TaskResult['images'], object[]]>([
  ['are missing', undefined, []],
  ['could not be made', { poster: null, storyboard: null }, []],
  [
    'are artifacts',
    {
      poster: { bytes: 8 },
      storyboard: { bytes: 9, width: 160, height: 90, columns: 1, tiles: 1, interval: 1 },
    },
    [
      { kind: 'poster', attempt: 7, folder: 't0.1/', bytes: 8 },
      { kind: 'storyboard', attempt: 7, folder: 't0.1/', bytes: 9 },
    ],
  ],
])('images: %s', (_, images, expected) => {
  expect(
    artifactsOf({ attempt: 7, revision: 0 }, [{ task: 0, try: 1, result: { renditions: [], images } }]),
  ).toEqual(expected);
});
