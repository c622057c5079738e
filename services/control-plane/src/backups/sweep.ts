import type { BackupFolder } from './backup-folder.ts';
import { DamagedBackupError } from './compressed-lines.ts';
import { merged, paired } from './paired.ts';

/** Copies that one call removes. */
const REMOVED_AT_ONCE = 1000;

/** What was removed: backups, and copies of objects that no backup names any more. */
export type Swept = { backups: number; objects: number };

/**
 * Removes incomplete backups of a timeline, and all but the latest `keep` complete ones; then the copies that none of the others names. If a list of these
 * cannot be read, all copies stay.
 */
export async function sweep(
  folder: BackupFolder,
  timeline: string,
  keep: number | undefined,
  report: (line: string) => void,
): Promise<Swept> {
  const backups = await folder.backups(timeline);
  const kept = backups.filter(({ isComplete }) => isComplete).slice(0, keep);
  const removed = backups.filter((backup) => !kept.includes(backup));
  for (const { id } of removed) await folder.remove(id);
  try {
    return { backups: removed.length, objects: await removeUnnamed(folder, timeline, kept) };
  } catch (error) {
    if (!(error instanceof DamagedBackupError)) throw error;
    report(
      `${error.message} Remove the backup that it belongs to. Until then, no copy of an object is removed.`,
    );
    return { backups: removed.length, objects: 0 };
  }
}

async function removeUnnamed(
  folder: BackupFolder,
  timeline: string,
  kept: readonly { id: string }[],
): Promise<number> {
  const lists = kept.map(({ id }) => listed(folder, id));
  let [removed, unnamed] = [0, [] as string[]];
  const remove = async () => {
    await folder.removeCopies(timeline, unnamed);
    removed += unnamed.length;
    unnamed = [];
  };
  for await (const { key, left, right } of paired(folder.copies(timeline), merged(lists))) {
    if (left === undefined || right !== undefined) continue;
    unnamed.push(key);
    if (unnamed.length === REMOVED_AT_ONCE) await remove();
  }
  await remove();
  return removed;
}

async function* listed(folder: BackupFolder, id: string) {
  yield* folder.listed(id, await folder.manifest(id));
}
