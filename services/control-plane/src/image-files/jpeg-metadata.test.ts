import { jpegOf } from '@framelane/test-kit/jpeg';
import { describe, expect, test } from '@jest/globals';
import { withoutMetadata } from './jpeg-metadata.ts';

const segment = (marker: number, ...payload: (string | number[])[]): Buffer => {
  const bytes = Buffer.concat(payload.map((part) => Buffer.from(part as string, 'latin1')));
  const length = bytes.length + 2;
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 0xff]), bytes]);
};
const IMAGE = jpegOf(640, 360);
/** SOI and JFIF; the rest of the image. */
const [HEAD, BODY] = [IMAGE.subarray(0, 20), IMAGE.subarray(20)];
const imageWith = (...segments: Buffer[]) => Buffer.concat([HEAD, ...segments, BODY]);

/** An EXIF segment with the orientation, and the text of another tag after its directory. */
const exif = (orientation: number, order: 'II' | 'MM' = 'MM'): Buffer => {
  const u16 = (value: number) => (order === 'MM' ? [value >> 8, value & 0xff] : [value & 0xff, value >> 8]);
  const u32 = (value: number) => (order === 'MM' ? [...u16(0), ...u16(value)] : [...u16(value), ...u16(0)]);
  const gps = [...u16(0x8825), ...u16(4), ...u32(1), ...u32(50)];
  const turned = [...u16(0x0112), ...u16(3), ...u32(1), ...u16(orientation), 0, 0];
  const tiff = [...u16(42), ...u32(8), ...u16(2), ...gps, ...turned, ...u32(0)];
  return segment(0xe1, 'Exif\0\0', order, tiff, 'SECRET place');
};
const MINIMAL = (orientation: number) =>
  segment(0xe1, 'Exif\0\0MM\0*', [
    0,
    0,
    0,
    8,
    0,
    1,
    1,
    0x12,
    0,
    3,
    0,
    0,
    0,
    1,
    0,
    orientation,
    0,
    0,
    0,
    0,
    0,
    0,
  ]);

describe('is removed', () => {
  test.each<[string, Buffer]>([
    ['EXIF', exif(1)],
    ['EXIF with an unknown orientation', exif(9)],
    ['EXIF that ends early', segment(0xe1, 'Exif\0\0MM\0*\xff\xff\xff\xff')],
    ['XMP', segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0<SECRET/>')],
    ['a second JFIF segment with a preview', segment(0xe0, 'JFXX\0\x10SECRET')],
    ['another image (MPF)', segment(0xe2, 'MPF\0SECRET')],
    ['IPTC', segment(0xed, 'Photoshop 3.0\0SECRET')],
    ['an unknown application segment', segment(0xef, 'SECRET')],
    ['a comment', segment(0xfe, 'SECRET')],
    ['a reserved segment', segment(0xf0, 'SECRET')],
    ['a short Adobe segment', segment(0xee, 'Adobe')],
    ['bytes between segments', Buffer.from('SECRET')],
    ['fill bytes', Buffer.from([0xff, 0xff, 0xff])],
  ])('%s', (_, added) => {
    expect(withoutMetadata(imageWith(added))).toEqual(IMAGE);
  });

  test('what follows the image, such as a video', () => {
    expect(withoutMetadata(Buffer.concat([IMAGE, Buffer.from('SECRET'), exif(6)]))).toEqual(IMAGE);
  });

  test('metadata between the scans of a progressive image', () => {
    const scan = BODY.subarray(13, -2);
    const twice = (between: Buffer) =>
      Buffer.concat([IMAGE.subarray(0, -2), between, scan, IMAGE.subarray(-2)]);
    expect(withoutMetadata(twice(Buffer.concat([exif(1), segment(0xfe, 'SECRET')])))).toEqual(
      twice(Buffer.alloc(0)),
    );
  });

  test('the preview in the JFIF segment', () => {
    const preview = segment(0xe0, 'JFIF\0', [1, 1, 0, 0, 1, 0, 1, 2, 1], 'SECRET');
    expect(withoutMetadata(Buffer.concat([IMAGE.subarray(0, 2), preview, BODY]))).toEqual(IMAGE);
  });
});

describe('is kept', () => {
  test.each<[string, Buffer]>([
    ['a colour profile', segment(0xe2, 'ICC_PROFILE\0\x01\x01profile')],
    ['the colour transform of Adobe', segment(0xee, 'Adobe', [0, 100, 0, 0, 0, 0, 1])],
    ['tables', segment(0xdb, [0], 'x'.repeat(64))],
    ['the restart interval', segment(0xdd, [0, 4])],
  ])('%s', (_, added) => {
    expect(withoutMetadata(imageWith(added))).toEqual(imageWith(added));
  });

  test('coded data with stuffed bytes and restart markers', () => {
    const data = [0xff, 0, 0xff, 0xd0, 1, 0xff, 0xd7, 0xff, 0xff, 0];
    const image = Buffer.concat([IMAGE.subarray(0, -2), Buffer.from([...data, 0xff, 0xd9])]);
    expect(withoutMetadata(image)).toEqual(image);
  });

  test.each([2, 3, 4, 5, 6, 7, 8])('the orientation %d, alone', (orientation) => {
    for (const order of ['II', 'MM'] as const) {
      const stripped = withoutMetadata(imageWith(exif(orientation, order), exif(1)));
      expect(stripped).toEqual(imageWith(MINIMAL(orientation)));
    }
  });

  test('nothing of many EXIF segments that claim more entries than they have, in linear time', () => {
    const claims = segment(0xe1, 'Exif\0\0MM\0*', [0, 0, 0, 8, 0xff, 0xff]);
    const image = imageWith(...Array.from({ length: 900 }, () => claims));
    const before = process.cpuUsage();
    expect(withoutMetadata(image)).toEqual(IMAGE);
    const { user, system } = process.cpuUsage(before);
    // 600 ms if each claim is followed.
    expect((user + system) / 1000).toBeLessThan(200);
  });

  test('the orientation of an image without JFIF', () => {
    const [start, minimal] = [IMAGE.subarray(0, 2), MINIMAL(6)];
    expect(withoutMetadata(Buffer.concat([start, exif(6), BODY]))).toEqual(
      Buffer.concat([start, minimal, BODY]),
    );
  });
});

test.each<[string, Buffer]>([
  ['a segment that ends after the file', Buffer.concat([HEAD, Buffer.from([0xff, 0xe1, 0xff, 0xff])])],
  ['a segment without a length', Buffer.concat([HEAD, Buffer.from([0xff, 0xe1])])],
  ['a segment whose length is too small', imageWith(Buffer.from([0xff, 0xfe, 0, 1]))],
  ['no frame', HEAD],
  ['coded data before the frame', Buffer.concat([HEAD, BODY.subarray(13)])],
  ['thousands of segments', imageWith(...Array<Buffer>(2000).fill(segment(0xfe, '')))],
])('%s is damaged', (_, image) => {
  expect(withoutMetadata(image)).toBeUndefined();
});

test.each([0x00, 0xff])(
  '2 MiB of the byte %d between segments and in coded data are read in linear time',
  (byte) => {
    const padding = Buffer.alloc(2 * 2 ** 20, byte);
    const long = Buffer.concat([IMAGE.subarray(0, -2), padding]);
    // Quadratic work would take minutes.
    expect(withoutMetadata(imageWith(padding))?.equals(IMAGE)).toBe(true);
    expect(withoutMetadata(long)?.equals(long)).toBe(true);
  },
);
