import type { Command } from 'commander';
import { type Restored, restoreBackup } from '../backups/restore.ts';
import { unsealText } from '../backups/sealed-text.ts';
import { readSecrets } from './backed-up-secrets.ts';
import { reportTo } from './backup-commands.ts';
import {
  chosenBackup,
  openBackups,
  PASSPHRASE_OPTION,
  PLACE_ARGUMENT,
  readPassphrase,
} from './backup-place.ts';
import type { PrintResult } from './command.ts';
import { type AdminHost, withDatabase } from './host.ts';

type Options = {
  id?: string;
  passphraseFile?: string;
  keepWebhooks?: boolean;
  skipDamaged?: boolean;
  keepOtherObjects?: boolean;
  json?: boolean;
};

/** `restore`. */
export function addRestoreCommand(program: Command, host: AdminHost, print: PrintResult): void {
  program
    .command('restore')
    .description('restore a backup into a new installation that has never been started')
    .argument(...PLACE_ARGUMENT)
    .option('--id <id>', 'the backup (default: the latest)')
    .option(...PASSPHRASE_OPTION)
    .option('--keep-webhooks', 'leave webhooks enabled, and send what was not sent yet')
    .option('--skip-damaged', 'leave out objects that are missing or damaged in the backup')
    .option('--keep-other-objects', 'leave objects in the object store that the backup does not have')
    .option('--json', 'print JSON')
    .action(async (place: string, options: Options) => {
      const passphrase = await readPassphrase(options.passphraseFile, host);
      const folder = await openBackups(place, host, { creates: false });
      const id = await chosenBackup(folder, options.id);
      const sealed = await folder.secrets(id, await folder.manifest(id));
      const previousSecrets = readSecrets(await unsealText(sealed, passphrase));
      await host.prepareRestore(previousSecrets);
      const secrets = await host.secrets();
      const result = await withDatabase(host, (db) =>
        restoreBackup({
          db,
          objects: host.objects(),
          folder,
          id,
          secrets,
          previousSecrets,
          keepsWebhooks: options.keepWebhooks === true,
          skipsDamaged: options.skipDamaged === true,
          keepsOtherObjects: options.keepOtherObjects === true,
          report: reportTo(host),
        }),
      );
      print(result, options, describe);
    });
}

function describe({ id, snapshotAt, rows, objects, disabledWebhooks, unreadable }: Restored): string {
  return [
    `Restored the backup ${id}: ${rows} rows of ${snapshotAt} and ${objects.count} objects.`,
    ...(objects.missing > 0 ? [`${objects.missing} objects were missing when the backup was made.`] : []),
    ...(objects.damaged.length > 0 ? [`${objects.damaged.length} damaged objects were left out.`] : []),
    ...(unreadable > 0 ? [`${unreadable} sealed values can be decrypted by no secret.`] : []),
    ...(disabledWebhooks > 0
      ? [`${disabledWebhooks} webhooks are disabled. Enable them when the old installation is gone for good.`]
      : []),
    'Start Framelane, and run "verify".',
  ]
    .map((line) => `${line}\n`)
    .join('');
}
