import { terminalText } from '@framelane/service-kit/terminal-text';
import type { Command } from 'commander';
import { type MadeBackup, makeBackup } from '../backups/backup.ts';
import { type BackupVerification, verifyBackup } from '../backups/verify-backup.ts';
import { migrateToLatest } from '../db/migrations.ts';
import { describeSize, parseWholeNumber } from './arguments.ts';
import { writeSecrets } from './backed-up-secrets.ts';
import {
  chosenBackup,
  openBackups,
  PASSPHRASE_OPTION,
  PLACE_ARGUMENT,
  readPassphrase,
} from './backup-place.ts';
import { type PrintResult, textTable } from './command.ts';
import { type AdminHost, withDatabase } from './host.ts';

/** `backup create`, `backup list` and `backup verify`. */
export function addBackupCommands(program: Command, host: AdminHost, print: PrintResult): void {
  const backup = program
    .command('backup')
    .description('list and check backups, and make one: "backup <place>" is "backup create <place>"');

  backup
    .command('create', { isDefault: true })
    .description('back up the database, the objects that it names, and the secrets, while the service works')
    .argument(...PLACE_ARGUMENT)
    .option(...PASSPHRASE_OPTION)
    .option('--keep <count>', 'keep only this many backups (default: all)', parseWholeNumber(1))
    .option('--json', 'print JSON')
    .action(async (place: string, options: { passphraseFile?: string; keep?: number; json?: boolean }) => {
      const passphrase = await readPassphrase(options.passphraseFile, host.env);
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
      print(await folder.backups(), options, (backups) =>
        textTable(
          ['ID', 'STATE'],
          backups.map(({ id, isComplete }) => [id, isComplete ? 'complete' : 'interrupted']),
        ),
      );
    });

  backup
    .command('verify')
    .description('read every byte of a backup; the exit code is 1 if something is missing or damaged')
    .argument(...PLACE_ARGUMENT)
    .option('--id <id>', 'the backup (default: the latest)')
    .option('--json', 'print JSON')
    .action(async (place: string, options: { id?: string; json?: boolean }) => {
      const folder = await openBackups(place, host, { creates: false });
      const result = await verifyBackup(folder, await chosenBackup(folder, options.id));
      print(result, options, describeVerification, ({ damaged }) => damaged.length > 0);
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
    `Removed ${removed.backups} backups and ${removed.objects} objects.`,
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function describeVerification({ id, objects, bytes, damaged }: BackupVerification): string {
  const lines = damaged.map((key) => `missing or damaged: ${terminalText(key)}\n`);
  return `${lines.join('')}Read the backup ${id}: ${objects} objects (${describeSize(bytes)}), ${damaged.length} files are missing or damaged.\n`;
}
