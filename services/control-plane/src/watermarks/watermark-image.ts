import type { WatermarkFormat } from '@framelane/contracts/watermark';
import { Problem } from '@framelane/service-kit/problem';
import { JPG } from 'image-size/types/jpg';
import { withoutMetadata } from '../image-files/jpeg-metadata.ts';
import { isPng, readPng } from '../image-files/png-image.ts';

/** The most bytes of an image. */
export const MAX_WATERMARK_BYTES = 2 ** 20;

/** The longest side of an image. An engine needs about 0.3 GB of memory for the largest one. */
const MAX_SIDE = 4096;

/** The EXIF orientation of an image that is shown as it is stored. */
const UPRIGHT = 1;

/** A JPEG image ends with this marker. */
const END_OF_IMAGE = Buffer.from([0xff, 0xd9]);

/** An image as it is stored, and its properties. */
export type WatermarkImage = { image: Buffer; format: WatermarkFormat; width: number; height: number };

/** The image that a client sends, without its metadata. Reads only the headers of its parts. Throws 400 `invalid_watermark`. */
export function readWatermark(sent: Buffer): WatermarkImage {
  const read = readImage(sent);
  const { width, height } = read;
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE) {
    throw invalidWatermark(
      `It has ${width} × ${height} pixels. Send an image of at most ${MAX_SIDE} × ${MAX_SIDE}.`,
    );
  }
  return read;
}

function readImage(sent: Buffer): WatermarkImage {
  if (sent.length === 0) throw invalidWatermark('It is empty.');
  if (isPng(sent)) {
    const { flaw, ...read } = readPng(sent);
    if (flaw === 'animated') throw invalidWatermark('It is animated. Send a still image.');
    if (flaw === undefined) return { format: 'png', ...(read as Omit<WatermarkImage, 'format'>) };
    throw damaged();
  }
  if (!JPG.validate(sent)) throw invalidWatermark('It is neither PNG nor JPEG.');
  const image = withoutMetadata(sent);
  const size = image?.subarray(-2).equals(END_OF_IMAGE) ? jpegHeader(image) : undefined;
  if (image === undefined || size === undefined) throw damaged();
  const { width, height, orientation = UPRIGHT } = size;
  if (orientation !== UPRIGHT) {
    throw invalidWatermark('Its EXIF orientation rotates it. Save the image upright.');
  }
  return { format: 'jpeg', image, width, height };
}

function jpegHeader(image: Buffer): ReturnType<typeof JPG.calculate> | undefined {
  try {
    return JPG.calculate(image);
  } catch {
    return undefined;
  }
}

function damaged(): Problem {
  return invalidWatermark('It is damaged. Export it again.');
}

function invalidWatermark(reason: string): Problem {
  return new Problem('invalid_watermark', `The image cannot be used. ${reason}`);
}
