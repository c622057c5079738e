import { Problem } from '@framelane/service-kit/problem';
import { requireLinearTime } from '@framelane/test-kit/growth';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_POSTER_BYTES, readPoster } from './poster-image.ts';

const describePoster = (image: Buffer) => readPoster(image).facts;

test('the description of a JPEG image has its width, height and size in bytes', () => {
  expect(describePoster(jpegOf(1280, 720, 300))).toEqual({ width: 1280, height: 720, bytes: 300 });
  expect(describePoster(jpegOf(4096, 1))).toMatchObject({ width: 4096, height: 1 });
  expect(describePoster(jpegOf(1, 4096))).toMatchObject({ width: 1, height: 4096 });
});

test('an image with a rotation tag has the size after the rotation', () => {
  const tags = [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0];
  const exif = [...Buffer.from('Exif\0\0MM\0*'), 0, 0, 0, 8, ...tags, 0, 0, 0, 0];
  const [start, frame] = [jpegOf(640, 360).subarray(0, 2), jpegOf(640, 360).subarray(20)];
  const image = Buffer.concat([start, Buffer.from([0xff, 0xe1, 0, exif.length + 2, ...exif]), frame]);
  expect(describePoster(image)).toMatchObject({ width: 360, height: 640 });
});

test.each([
  ['nothing', Buffer.alloc(0), 'It is empty.'],
  ['a PNG image', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'It is not a JPEG image.'],
  ['the beginning of an image', jpegOf(640, 360).subarray(0, 20), 'It is damaged: its size cannot be read.'],
  ['an image without lines', jpegOf(640, 0), 'It has 640 × 0 pixels. Send an image of at most 4096 × 4096.'],
  [
    'an image without columns',
    jpegOf(0, 360),
    'It has 0 × 360 pixels. Send an image of at most 4096 × 4096.',
  ],
  [
    'an image that is too wide',
    jpegOf(4097, 1),
    'It has 4097 × 1 pixels. Send an image of at most 4096 × 4096.',
  ],
  [
    'an image that is too high',
    jpegOf(1, 4097),
    'It has 1 × 4097 pixels. Send an image of at most 4096 × 4096.',
  ],
])('%s is refused', (_, image, reason) => {
  expect(() => describePoster(image)).toThrow(
    new Problem('invalid_poster', `The poster cannot be used. ${reason}`),
  );
});

test('bytes of any kind have a size or are refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(2, 20, 33), (bytes, kept) => {
      const image = Buffer.concat([jpegOf(640, 360).subarray(0, kept), bytes]);
      try {
        expect(describePoster(image).bytes).toBeLessThanOrEqual(image.length);
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_poster' });
      }
    }),
  );
});

function readOrRefuse(image: Buffer): void {
  try {
    readPoster(image);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

/** Each is repeated: bytes that readers skip, segments, and their beginnings. */
const TOKENS = [
  ...['\0', '\xff', '\xff\0', '\xff\xd0', '\xff\xd9', '\xff\xc0\0\x02', '\xff\xda\0\x02', '\xff\xfe\0\x02'],
  ...['\xff\xfe\x08\0', '\xff\xe1\0\x08Exif\0\0', '\xff\xe2\xff\xff'],
].map((text) => Buffer.from(text, 'latin1'));

test.each([
  ['after JFIF', 20],
  ['after the frame', 33],
  ['in coded data', 43],
])('hostile repetitions %s are read in linear time', async (_, kept) => {
  const [begin, end] = [jpegOf(640, 360).subarray(0, kept), jpegOf(640, 360).subarray(-2)];
  for (const token of TOKENS) {
    const inputOf = (size: number) => Buffer.concat([begin, Buffer.alloc(size - 100, token), end]);
    await requireLinearTime(MAX_POSTER_BYTES, inputOf, readOrRefuse);
  }
});
