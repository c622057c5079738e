import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** The keys of all objects stored for a video, sorted. `objectsDir` is where the file store keeps them. */
export async function storedObjects(objectsDir: string, videoId: string): Promise<string[]> {
  const entries = await readdir(objectsDir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(objectsDir, join(entry.parentPath, entry.name)))
    .filter((key) => key.split('/').includes(videoId))
    .sort();
}
