import { statfs } from 'node:fs/promises';

/** Bytes that can still be written where a directory is. */
export async function freeDiskBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
