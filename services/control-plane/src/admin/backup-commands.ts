import { terminalText } from '@framelane/service-kit/terminal-text';
import type { Command } from 'commander';
import { type MadeBackup, makeBackup } from '../backups/backup.ts';
import type { BackupState, ListedBackup } from '../backups/backup-folder.ts';
import { pruneBackups } from '../backups/prune.ts';
import { unsealText } from '../backups/sealed-text.ts';
import type { Swept } from '../backups/sweep.ts';
import { type BackupVerification, verifyBackup } from '../backups/verify-backup.ts';
import { migrateToLatest } from '../db/migrations.ts';
import { describeSize, parseWholeNumber } from './arguments.ts';
import { readSecrets, writeSecrets } from './backed-up-secrets.ts';
import {
  chosenBackup,
  hasPassphrase,
  openBackups,
  PASSPHRASE_OPTION,
  PLACE_ARGUMENT,
  readPassphrase,
} from './backup-place.ts';
import { AdminError, type PrintResult, textTable } from './command.ts';
import { type AdminHost, withDatabase } from './host.ts';

/** `backup create`, `backup list`, `backup verify` and `backup prune`. */
export function addBackupCommands(program: Command, host: AdminHost, print: PrintResult): void {
  const backup = program
    .command('backup')
    .description('list, check and remove backups, and make one: "backup <place>" is "backup create <place>"');

  backup
    .command('create', { isDefault: true })
    .description('back up the database, the objects that it names, and the secrets, while the service works')
    .argument(...PLACE_ARGUMENT)
    .option(...PASSPHRASE_OPTION)
    .option('--keep <count>', 'keep only this many backups (default: all)', parseWholeNumber(1))
    .option('--json', 'print JSON')
    .action(async (place: string, options: { passphraseFile?: string; keep?: number; json?: boolean }) => {
      const passphrase = await readPassphrase(options.passphraseFile, host);
      const secrets = writeSecrets(await host.secrets());
      const folder = await openBackups(place, host, { creates: true });
      const result = await withDatabase(host, async (db) => {
        await migrateToLatest(db);
        const { keep } = options;
        return makeBackup({
          db,
          objects: host.objects(),
          folder,
          secrets,
          passphrase,
          keep,
          report: reportTo(host),
        });
      });
      print(result, options, describeBackup, ({ objects }) => objects.missing > 0);
    });

  backup
    .command('list')
    .description('list the backups in a place, the newest first')
    .argument(...PLACE_ARGUMENT)
    .option('--json', 'print JSON')
    .action(async (place: string, options: { json?: boolean }) => {
      const folder = await openBackups(place, host, { creates: false });
      print(await folder.describe(), options, describeList);
    });

  backup
    .command('verify')
    .description('read every byte of a backup; the exit code is 1 if something is missing or damaged')
    .argument(...PLACE_ARGUMENT)
    .option('--id <id>', 'the backup (default: the latest)')
    .option(...PASSPHRASE_OPTION)
    .option('--json', 'print JSON')
    .action(async (place: string, options: { id?: string; passphraseFile?: string; json?: boolean }) => {
      const passphrase = hasPassphrase(options.passphraseFile, host.env)
        ? await readPassphrase(options.passphraseFile, host)
        : undefined;
      const folder = await openBackups(place, host, { creates: false });
      const open = async (sealed: string) => readSecrets(await unsealText(sealed, passphrase ?? ''));
      const id = await chosenBackup(folder, options.id);
      const result = await verifyBackup(folder, id, passphrase === undefined ? undefined : open);
      print(result, options, describeVerification, ({ damaged }) => damaged.length > 0);
    });

  backup
    .command('prune')
    .description('remove the oldest backups of this installation, and what only they need')
    .argument(...PLACE_ARGUMENT)
    .requiredOption('--keep <count>', 'keep only this many backups', parseWholeNumber(1))
    .option('--json', 'print JSON')
    .action(async (place: string, { keep, ...options }: { keep: number; json?: boolean }) => {
      const folder = await openBackups(place, host, { creates: false });
      // Otherwise nobody would notice a wrong place.
      if ((await folder.backups()).length === 0) throw new AdminError('There is no backup in this place.');
      const result = await withDatabase(host, async (db) => {
        await migrateToLatest(db);
        return pruneBackups({ db, folder, keep, report: reportTo(host) });
      });
      print(result, options, describeSwept);
    });
}

/** Writes progress to the standard error, a line at a time. */
export function reportTo(host: AdminHost): (line: string) => void {
  return (line) => host.writeError(`${terminalText(line)}\n`);
}

function describeBackup({ id, snapshotAt, objects, removed }: MadeBackup): string {
  const { count, bytes, copied, copiedBytes, missing } = objects;
  return [
    `The backup ${id} has the database of ${snapshotAt} and ${count} objects (${describeSize(bytes)}).`,
    `${copied} of them are new (${describeSize(copiedBytes)}).`,
    ...(missing > 0 ? [`${missing} are not in the object store as the database says: run "verify".`] : []),
    describeSwept(removed).trimEnd(),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function describeSwept({ backups, objects, unfinished }: Swept): string {
  const files = unfinished > 0 ? `, and ${unfinished} unfinished files` : '';
  return `Removed ${backups} backups and ${objects} objects${files}.\n`;
}

/** What a list says about each state. */
const STATES: Readonly<Record<BackupState, string>> = {
  complete: 'complete',
  interrupted: 'interrupted',
  damaged: 'damaged',
  newer_format: 'made by a newer Framelane',
};

function describeList(backups: readonly ListedBackup[]): string {
  const rows = backups.map(({ id, state, snapshotAt, objects, bytes }) => [
    ...[id, STATES[state], snapshotAt ?? '', objects === null ? '' : String(objects)],
    bytes === null ? '' : describeSize(bytes),
  ]);
  return textTable(['ID', 'STATE', 'DATABASE OF', 'OBJECTS', 'SIZE'], rows);
}

/** What a verification says about the secrets. */
const SECRETS: Readonly<Record<BackupVerification['secrets'], string>> = {
  opened: 'The passphrase opens its secrets.',
  not_opened: 'Its secrets were not opened: give the passphrase to check that it opens them.',
  damaged: 'Its secrets are damaged, so it cannot be restored.',
};

function describeVerification({ id, objects, bytes, damaged, secrets }: BackupVerification): string {
  return [
    ...damaged.map((key) => `missing or damaged: ${terminalText(key)}`),
    `Read the backup ${id}: ${objects} objects (${describeSize(bytes)}), ${damaged.length} files are missing or damaged.`,
    SECRETS[secrets],
  ]
    .map((line) => `${line}\n`)
    .join('');
}
