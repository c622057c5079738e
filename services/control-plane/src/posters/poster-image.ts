import type { components } from '@framelane/openapi/types';
import { Problem } from '@framelane/service-kit/problem';
import { JPG } from 'image-size/types/jpg';
import { withoutMetadata } from '../image-files/jpeg-metadata.ts';

/** The most bytes of a poster. */
export const MAX_POSTER_BYTES = 2 * 2 ** 20;

const MAX_POSTER_PIXELS = 4096;

/** From this EXIF orientation on, browsers show the image rotated by 90°. */
const FIRST_TURNED_ORIENTATION = 5;

/** A poster as it is stored, and its size. */
export type PosterImage = { image: Buffer; facts: components['schemas']['Poster'] };

/** The JPEG image that a client sends as a poster, without its metadata. Throws 400 `invalid_poster`. */
export function readPoster(sent: Buffer): PosterImage {
  if (sent.length === 0) throw invalidPoster('It is empty.');
  if (!JPG.validate(sent)) throw invalidPoster('It is not a JPEG image.');
  const image = withoutMetadata(sent);
  const size = image && jpegSize(image);
  if (image === undefined || size === undefined) {
    throw invalidPoster('It is damaged: its size cannot be read.');
  }
  const { width, height } = size;
  if (width < 1 || height < 1 || width > MAX_POSTER_PIXELS || height > MAX_POSTER_PIXELS) {
    throw invalidPoster(
      `It has ${width} × ${height} pixels. Send an image of at most ${MAX_POSTER_PIXELS} × ${MAX_POSTER_PIXELS}.`,
    );
  }
  return { image, facts: { width, height, bytes: image.length } };
}

/** The size of a JPEG image as browsers show it; undefined if it cannot be read. */
export function jpegSize(image: Buffer): { width: number; height: number } | undefined {
  try {
    const { width, height, orientation = 1 } = JPG.calculate(image);
    return orientation < FIRST_TURNED_ORIENTATION ? { width, height } : { width: height, height: width };
  } catch {
    return undefined;
  }
}

function invalidPoster(reason: string): Problem {
  return new Problem('invalid_poster', `The poster cannot be used. ${reason}`);
}
