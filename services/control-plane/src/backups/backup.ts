import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Database } from '../db/database.ts';
import { beginningOf, longSnapshot } from '../db/long-transactions.ts';
import { appliedMigrations } from '../db/migrations.ts';
import { BackupError } from './backup-errors.ts';
import type { BackupFolder, ListedObject } from './backup-folder.ts';
import { newBackupId, newTimeline } from './backup-id.ts';
import {
  ensureTimeline,
  findLastBackup,
  type RequireLock,
  storeBackup,
  withBackupLock,
} from './backup-state.store.ts';
import { readLines, writeLines } from './compressed-lines.ts';
import { concurrently } from './concurrently.ts';
import { copyObject } from './copied-object.ts';
import type { Manifest } from './manifest.ts';
import { allNamedObjects } from './named-objects.store.ts';
import type { NamedObject } from './named-objects.ts';
import { paired } from './paired.ts';
import { sealText } from './sealed-text.ts';
import { type Swept, sweep } from './sweep.ts';
import { findTables, rowsOf, useTextOfBackups } from './table-rows.store.ts';

/** Copies at the same time. */
const COPIES_AT_ONCE = 8;

/** Objects and bytes of a list: what a backup that is interrupted may have to copy again. */
const LIST_OBJECTS = 10_000;
const LIST_BYTES = 2 ** 30;

/** Snapshots that one backup takes, while objects that they name are purged before they are copied. */
const SNAPSHOTS = 10;

/** Only one command at a time writes backups of an installation. */
export const OTHER_COMMAND = 'Another backup of this installation is being made. Wait until it has ended.';

/** Reports progress to people. */
export type Report = (line: string) => void;

type BackupOptions = {
  db: Database;
  objects: ObjectStore;
  folder: BackupFolder;
  /** The secrets of the installation, as text. */
  secrets: string;
  passphrase: string;
  /** The number of complete backups to keep; undefined for all. */
  keep: number | undefined;
  report: Report;
};

type Backup = BackupOptions & { timeline: string; requireLock: RequireLock };

/** A complete backup. */
export type MadeBackup = Pick<Manifest, 'snapshotAt' | 'completedAt'> & {
  id: string;
  objects: { count: number; bytes: number; missing: number; copied: number; copiedBytes: number };
  removed: Swept;
};

/**
 * Makes a backup while the service works. It has the rows of one snapshot of the database, and every object that they name; only objects that
 * the folder does not have are copied. The manifest is written last. A backup that is interrupted leaves what it has copied to the next one.
 *
 * Some objects may be purged before they are copied. Then the backup takes another snapshot, which no longer names them.
 */
export async function makeBackup(options: BackupOptions): Promise<MadeBackup> {
  const made = await withBackupLock(options.db, async (requireLock) => {
    const backup = { ...options, requireLock, timeline: await ensureTimeline(options.db, newTimeline()) };
    await warnOfOtherPlace(backup);
    const startedAt = new Date().toISOString();
    let [absent, copied, copiedBytes] = [new Set<string>(), 0, 0];
    for (let snapshots = 1; ; snapshots += 1) {
      const snapshot = await takeSnapshot(backup);
      const copy = await copyObjects(backup, snapshot.id);
      copied += copy.copied;
      copiedBytes += copy.copiedBytes;
      const isPurged = [...copy.absent].some((key) => !absent.has(key));
      if (isPurged && snapshots === SNAPSHOTS) {
        throw new BackupError(
          `Objects were deleted faster than they could be copied, also after ${SNAPSHOTS} snapshots. Run the command again.`,
        );
      }
      if (!isPurged) {
        const { count, bytes, lists } = copy;
        const objects = { count, bytes, missing: copy.absent.size, lists };
        return complete(backup, { startedAt, snapshot, objects, copied, copiedBytes });
      }
      backup.report(`${copy.absent.size} objects were deleted or are missing. Taking another snapshot.`);
      absent = copy.absent;
    }
  });
  if (made === undefined) throw new BackupError(OTHER_COMMAND);
  return made;
}

/** A disk that is not mounted has an empty directory in its place, on the disk of the machine. */
async function warnOfOtherPlace({ db, folder, timeline, report }: Backup): Promise<void> {
  if ((await findLastBackup(db)) === undefined || (await folder.backups(timeline)).length > 0) return;
  report(
    'This installation has made backups, but none of them is in this place. If it is the usual place, check that its disk is mounted.',
  );
}

type Snapshot = { id: string } & Pick<Manifest, 'snapshotAt' | 'migrations' | 'tables'>;

/** Writes the rows of all tables, and the list of the objects that they name. */
async function takeSnapshot({ db, folder, timeline, report }: Backup): Promise<Snapshot> {
  const [latest] = await folder.backups();
  const id = newBackupId(new Date(), timeline, latest?.id);
  report(`Backing up the database as ${id}.`);
  return longSnapshot(db, async (trx) => {
    await useTextOfBackups(trx);
    const snapshotAt = (await beginningOf(trx)).toISOString();
    const migrations = await appliedMigrations(trx);
    const tables: Manifest['tables'] = [];
    for (const table of await findTables(trx)) {
      const file = folder.keyOf(id, `tables/${table.name}.gz`);
      const { sha256, lines } = await writeLines(folder.store, file, rowsOf(trx, table));
      tables.push({
        name: table.name,
        columns: table.columns.map(({ name }) => name),
        rows: lines,
        sha256,
      });
    }
    await writeLines(folder.store, namedFile(folder, id), linesOf(allNamedObjects(trx)));
    return { id, snapshotAt, migrations, tables };
  });
}

