import { lstat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** A path below a folder goes through a symbolic link, which can lead anywhere. */
export class SymbolicLinkError extends Error {
  override name = 'SymbolicLinkError';
  constructor(path: string) {
    super(`${path} is a symbolic link. Nothing here follows links: remove it, and find out who has made it.`);
  }
}

/** Throws a SymbolicLinkError if a part of the path below the folder is a symbolic link. The folder itself may be one. */
export async function refuseLinks(folder: string, path: string): Promise<void> {
  let at = folder;
  for (const name of relative(folder, path).split(sep)) {
    at = join(at, name);
    const stats = await lstat(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    if (stats === undefined) return;
    if (stats.isSymbolicLink()) throw new SymbolicLinkError(at);
  }
}
