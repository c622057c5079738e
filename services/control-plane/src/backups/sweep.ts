import { BackupError, DamagedBackupError } from './backup-errors.ts';
import type { BackupFolder, ListedBackup } from './backup-folder.ts';
import { timelineOf } from './backup-id.ts';
import { merged, paired } from './paired.ts';

/** Copies that one call removes. */
const REMOVED_AT_ONCE = 1000;

/** An unfinished file of this age belongs to no command that still runs. */
const UNFINISHED_MS = 24 * 60 * 60 * 1000;

/** What was removed: backups, copies of objects that no backup names any more, and unfinished files. */
export type Swept = { backups: number; objects: number; unfinished: number };

/**
 * Removes incomplete backups of a timeline, and all but the latest `keep` complete ones; then the copies that none of the others names, and what killed
 * commands have left. Backups whose manifest cannot be read stay and do not count. While there is one of them, or a damaged list of another one, all copies stay,
 * because nobody knows what it names.
 */
export async function sweep(
  folder: BackupFolder,
  timeline: string,
  keep: number | undefined,
  report: (line: string) => void,
): Promise<Swept> {
  const backups = (await folder.describe()).filter(({ id }) => timelineOf(id) === timeline);
  const complete = backups.filter(({ state }) => state === 'complete');
  const kept = complete.slice(0, keep);
  const unreadable = backups.filter(({ state }) => state === 'damaged' || state === 'newer_format');
  const removed = backups.filter((each) => !kept.includes(each) && !unreadable.includes(each));
  for (const { id } of removed) await folder.remove(id);
  // The backup is complete without this, and not every object store lists unfinished uploads.
  const unfinished = await folder
    .removeUnfinished(new Date(Date.now() - UNFINISHED_MS))
    .catch((error: Error) => {
      report(`Unfinished files of interrupted backups could not be removed: ${error.message}`);
      return 0;
    });
  const objects = await removeUnnamed(folder, timeline, kept, unreadable).catch((error: unknown) => {
    if (!(error instanceof BackupError)) throw error;
    report(`${error.message} Until then, no copy of an object is removed.`);
    return 0;
  });
  return { backups: removed.length, objects, unfinished };
}

async function removeUnnamed(
  folder: BackupFolder,
  timeline: string,
  kept: readonly ListedBackup[],
  [unreadable]: readonly ListedBackup[],
): Promise<number> {
  if (unreadable !== undefined) throw new BackupError(describeUnreadable(unreadable));
  // Before anything is removed: a list could lack lines, which its hash says at its end only.
  for (const { id } of kept) await withRemedy(id, folder.requireIntactLists(id));
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

function describeUnreadable({ id, state }: ListedBackup): string {
  return state === 'newer_format'
    ? `A newer Framelane has made the backup ${id}. Use that version to remove it.`
    : `The manifest of the backup ${id} is damaged. Remove the folder of this backup.`;
}

/** Says which backup a damaged file belongs to. */
async function withRemedy(id: string, reading: Promise<void>): Promise<void> {
  try {
    await reading;
  } catch (error) {
    if (!(error instanceof DamagedBackupError)) throw error;
    throw new BackupError(`${error.message} Remove the folder of the backup ${id}.`, { cause: error });
  }
}
