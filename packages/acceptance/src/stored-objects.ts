import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** The keys of all objects stored for a video, sorted. `objectsDir` is where the file store keeps them. */
export async function storedObjects(objectsDir: string, videoId: string): Promise<string[]> {
  const files = await filesBelow(objectsDir);
  return files
    .map((file) => relative(objectsDir, file))
    .filter((key) => key.split('/').includes(videoId))
    .sort();
}

/** Directories may go while they are looked through: others are deleting. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(noneIfGone);
  const nested = await Promise.all(
    entries.map((entry) => {
      const place = join(directory, entry.name);
      return entry.isDirectory() ? filesBelow(place) : [place];
    }),
  );
  return nested.flat();
}

function noneIfGone(error: NodeJS.ErrnoException): Dirent[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
