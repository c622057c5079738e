import { WATERMARK_CORNERS } from '@framelane/contracts/watermark';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { watermarkPlace } from './watermark-place.ts';

const LOGO = { width: 400, height: 200 };

test.each([
  ['top-left', { x: 20, y: 20 }],
  ['top-right', { x: 1920 - 20 - 192, y: 20 }],
  ['bottom-left', { x: 20, y: 1080 - 20 - 96 }],
  ['bottom-right', { x: 1920 - 20 - 192, y: 1080 - 20 - 96 }],
] as const)('a tenth of the width, %s', (corner, place) => {
  const watermark = { corner, width: 0.1, margin: 0.02, image: LOGO };
  expect(watermarkPlace(watermark, { width: 1920, height: 1080 })).toEqual({
    ...place,
    width: 192,
    height: 96,
  });
});

test.each([
  ['as wide as the video', { width: 1, image: LOGO }, { x: 20, y: 20, width: 1880, height: 940 }],
  ['higher than the video', { width: 1, image: { width: 10, height: 1000 } }, { width: 10, height: 1040 }],
  [
    'far narrower than a pixel',
    { width: 0.001, image: { width: 1, height: 4096 } },
    { width: 2, height: 1040 },
  ],
  [
    'larger than the video',
    { width: 1, image: { width: 4096, height: 4096 } },
    { width: 1040, height: 1040 },
  ],
])('an image that is %s fits between the margins', (_, settings, place) => {
  const watermark = { corner: 'top-left', margin: 0.02, ...settings } as const;
  expect(watermarkPlace(watermark, { width: 1920, height: 1080 })).toMatchObject(place);
});

test('every watermark is inside of every frame, in whole pixels of chroma', () => {
  const even = (max: number) => fc.integer({ min: 1, max: max / 2 }).map((half) => 2 * half);
  const side = fc.integer({ min: 1, max: 4096 });
  const watermarks = fc.record({
    corner: fc.constantFrom(...WATERMARK_CORNERS),
    width: fc.double({ min: 0.001, max: 1, noNaN: true }),
    margin: fc.double({ min: 0, max: 0.25, noNaN: true }),
    image: fc.record({ width: side, height: side }),
  });
  fc.assert(
    fc.property(watermarks, fc.record({ width: even(8192), height: even(8192) }), (watermark, frame) => {
      const { x, y, width, height } = watermarkPlace(watermark, frame);
      for (const number of [x, y, width, height]) expect(number % 2).toBe(0);
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
      expect(Math.min(width, height)).toBeGreaterThanOrEqual(2);
      expect(x + width).toBeLessThanOrEqual(frame.width);
      expect(y + height).toBeLessThanOrEqual(frame.height);
    }),
  );
});
