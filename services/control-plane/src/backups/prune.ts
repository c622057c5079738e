import type { Database } from '../db/database.ts';
import { OTHER_COMMAND, type Report } from './backup.ts';
import { BackupError } from './backup-errors.ts';
import type { BackupFolder } from './backup-folder.ts';
import { findTimeline, withBackupLock } from './backup-state.store.ts';
import { type Swept, sweep } from './sweep.ts';

/**
 * Removes all but the latest `keep` backups of an installation, and what only they need. Throws a BackupError if the installation has never made one, or another
 * command writes backups.
 */
export async function pruneBackups(options: {
  db: Database;
  folder: BackupFolder;
  keep: number;
  report: Report;
}): Promise<Swept> {
  const { db, folder, keep, report } = options;
  const swept = await withBackupLock(db, async () => {
    const timeline = await findTimeline(db);
    if (timeline !== undefined) return sweep(folder, timeline, keep, report);
    throw new BackupError(
      'This installation has made no backup, so nothing in the place is its own. Backups of another installation are removed by that one, or by hand.',
    );
  });
  if (swept === undefined) throw new BackupError(OTHER_COMMAND);
  return swept;
}
