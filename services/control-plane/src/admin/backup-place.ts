import { mkdir, readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { isKey } from '@framelane/object-store/object-keys';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { readS3Settings } from '@framelane/service-kit/connection-settings';
import { BackupFolder } from '../backups/backup-folder.ts';
import { AdminError } from './command.ts';
import type { AdminHost } from './host.ts';

/** The settings of S3 that a backup in a bucket has its own variables for, such as `BACKUP_S3_ENDPOINT`. */
const S3_SETTINGS = ['S3_ENDPOINT', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];

/** Somebody who has the backup can guess at any speed that scrypt allows. */
const SHORTEST_PASSPHRASE = 12;

/** The argument of commands for backups. */
export const PLACE_ARGUMENT = ['<place>', 'a directory, or s3://bucket/prefix'] as const;

/** The option of commands that need the passphrase of a backup. */
export const PASSPHRASE_OPTION = [
  '--passphrase-file <file>',
  'a file with the passphrase of the secrets (default: the variable BACKUP_PASSPHRASE)',
] as const;

/** Opens the folder of the backups. With `creates`, a missing directory is created, for this user only. */
export async function openBackups(
  place: string,
  { env, dataDir }: Pick<AdminHost, 'env' | 'dataDir'>,
  { creates }: { creates: boolean },
): Promise<BackupFolder> {
  const [, bucket, path] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(place) ?? [];
  if (bucket !== undefined) {
    const prefix = prefixOf(path);
    return new BackupFolder(new S3ObjectStore(s3Settings(bucket, env)), prefix);
  }
  if (/^[a-z]\w+:\/\//i.test(place)) throw new AdminError(`${place} is no directory and no s3:// address.`);
  if (dataDir !== undefined && !relative(dataDir, resolve(place)).startsWith('..')) {
    throw new AdminError(
      `${place} is in the data directory, with which it would be lost. Choose another place.`,
    );
  }
  if (creates) await mkdir(place, { recursive: true, mode: 0o700 });
  return new BackupFolder(new FileObjectStore(resolve(place)), '');
}

function s3Settings(bucket: string, env: NodeJS.ProcessEnv) {
  const own = S3_SETTINGS.map((name) => [name, env[`BACKUP_${name}`] || env[name]]);
  return readS3Settings({ ...Object.fromEntries(own), S3_BUCKET: bucket });
}

function prefixOf(path = ''): string {
  const folders = path.split('/').filter((part) => part !== '');
  const unfit = folders.find((folder) => !isKey(folder));
  if (unfit !== undefined) {
    throw new AdminError(
      `The prefix has ${JSON.stringify(unfit)}. Use letters, digits, "-", "_" and ".", but no "." in the first place.`,
    );
  }
  return folders.map((folder) => `${folder}/`).join('');
}

/** Reads the passphrase from a file, without the newline at its end, or from the environment. Throws an AdminError. */
export async function readPassphrase(file: string | undefined, env: NodeJS.ProcessEnv): Promise<string> {
  const passphrase = file === undefined ? env.BACKUP_PASSPHRASE : await readFile(file, 'utf8');
  if (!passphrase) throw new AdminError('Set BACKUP_PASSPHRASE, or name a file with --passphrase-file.');
  const text = passphrase.replace(/\r?\n$/, '');
  if ([...text].length < SHORTEST_PASSPHRASE) {
    throw new AdminError(`The passphrase must have at least ${SHORTEST_PASSPHRASE} characters.`);
  }
  return text;
}

/** The id of the given backup, or of the latest complete one. Throws an AdminError. */
export async function chosenBackup(folder: BackupFolder, id: string | undefined): Promise<string> {
  const complete = (await folder.backups()).filter(({ isComplete }) => isComplete);
  const chosen = id === undefined ? complete[0] : complete.find((each) => each.id === id);
  if (chosen !== undefined) return chosen.id;
  throw new AdminError(
    id === undefined
      ? 'There is no complete backup in this place.'
      : `There is no complete backup ${id}. "backup list" shows them.`,
  );
}
