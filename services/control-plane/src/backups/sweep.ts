import { BackupError, DamagedBackupError } from './backup-errors.ts';
import type { BackupFolder } from './backup-folder.ts';
import { merged, paired } from './paired.ts';

/** Copies that one call removes. */
const REMOVED_AT_ONCE = 1000;

/** An unfinished file of this age belongs to no command that still runs. */
const UNFINISHED_MS = 24 * 60 * 60 * 1000;

/** What was removed: backups, copies of objects that no backup names any more, and unfinished files. */
export type Swept = { backups: number; objects: number; unfinished: number };

/**
 * Removes incomplete backups of a timeline, and all but the latest `keep` complete ones; then the copies that none of the others names, and what killed
 * commands have left. Backups of a newer format stay and do not count. While one of them or a damaged list is kept, all copies stay, because nobody
 * knows what it names.
 */
export async function sweep(
  folder: BackupFolder,
  timeline: string,
  keep: number | undefined,
  report: (line: string) => void,
): Promise<Swept> {
  const [complete, removed]: [string[], string[]] = [[], []];
  let newer: string | undefined;
  for (const { id, isComplete } of await folder.backups(timeline)) {
    if (!isComplete) removed.push(id);
    else if (await folder.hasNewerFormat(id)) newer ??= id;
    else complete.push(id);
  }
  const kept = complete.slice(0, keep);
  removed.push(...complete.slice(kept.length));
  for (const id of removed) await folder.remove(id);
  // The backup is complete without this, and not every object store lists unfinished uploads.
  const unfinished = await folder
    .removeUnfinished(new Date(Date.now() - UNFINISHED_MS))
    .catch((error: Error) => {
      report(`Unfinished files of interrupted backups could not be removed: ${error.message}`);
      return 0;
    });
  const objects = await removeUnnamed(folder, timeline, kept, newer).catch((error: unknown) => {
    if (!(error instanceof BackupError)) throw error;
    report(`${error.message} Until then, no copy of an object is removed.`);
    return 0;
  });
  return { backups: removed.length, objects, unfinished };
}

async function removeUnnamed(
  folder: BackupFolder,
  timeline: string,
  kept: readonly string[],
  newer: string | undefined,
): Promise<number> {
  if (newer !== undefined) {
    throw new BackupError(`A newer Framelane has made the backup ${newer}. Use that version to remove it.`);
  }
  const lists = kept.map((id) => listed(folder, id));
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
  try {
    yield* folder.listed(id, await folder.manifest(id));
  } catch (error) {
    if (!(error instanceof DamagedBackupError)) throw error;
    throw new BackupError(`${error.message} Remove the backup ${id}.`, { cause: error });
  }
}