/** The objects that a snapshot names, until the backup is complete. */
function namedFile(folder: BackupFolder, id: string): string {
  return folder.keyOf(id, 'named.gz');
}

async function* linesOf(entries: AsyncIterable<object>): AsyncGenerator<string, void> {
  for await (const entry of entries) yield JSON.stringify(entry);
}

async function* readNamed(folder: BackupFolder, id: string): AsyncGenerator<NamedObject, void> {
  for await (const line of readLines(folder.store, namedFile(folder, id))) yield JSON.parse(line);
}

type Copied = Pick<Manifest['objects'], 'count' | 'bytes' | 'lists'> & {
  copied: number;
  copiedBytes: number;
  /** The keys of objects that the object store does not have with the size that the rows say. */
  absent: Set<string>;
};

/** Copies what the folder does not have of the objects that a snapshot names, and lists all with their hashes. */
async function copyObjects({ objects, folder, timeline, report }: Backup, id: string): Promise<Copied> {
  const done: Copied = { count: 0, bytes: 0, copied: 0, copiedBytes: 0, lists: [], absent: new Set() };
  const earlier = (await folder.backups(timeline)).map((backup) => backup.id).filter((each) => each !== id);
  const known = folder.known(earlier, ({ message }) => report(`${message} Its objects are copied again.`));
  const plan = plannedCopies(readNamed(folder, id), folder.copies(timeline), known);
  const results = concurrently(plan, COPIES_AT_ONCE, async ({ sha256, ...object }) => {
    if (sha256 !== null) return { ...object, sha256 };
    const target = { store: folder.store, key: folder.copyOf(timeline, object.key) };
    const copy = await copyObject(() => objects.get(object.key), object, target);
    if (copy === null) done.absent.add(object.key);
    else {
      done.copied += 1;
      done.copiedBytes += object.bytes;
    }
    return { ...object, sha256: copy };
  });
  for await (const list of inLists(results)) {
    const name = `objects/${String(done.lists.length).padStart(6, '0')}.gz`;
    const { sha256 } = await writeLines(folder.store, folder.keyOf(id, name), linesOf(iterate(list)));
    done.lists.push({ name, sha256 });
    done.count += list.length;
    done.bytes += list.reduce((sum, { bytes }) => sum + bytes, 0);
    report(`${done.count} objects are in the backup, ${done.copied} of them new.`);
  }
  return done;
}

/**
 * The objects that a backup names, in order. Each has the hash of its copy; null if it must be copied, because the folder has no copy of this size,
 * or an interrupted backup has not recorded its hash.
 */
export async function* plannedCopies(
  named: AsyncIterable<NamedObject>,
  copies: AsyncIterable<NamedObject>,
  known: AsyncIterable<ListedObject>,
): AsyncGenerator<ListedObject, void> {
  for await (const { left: object, right } of paired(withCopies(named, copies), known)) {
    if (object === undefined) continue;
    const { key, bytes, copyBytes } = object;
    const isCopied = copyBytes === bytes && right?.bytes === bytes;
    yield { key, bytes, sha256: isCopied ? right.sha256 : null };
  }
}

async function* withCopies(named: AsyncIterable<NamedObject>, copies: AsyncIterable<NamedObject>) {
  for await (const { left, right } of paired(named, copies)) {
    if (left !== undefined) yield { ...left, copyBytes: right?.bytes };
  }
}

/** The objects in lists that are small enough. */
async function* inLists(objects: AsyncIterable<ListedObject>): AsyncGenerator<ListedObject[], void> {
  let [list, bytes]: [ListedObject[], number] = [[], 0];
  for await (const object of objects) {
    list.push(object);
    bytes += object.bytes;
    if (list.length < LIST_OBJECTS && bytes < LIST_BYTES) continue;
    yield list;
    [list, bytes] = [[], 0];
  }
  if (list.length > 0) yield list;
}

async function* iterate<T>(items: Iterable<T>): AsyncGenerator<T, void> {
  yield* items;
}

/** Writes the secrets and the manifest, and removes what is no longer needed. */
async function complete(
  { db, folder, timeline, secrets, passphrase, keep, report, requireLock }: Backup,
  {
    startedAt,
    snapshot: { id, ...snapshot },
    objects,
    ...counts
  }: {
    startedAt: string;
    snapshot: Snapshot;
    objects: Manifest['objects'];
    copied: number;
    copiedBytes: number;
  },
): Promise<MadeBackup> {
  const sealed = await folder.writeSecrets(id, await sealText(secrets, passphrase));
  await requireLock();
  await folder.store.delete([namedFile(folder, id)]);
  const completedAt = new Date().toISOString();
  await folder.writeManifest(id, { startedAt, completedAt, ...snapshot, objects, secrets: sealed });
  const { lists: _, ...totals } = objects;
  const { snapshotAt } = snapshot;
  const { count, ...sizes } = totals;
  await storeBackup(db, { id, snapshotAt, completedAt, objects: count, ...sizes });
  const removed = await sweep(folder, timeline, keep, report);
  return { id, snapshotAt, completedAt, objects: { ...totals, ...counts }, removed };
}
