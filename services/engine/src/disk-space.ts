import { statfs } from 'node:fs/promises';
import type { ObjectStore } from '@framelane/object-store/object-store';

const GIB = 1024 ** 3;

/** Free bytes of the file system that contains a directory. */
export async function freeDiskBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/**
 * Bytes of the objects' disk that uploads and transcodes leave free: 2 GiB, or 5 % of a disk smaller than 40 GiB. Other
 * programs on the disk need them: PostgreSQL stops when it cannot write its write-ahead log.
 */
export function reservedBytes(totalBytes: number): number {
  return Math.min(2 * GIB, totalBytes / 20);
}

/**
 * Bytes that can be stored without touching the reserve of the objects' disk; below zero when the reserve is in use, and
 * infinite for a store without a disk of its own.
 */
export async function headroomBytes(objects: Pick<ObjectStore, 'diskSpace'>): Promise<number> {
  const space = await objects.diskSpace?.();
  return space ? space.freeBytes - reservedBytes(space.totalBytes) : Number.POSITIVE_INFINITY;
}
