import { expect, test } from '@jest/globals';
import { planImages } from './images.ts';

const SIZE = { width: 640, height: 360 };

test.each([
  ['a single frame', 0.04, 0, { tiles: 1, columns: 1, rows: 1, interval: 1 }],
  ['a few seconds', 3.2, 3.16, { tiles: 4, columns: 4, rows: 1, interval: 1 }],
  ['exactly three seconds', 3, 2.96, { tiles: 3, columns: 3, rows: 1, interval: 1 }],
  ['half a minute', 30, 29.96, { tiles: 30, columns: 10, rows: 3, interval: 1 }],
  ['a hundred seconds', 100, 99.96, { tiles: 100, columns: 10, rows: 10, interval: 1 }],
  ['a little more than a hundred seconds', 100.04, 100, { tiles: 51, columns: 10, rows: 6, interval: 2 }],
  ['twelve hours', 43_200, 43_199.9, { tiles: 100, columns: 10, rows: 10, interval: 432 }],
])('the storyboard of %s', (_, duration, lastFrame, expected) => {
  expect(planImages(SIZE, duration, lastFrame).storyboard).toMatchObject(expected);
});

test.each([
  [640, 360, 160, 90],
  [360, 640, 160, 284],
  [854, 358, 160, 68],
  [4096, 2, 160, 2],
  [48, 2000, 12, 480],
  [16, 8192, 2, 480],
])(
  'the tiles of the storyboard have the aspect ratio of the video, %s x %s',
  (width, height, tileWidth, tileHeight) => {
    const { storyboard } = planImages({ width, height }, 10, 9.96);
    expect(storyboard?.tile).toEqual({ width: tileWidth, height: tileHeight });
  },
);

test('the poster is taken after a tenth of the video, and exists for a single frame', () => {
  expect(planImages(SIZE, 30, 29.96).posterFrom).toBeCloseTo(3);
  expect(planImages(SIZE, 0.04, 0).posterFrom).toBe(0);
});
