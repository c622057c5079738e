import type { ImagesPlan, ImagesResult } from '@framelane/contracts/outputs/images';
import type { ImageName } from '@framelane/object-store/object-keys';
import { type ToolOutput, ToolOutputError } from '../../sandbox/tool-output.ts';
import { incompleteOutput } from '../../transcode-failure.ts';
import type { Storing } from '../kinds.ts';
import { withStorageRetries } from '../storage-retries.ts';

/** Several times the size of the largest image (see plan/images.ts). */
const MAX_BYTES = 16 * 1024 ** 2;
/** A JPEG begins with the marker SOI and the first byte of the next marker, and ends with EOI (ITU-T T.81 §B.1.1.3). */
const START = Buffer.from([0xff, 0xd8, 0xff]);
const END = Buffer.from([0xff, 0xd9]);

/**
 * Stores the poster and the storyboard that ffmpeg wrote; null for an image that ffmpeg could not make. A missing image does
 * not fail the video. Throws a ToolOutputError when a file is not a JPEG image, and a TranscodeFailure when an image is truncated or
 * cannot be stored.
 */
export async function storeImages(
  output: ToolOutput,
  { images }: { images: ImagesPlan },
  { objects, prefix, signal }: Storing,
): Promise<ImagesResult> {
  const store = async (name: ImageName, image: Buffer | null) => {
    if (!image) return null;
    await withStorageRetries(() => objects.put(`${prefix}${name}`, image, 'image/jpeg'), signal);
    return { bytes: image.length };
  };
  // Both are read before one is stored: if one file is hostile, no image is stored.
  const posterImage = await readImage(output, 'poster.jpg');
  const layout = images.storyboard;
  const storyboardImage = layout && (await readImage(output, 'storyboard.jpg'));
  const poster = await store('poster.jpg', posterImage);
  const storyboard = await store('storyboard.jpg', storyboardImage);
  if (!layout || !storyboard) return { poster, storyboard: null };
  const { tile, columns, tiles, interval } = layout;
  return { poster, storyboard: { ...storyboard, ...tile, columns, tiles, interval } };
}

/** Null when the file is missing or empty. */
async function readImage(output: ToolOutput, name: ImageName): Promise<Buffer | null> {
  const file = await output.file(name, MAX_BYTES);
  if (!file) return null;
  try {
    if (file.bytes === 0) return null;
    const { buffer } = await file.handle.read(Buffer.alloc(file.bytes), 0, file.bytes, 0);
    if (!buffer.subarray(0, START.length).equals(START)) {
      throw new ToolOutputError(`${name} is not a JPEG image`);
    }
    if (!buffer.subarray(-END.length).equals(END)) throw incompleteOutput(`${name} is truncated`);
    return buffer;
  } finally {
    await file.handle.close();
  }
}
