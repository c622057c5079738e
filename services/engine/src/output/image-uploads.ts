import type { Manifest } from '@framelane/contracts/manifest';
import { type ImageName, imageKey } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { ImagesPlan } from '../plan/images.ts';
import { allOnceSettled } from '../transcode/all-once-settled.ts';
import { incompleteOutput } from '../transcode-failure.ts';
import { withStorageRetries } from './storage-retries.ts';
import { type ToolOutput, ToolOutputError } from './tool-output.ts';

/** Several times what the largest picture has (see images.ts). */
const MOST_BYTES = 16 * 1024 ** 2;
/** JPEG begins with the marker SOI and that of its next segment, and ends with EOI (ITU-T T.81 §B.1.1.3). */
const START = Buffer.from([0xff, 0xd8, 0xff]);
const END = Buffer.from([0xff, 0xd9]);

/**
 * Stores the pictures ffmpeg has left in its folder; null for one it could not make, which no video fails for. Throws a
 * ToolOutputError when something other than a picture has its name, and a failure when a picture has no end.
 */
export async function storeImages(
  output: ToolOutput,
  { storyboard: { tile, columns, tiles, interval } }: ImagesPlan,
  attempt: { workspaceId: string; videoId: string; attempt: number },
  { objects, signal }: { objects: ObjectStore; signal: AbortSignal },
): Promise<Pick<Manifest, 'poster' | 'storyboard'>> {
  const store = async (name: ImageName, picture: Buffer | null) => {
    if (!picture) return null;
    await withStorageRetries(() => objects.put(imageKey(attempt, name), picture, 'image/jpeg'), signal);
    return { bytes: picture.length };
  };
  // Both are read before one is stored: nothing is, of an output that cannot be trusted.
  const pictures = [await picture(output, 'poster.jpg'), await picture(output, 'storyboard.jpg')] as const;
  const [poster, storyboard] = await allOnceSettled([
    store('poster.jpg', pictures[0]),
    store('storyboard.jpg', pictures[1]),
  ]);
  return { poster, storyboard: storyboard && { ...storyboard, ...tile, columns, tiles, interval } };
}

/** Null when there is none. */
async function picture(output: ToolOutput, name: ImageName): Promise<Buffer | null> {
  const file = await output.file(name, MOST_BYTES);
  if (!file) return null;
  try {
    if (file.bytes === 0) return null;
    const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(file.bytes), 0, file.bytes, 0);
    if (!buffer.subarray(0, START.length).equals(START))
      throw new ToolOutputError(`${name} is no JPEG picture`);
    const isWhole = bytesRead === file.bytes && buffer.subarray(-END.length).equals(END);
    if (!isWhole) throw incompleteOutput(`${name} has no end`);
    return buffer;
  } finally {
    await file.handle.close();
  }
}
