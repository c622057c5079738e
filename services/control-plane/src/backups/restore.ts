import { isDeepStrictEqual } from 'node:util';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { createLogger } from '@framelane/service-kit/logger';
import type { Database } from '../db/database.ts';
import { longTransaction } from '../db/long-transactions.ts';
import { appliedMigrations, migrateTo, migrateToLatest } from '../db/migrations.ts';
import { type InstallationSecrets, sealingKeysOf } from '../sealed-values/installation-secrets.ts';
import { ResealingService } from '../sealed-values/resealing.service.ts';
import { allObjects } from './all-objects.ts';
import type { Report } from './backup.ts';
import { BackupError, DamagedBackupError } from './backup-errors.ts';
import type { BackupFolder, ListedObject } from './backup-folder.ts';
import { timelineOf } from './backup-id.ts';
import { readLines } from './compressed-lines.ts';
import { concurrently } from './concurrently.ts';
import { copyObject, hashOfObject } from './copied-object.ts';
import type { Manifest } from './manifest.ts';
import { paired } from './paired.ts';
import {
  disableWebhooks,
  findFilledTable,
  findTables,
  insertRows,
  lockTables,
  type Table,
  useTextOfBackups,
  withoutForeignKeys,
} from './table-rows.store.ts';
import { damagedTables } from './verify-backup.ts';

/** Copies at the same time. */
const COPIES_AT_ONCE = 8;

/** Copied objects between two reports. */
const REPORT_EVERY = 10_000;

/** Damaged or missing files that a message names. */
const NAMED_FILES = 5;

type Restore = {
  db: Database;
  objects: ObjectStore;
  folder: BackupFolder;
  id: string;
  /** Of the new installation, and of that of the backup. */
  secrets: InstallationSecrets;
  previousSecrets: InstallationSecrets;
  /** Whether webhooks stay enabled, and open deliveries are sent. */
  keepsWebhooks: boolean;
  /** Whether objects that the backup has only damaged are left out. */
  skipsDamaged: boolean;
  /** Whether the object store may have objects that the backup does not have. They stay. */
  keepsOtherObjects: boolean;
  report: Report;
};

/** A restored backup. */
export type Restored = {
  id: string;
  snapshotAt: string;
  rows: number;
  objects: { count: number; copied: number; missing: number; damaged: string[] };
  disabledWebhooks: number;
  /** Values that no secret decrypts. */
  unreadable: number;
};

/**
 * Restores a backup into an empty database and an empty object store: first the objects, then all rows in one transaction. So a restore that is
 * interrupted has no rows, and goes on with the objects that it lacks. Throws a BackupError if something else is in the database or the store, and a
 * DamagedBackupError before it copies anything if rows are damaged.
 */
export async function restoreBackup(restore: Restore): Promise<Restored> {
  const { db, folder, id, report } = restore;
  const manifest = await folder.manifest(id);
  await migrateTo(db, manifest.migrations);
  const tables = await findTables(db);
  await requireEmpty(db, tables);
  const [damaged] = await damagedTables(folder, id, manifest);
  if (damaged !== undefined) throw new DamagedBackupError(damaged);
  const objects = await copyObjects(restore, manifest);
  if (objects.damaged.length > 0 && !restore.skipsDamaged)
    throw new BackupError(describeDamage(objects.damaged));
  report('Restoring the database.');
  const loaded = await loadRows(restore, manifest, tables);
  await migrateToLatest(db);
  return { id, snapshotAt: manifest.snapshotAt, objects, ...loaded };
}

async function requireEmpty(db: Database, tables: readonly Table[]): Promise<void> {
  const filled = await findFilledTable(db, tables);
  if (filled === undefined) return;
  throw new BackupError(
    `The database is not empty: the table ${filled} has rows. Restore into a new installation, before its first start.`,
  );
}

async function requireMigrations(trx: Database, { migrations }: Manifest): Promise<void> {
  if (isDeepStrictEqual(await appliedMigrations(trx), migrations)) return;
  throw new BackupError(
    'The schema of the database was changed during the restore: a service was started. Stop it, and restore into a new database.',
  );
}

/** Copies the objects that the store does not have. */
async function copyObjects(
  { objects, folder, id, keepsOtherObjects, report }: Restore,
  manifest: Manifest,
): Promise<Restored['objects']> {
  const done: Restored['objects'] = { count: 0, copied: 0, missing: 0, damaged: [] };
  const timeline = timelineOf(id);
  const planned = plannedObjects(folder.listed(id, manifest), objects, { keepsOtherObjects });
  const copies = concurrently(planned, COPIES_AT_ONCE, async (object) => {
    const isStored = object.hasSize && (!keepsOtherObjects || (await hasContent(objects, object)));
    return copyBack(folder, timeline, { ...object, isStored }, objects);
  });
  for await (const { key, outcome } of copies) {
    done.count += 1;
    if (outcome === 'copied') done.copied += 1;
    if (outcome === 'missing') done.missing += 1;
    if (outcome === 'damaged') done.damaged.push(folder.copyOf(timeline, key));
    if (done.count % REPORT_EVERY === 0)
      report(`${done.count} of ${manifest.objects.count} objects are restored.`);
  }
  return done;
}

