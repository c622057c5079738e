import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import { type ImageName, imageKey } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { ImagesPlan } from './images-plan.ts';
import { withStorageRetries } from './with-storage-retries.ts';

/** Stores the pictures ffmpeg has left in its folder; null for one it could not make, which no video fails for. */
export async function storeImages(
  folder: string,
  { storyboard: { tile, columns, tiles, interval } }: ImagesPlan,
  attempt: { workspaceId: string; videoId: string; attempt: number },
  { objects, signal }: { objects: ObjectStore; signal: AbortSignal },
): Promise<Pick<Manifest, 'poster' | 'storyboard'>> {
  const store = async (name: ImageName, picture: Buffer | null) => {
    if (!picture) return null;
    await withStorageRetries(() => objects.put(imageKey(attempt, name), picture, 'image/jpeg'), signal);
    return { bytes: picture.length };
  };
  const [poster, storyboard] = await Promise.all([
    store('poster.jpg', await picture(folder, 'poster.jpg')),
    store('storyboard.jpg', await picture(folder, 'storyboard.jpg')),
  ]);
  return { poster, storyboard: storyboard && { ...storyboard, ...tile, columns, tiles, interval } };
}

/** Null when there is none. */
async function picture(folder: string, name: string): Promise<Buffer | null> {
  try {
    const bytes = await readFile(join(folder, name));
    return bytes.length > 0 ? bytes : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
