import { Problem } from '@framelane/service-kit/problem';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { PNG_SIGNATURE, pngChunk, pngHeader, pngOf } from '@framelane/test-kit/png';
import { expect, test } from '@jest/globals';
import { readWatermark } from './watermark-image.ts';

const image = pngOf(64, 32);
const rest = image.subarray(PNG_SIGNATURE.length + pngHeader(64, 32).length);
/** An image whose header declares another size. */
const declared = (width: number, height: number) =>
  Buffer.concat([PNG_SIGNATURE, pngHeader(width, height), rest]);

test('an image has its format and its size', () => {
  expect(readWatermark(image)).toEqual({ format: 'png', image, width: 64, height: 32 });
  expect(readWatermark(declared(4096, 4096))).toMatchObject({ width: 4096, height: 4096 });
  const photo = jpegOf(640, 360);
  expect(readWatermark(photo)).toEqual({ format: 'jpeg', image: photo, width: 640, height: 360 });
});

test('the metadata of a JPEG image is removed', () => {
  const photo = jpegOf(640, 360);
  const comment = Buffer.from('\xff\xfe\0\x08SECRET', 'latin1');
  const sent = Buffer.concat([photo.subarray(0, 20), comment, photo.subarray(20)]);
  expect(readWatermark(sent).image).toEqual(photo);
});

/** A JPEG image with an EXIF orientation. */
function turned(orientation: number): Buffer {
  const photo = jpegOf(640, 360);
  const tags = [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
  const exif = [...Buffer.from('Exif\0\0MM\0*'), 0, 0, 0, 8, ...tags, 0, 0, 0, 0];
  const segment = Buffer.from([0xff, 0xe1, 0, exif.length + 2, ...exif]);
  return Buffer.concat([photo.subarray(0, 20), segment, photo.subarray(20)]);
}

test('a JPEG image that is upright is accepted', () => {
  expect(readWatermark(turned(1))).toMatchObject({ width: 640, height: 360 });
});

const animated = Buffer.concat([PNG_SIGNATURE, pngHeader(64, 32), pngChunk('acTL', Buffer.alloc(8)), rest]);
const DAMAGED = 'It is damaged. Export it again.';

test.each([
  ['nothing', Buffer.alloc(0), 'It is empty.'],
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'It is neither PNG nor JPEG.'],
  ['GIF', Buffer.from('GIF89a'), 'It is neither PNG nor JPEG.'],
  ['an animation', animated, 'It is animated. Send a still image.'],
  ['a PNG image that is cut off', image.subarray(0, 60), DAMAGED],
  ['a JPEG image that is cut off', jpegOf(640, 360).subarray(0, 100), DAMAGED],
  ['a JPEG image without a frame', jpegOf(640, 360).subarray(0, 20), DAMAGED],
  ['a rotated photo', turned(6), 'Its EXIF orientation rotates it. Save the image upright.'],
  ['a bomb', declared(65_535, 65_535), 'It has 65535 × 65535 pixels. Send an image of at most 4096 × 4096.'],
  [
    'one that is too wide',
    declared(4097, 1),
    'It has 4097 × 1 pixels. Send an image of at most 4096 × 4096.',
  ],
  ['one without lines', declared(64, 0), 'It has 64 × 0 pixels. Send an image of at most 4096 × 4096.'],
])('%s is refused', (_, file, reason) => {
  expect(() => readWatermark(file)).toThrow(
    new Problem('invalid_watermark', `The image cannot be used. ${reason}`),
  );
});