/** The objects of a backup, and whether the store has one of the same size. Throws a BackupError if it has others, unless they are kept. */
async function* plannedObjects(
  listed: AsyncIterable<ListedObject>,
  objects: ObjectStore,
  { keepsOtherObjects }: Pick<Restore, 'keepsOtherObjects'>,
): AsyncGenerator<ListedObject & { hasSize: boolean }, void> {
  for await (const { key, left, right } of paired(listed, allObjects(objects))) {
    if (left !== undefined) yield { ...left, hasSize: left.bytes === right?.bytes };
    else if (!keepsOtherObjects) {
      throw new BackupError(
        `The object store is not empty: it has ${key}, which the backup does not have. Restore into an empty one, or leave such objects there: --keep-other-objects.`,
      );
    }
  }
}

/** Whether the store has an object with the bytes of the backup. What another installation has stored under a key can have the same size. */
async function hasContent(objects: ObjectStore, { key, sha256 }: ListedObject): Promise<boolean> {
  return sha256 !== null && (await hashOfObject(() => objects.get(key))) === sha256;
}

async function copyBack(
  folder: BackupFolder,
  timeline: string,
  { key, bytes, sha256, isStored }: ListedObject & { isStored: boolean },
  store: ObjectStore,
): Promise<{ key: string; outcome: 'stored' | 'copied' | 'missing' | 'damaged' }> {
  if (isStored) return { key, outcome: 'stored' };
  if (sha256 === null) return { key, outcome: 'missing' };
  try {
    const copy = await copyObject(() => folder.open(timeline, key), { bytes, sha256 }, { store, key });
    return { key, outcome: copy === null ? 'damaged' : 'copied' };
  } catch (error) {
    if (error instanceof DamagedBackupError) return { key, outcome: 'damaged' };
    throw error;
  }
}

function describeDamage(damaged: readonly string[]): string {
  const others = damaged.length - NAMED_FILES;
  return [
    `${damaged.length} objects of the backup are missing or damaged:`,
    ...damaged.slice(0, NAMED_FILES),
    ...(others > 0 ? [`and ${others} others`] : []),
    'Use another backup, or restore without these objects: --skip-damaged.',
  ].join('\n');
}

/** Fills all tables, and changes what must not happen twice, in one transaction. */
async function loadRows(
  { db, folder, id, secrets, previousSecrets, keepsWebhooks }: Restore,
  manifest: Manifest,
  tables: readonly Table[],
): Promise<Pick<Restored, 'rows' | 'disabledWebhooks' | 'unreadable'>> {
  return longTransaction(db, async (trx) => {
    // A service that was started meanwhile may have stored rows, and may have changed the schema.
    await lockTables(trx, tables);
    await requireEmpty(trx, tables);
    await requireMigrations(trx, manifest);
    await useTextOfBackups(trx);
    let rows = 0;
    await withoutForeignKeys(trx, async () => {
      for (const { name, columns, sha256 } of manifest.tables) {
        const lines = readLines(folder.store, folder.keyOf(id, `tables/${name}.gz`), sha256);
        rows += await insertRows(trx, targetOf(tables, name, columns), lines);
      }
    });
    const disabledWebhooks = keepsWebhooks ? 0 : await disableWebhooks(trx);
    const unreadable = await reseal(trx, secrets, previousSecrets);
    return { rows, disabledWebhooks, unreadable };
  });
}

/** The table of the database with the columns of the backup. The schema is the same, because both have the same migrations. */
function targetOf(tables: readonly Table[], name: string, columns: readonly string[]): Table {
  const table = tables.find((each) => each.name === name);
  return {
    name,
    columns: columns.map((column) => {
      const target = table?.columns.find((each) => each.name === column);
      if (target === undefined) throw new BackupError(`The database has no column ${column} of ${name}.`);
      return target;
    }),
  };
}

/** Seals all values with the current secret of the new installation. Resolves with the number of those that no secret decrypts. */
async function reseal(
  trx: Database,
  { current, previous }: InstallationSecrets,
  backup: InstallationSecrets,
): Promise<number> {
  const keys = sealingKeysOf({ current, previous: [...previous, backup.current, ...backup.previous] });
  const logger = createLogger({ service: 'admin', level: 'silent' });
  const resealing = new ResealingService({ db: trx, logger, ...keys });
  await resealing.reseal();
  const { contentKeys, webhookSecrets, importRequests } = await resealing.pending();
  return contentKeys + webhookSecrets + importRequests;
}
