import { DamagedBackupError } from './backup-errors.ts';
import type { BackupFolder } from './backup-folder.ts';
import { timelineOf } from './backup-id.ts';
import { readLines } from './compressed-lines.ts';
import { concurrently } from './concurrently.ts';
import { hashOfObject } from './copied-object.ts';
import type { Manifest } from './manifest.ts';

/** Reads at the same time. */
const READS_AT_ONCE = 8;

/** What was read of a backup, and the keys of its files that are missing or not as they were written. */
export type BackupVerification = {
  id: string;
  objects: number;
  bytes: number;
  damaged: string[];
  /** Whether the secrets were decrypted. `damaged` has their file, too. */
  secrets: 'opened' | 'not_opened' | 'damaged';
};

/**
 * Reads every byte of a backup, and compares the hashes. With `open`, which throws unless it can use them, it decrypts the secrets, too. Throws a
 * DamagedBackupError if the list of objects or the manifest is damaged.
 */
export async function verifyBackup(
  folder: BackupFolder,
  id: string,
  open?: (sealedSecrets: string) => Promise<unknown>,
): Promise<BackupVerification> {
  const manifest = await folder.manifest(id);
  const sealed = await unlessDamaged(folder.secrets(id, manifest));
  if (sealed !== undefined) await open?.(sealed);
  const whole = open === undefined ? 'not_opened' : 'opened';
  const secrets = sealed === undefined ? 'damaged' : whole;
  const damaged = await damagedTables(folder, id, manifest);
  if (secrets === 'damaged') damaged.push(folder.secretsKey(id));
  const result: BackupVerification = { id, objects: 0, bytes: 0, damaged, secrets };
  const timeline = timelineOf(id);
  const checks = concurrently(folder.listed(id, manifest), READS_AT_ONCE, async (object) => ({
    object,
    isIntact:
      object.sha256 === null ||
      object.sha256 === (await hashOfObject(() => folder.open(timeline, object.key))),
  }));
  for await (const { object, isIntact } of checks) {
    result.objects += 1;
    result.bytes += object.bytes;
    if (!isIntact) damaged.push(folder.copyOf(timeline, object.key));
  }
  return result;
}

/** The keys of the tables of a backup that are not as they were written. */
export async function damagedTables(
  folder: BackupFolder,
  id: string,
  { tables }: Pick<Manifest, 'tables'>,
): Promise<string[]> {
  const damaged: string[] = [];
  for (const { name, sha256, rows } of tables) {
    const key = folder.keyOf(id, `tables/${name}.gz`);
    const lines = await unlessDamaged(count(readLines(folder.store, key, sha256)));
    if (lines !== rows) damaged.push(key);
  }
  return damaged;
}

async function count(lines: AsyncIterable<unknown>): Promise<number> {
  let found = 0;
  for await (const _ of lines) found += 1;
  return found;
}

/** Resolves with undefined if a file of the backup is damaged. */
async function unlessDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof DamagedBackupError) return undefined;
    throw error;
  }
}
