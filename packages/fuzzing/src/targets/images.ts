import { withoutMetadata } from '@framelane/control-plane/image-files/jpeg-metadata';
import { isPng, readPng } from '@framelane/control-plane/image-files/png-image';
import { expectSame, expectThat } from '../promises.ts';
import type { Target } from '../target.ts';

/** A PNG image with one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** The segments of a JPEG image, without a picture. */
const JPEG = Buffer.from(
  'ffd8ffe000104a46494600010101004800480000ffe1000845786966000affdb00430001' +
    '01'.repeat(64) +
    'ffc0000b080001000101011100ffda0008010100003f00d2cf20ffd9',
  'hex',
);

/** A poster or a watermark as clients send it. */
export const target: Target = {
  maxBytes: 1500,
  steps: { fixed: 2_000, perByte: 40 },
  dictionary: [
    PNG.subarray(0, 8),
    'IHDR',
    'PLTE',
    'IDAT',
    'IEND',
    'acTL',
    'tEXt',
    PNG.subarray(8, 33),
    PNG.subarray(-12),
    ...['ffd8', 'ffd9', 'ffda', 'ffe1', 'ffe0', 'ffc0', 'fffe', 'ffd0', 'ff00'].map((hex) =>
      Buffer.from(hex, 'hex'),
    ),
  ],
  seeds: [PNG, JPEG],
  run: (input) => {
    if (isPng(input)) {
      const { image } = readPng(input);
      if (image !== undefined) {
        expectThat(image.length <= input.length, 'an image only becomes shorter');
        expectSame(readPng(image).image, image, 'an image is cleaned once');
      }
    }
    const cleaned = withoutMetadata(input);
    if (cleaned === undefined) return;
    expectThat(cleaned.length <= input.length, 'an image only becomes shorter');
    expectSame(withoutMetadata(cleaned), cleaned, 'an image is cleaned once');
  },
};
