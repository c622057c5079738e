import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** The sorted keys of all objects of a video. `objectsDir` is the directory of the file store. */
export async function storedObjects(objectsDir: string, videoId: string): Promise<string[]> {
  const files = await filesBelow(objectsDir);
  return files
    .map((file) => relative(objectsDir, file))
    .filter((key) => key.split('/').includes(videoId))
    .sort();
}

/** A directory may be deleted during the listing. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(noneIfMissing);
  const nested = await Promise.all(
    entries.map((entry) => {
      const place = join(directory, entry.name);
      return entry.isDirectory() ? filesBelow(place) : [place];
    }),
  );
  return nested.flat();
}

function noneIfMissing(error: NodeJS.ErrnoException): Dirent[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
