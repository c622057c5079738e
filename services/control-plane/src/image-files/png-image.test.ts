import { requireLinearTime } from '@framelane/test-kit/growth';
import { PNG_SIGNATURE, pngChunk, pngHeader, pngOf } from '@framelane/test-kit/png';
import { describe, expect, test } from '@jest/globals';
import { isPng, readPng } from './png-image.ts';

const END = pngChunk('IEND', Buffer.alloc(0));
const DATA = pngChunk('IDAT', Buffer.from('data'));
const HEADER = pngHeader(64, 32);
const pngFrom = (...chunks: Buffer[]) => Buffer.concat([PNG_SIGNATURE, ...chunks]);

/** A header of 64 × 32 pixels with these other fields. */
function headerWith(...fields: number[]): Buffer {
  const header = Buffer.from([0, 0, 0, 64, 0, 0, 0, 32, 8, 6, 0, 0, 0]);
  header.set(fields, 8);
  return pngChunk('IHDR', header);
}

test('an image has its size, and stays as it is without metadata', () => {
  const image = pngOf(640, 320);
  expect(isPng(image)).toBe(true);
  expect(readPng(image)).toEqual({ image, width: 640, height: 320 });
});

test('chunks that are not needed to decode the image are removed, and what follows it', () => {
  const texts = ['tEXt', 'zTXt', 'iTXt', 'iCCP', 'eXIf', 'gAMA', 'prIv'].map((type) =>
    pngChunk(type, Buffer.from('SECRET')),
  );
  const [palette, transparency] = [pngChunk('PLTE', Buffer.alloc(3)), pngChunk('tRNS', Buffer.alloc(1))];
  const sent = pngFrom(
    HEADER,
    ...texts,
    palette,
    transparency,
    DATA,
    ...texts,
    DATA,
    END,
    Buffer.from('SECRET'),
  );
  expect(readPng(sent)).toMatchObject({ image: pngFrom(HEADER, palette, transparency, DATA, DATA, END) });
});

test.each([
  ['grey in one bit', [1, 0, 0, 0, 0]],
  ['colours in 16 bits, interlaced', [16, 2, 0, 0, 1]],
  ['grey with alpha', [8, 4, 0, 0, 0]],
])('an image with %s is accepted', (_, fields) => {
  expect(readPng(pngFrom(headerWith(...fields), DATA, END))).toMatchObject({ width: 64, height: 32 });
});

test('an image with a palette is accepted', () => {
  const palette = pngChunk('PLTE', Buffer.alloc(3));
  expect(readPng(pngFrom(headerWith(4, 3, 0, 0, 0), palette, DATA, END))).toMatchObject({ width: 64 });
});

describe('is damaged:', () => {
  const image = pngOf(64, 32);
  test.each<[string, Buffer]>([
    ['an image that is cut off', image.subarray(0, -1)],
    ['an image without its end', pngFrom(HEADER, DATA)],
    ['the signature alone', PNG_SIGNATURE],
    ['an image without a header', pngFrom(DATA, END)],
    ['an image with a late header', pngFrom(DATA, HEADER, END)],
    ['an image with two headers', pngFrom(HEADER, HEADER, DATA, END)],
    ['an image without data', pngFrom(HEADER, END)],
    ['a palette image without a palette', pngFrom(headerWith(8, 3, 0, 0, 0), DATA, END)],
    ['a short header', pngFrom(pngChunk('IHDR', Buffer.alloc(12)), DATA, END)],
    ['an unknown colour type', pngFrom(headerWith(8, 5, 0, 0, 0), DATA, END)],
    ['a bit depth that the colour type does not have', pngFrom(headerWith(4, 6, 0, 0, 0), DATA, END)],
    ['an unknown compression', pngFrom(headerWith(8, 6, 1, 0, 0), DATA, END)],
    ['an unknown filter', pngFrom(headerWith(8, 6, 0, 1, 0), DATA, END)],
    ['an unknown interlacing', pngFrom(headerWith(8, 6, 0, 0, 2), DATA, END)],
    ['a chunk of 4 GB', pngFrom(HEADER, Buffer.from([0xff, 0xff, 0xff, 0xff]), DATA, END)],
    ['tens of thousands of chunks', pngFrom(HEADER, ...Array<Buffer>(20_000).fill(DATA), END)],
  ])('%s', (_, file) => {
    expect(readPng(file)).toEqual({ flaw: 'damaged' });
  });

  test('an image of which any byte has changed', () => {
    for (let at = PNG_SIGNATURE.length; at < image.length; at += 1) {
      const changed = Buffer.from(image);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      expect(readPng(changed)).toEqual({ flaw: 'damaged' });
    }
  });
});

test('an animated image is recognised', () => {
  const control = pngChunk('acTL', Buffer.alloc(8));
  expect(readPng(pngFrom(HEADER, control, DATA, END))).toEqual({ flaw: 'animated' });
});

test('hostile repetitions are read in linear time', async () => {
  const empty = pngChunk('IDAT', Buffer.alloc(0));
  for (const token of [
    empty,
    pngChunk('tEXt', Buffer.alloc(500)),
    Buffer.from([0, 0, 0, 1]),
    Buffer.alloc(12),
  ]) {
    const inputOf = (size: number) => pngFrom(HEADER, Buffer.alloc(size - 100, token), END);
    await requireLinearTime(2 ** 20, inputOf, readPng);
  }
});
