import { createHash } from 'node:crypto';
import { finished } from 'node:stream/promises';
import { ObjectNotFoundError } from '@framelane/object-store/object-store';
import { type BackupFolder, type ListedObject, timelineOf } from './backup-folder.ts';
import { DamagedBackupError, hashed, readLines } from './compressed-lines.ts';
import { concurrently } from './concurrently.ts';

/** Reads at the same time. */
const READS_AT_ONCE = 8;

/** What was read of a backup, and the keys of its files that are missing or not as they were written. */
export type BackupVerification = { id: string; objects: number; bytes: number; damaged: string[] };

/** Reads every byte of a backup, and compares the hashes. Throws a DamagedBackupError if the list of objects or the manifest is damaged. */
export async function verifyBackup(folder: BackupFolder, id: string): Promise<BackupVerification> {
  const manifest = await folder.manifest(id);
  const result: BackupVerification = { id, objects: 0, bytes: 0, damaged: [] };
  for (const { name, sha256 } of manifest.tables) {
    const key = folder.keyOf(id, `tables/${name}.gz`);
    if (!(await isReadable(folder, key, sha256))) result.damaged.push(key);
  }
  const timeline = timelineOf(id);
  const checks = concurrently(folder.listed(id, manifest), READS_AT_ONCE, async (object) => ({
    object,
    isIntact: object.sha256 === null || (await isIntact(folder, timeline, object)),
  }));
  for await (const { object, isIntact } of checks) {
    result.objects += 1;
    result.bytes += object.bytes;
    if (!isIntact) result.damaged.push(folder.copyOf(timeline, object.key));
  }
  return result;
}

async function isReadable(folder: BackupFolder, key: string, sha256: string): Promise<boolean> {
  try {
    for await (const _ of readLines(folder.store, key, sha256));
    return true;
  } catch (error) {
    if (error instanceof DamagedBackupError) return false;
    throw error;
  }
}

async function isIntact(
  folder: BackupFolder,
  timeline: string,
  { key, sha256 }: ListedObject,
): Promise<boolean> {
  try {
    const { body } = await folder.open(timeline, key);
    const hash = createHash('sha256');
    await finished(hashed(body, hash).resume());
    return hash.digest('hex') === sha256;
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return false;
    throw error;
  }
}
