import { mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { isKey } from '@framelane/object-store/object-keys';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { readS3Settings, type S3Settings } from '@framelane/service-kit/connection-settings';
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
  'a file with the passphrase of the secrets; "-" is the standard input (default: the variable BACKUP_PASSPHRASE)',
] as const;

/**
 * Opens the folder of the backups. With `creates`, a missing directory is created, for this user only; and a bucket that has the objects of the installation is
 * refused, because it would be lost with them.
 */
export async function openBackups(
  place: string,
  { env, dataDir }: Pick<AdminHost, 'env' | 'dataDir'>,
  { creates }: { creates: boolean },
): Promise<BackupFolder> {
  const [, bucket, path] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(place) ?? [];
  if (bucket !== undefined) {
    const prefix = prefixOf(path);
    const settings = s3Settings(bucket, env);
    if (creates && isOwnBucket(settings, env)) {
      throw new AdminError(
        `${place} is in the bucket of the installation, with which it would be lost. Choose another bucket, best with another key and in another place.`,
      );
    }
    return new BackupFolder(new S3ObjectStore(settings), prefix);
  }
  if (/^[a-z]\w+:\/\//i.test(place)) throw new AdminError(`${place} is no directory and no s3:// address.`);
  if (dataDir !== undefined && isWithin(await realPath(dataDir), await realPath(place))) {
    throw new AdminError(
      `${place} is in the data directory, with which it would be lost. Choose another place.`,
    );
  }
  if (creates) await mkdir(place, { recursive: true, mode: 0o700 });
  return new BackupFolder(new FileObjectStore(resolve(place), { refusesLinks: true }), '');
}

function s3Settings(bucket: string, env: NodeJS.ProcessEnv): S3Settings {
  const own = S3_SETTINGS.map((name) => [name, env[`BACKUP_${name}`] || env[name]]);
  return readS3Settings({ ...Object.fromEntries(own), S3_BUCKET: bucket });
}

/** Whether the installation stores its objects in this bucket, as far as the settings say. */
function isOwnBucket({ bucket, endpoint }: S3Settings, env: NodeJS.ProcessEnv): boolean {
  return bucket === env.S3_BUCKET && serverOf(endpoint) === serverOf(env.S3_ENDPOINT || undefined);
}

/** The server of an endpoint: the names of the buckets are unique there. AWS has one for each region. */
function serverOf(endpoint = 'https://s3.amazonaws.com'): string {
  const { hostname, host } = new URL(endpoint);
  return /(^|\.)amazonaws\.com$/.test(hostname) ? 'amazonaws.com' : host;
}

/** The path without symbolic links, of which the last parts may not exist yet. */
async function realPath(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || absolute === dirname(absolute)) throw error;
    return join(await realPath(dirname(absolute)), basename(absolute));
  }
}

function isWithin(folder: string, path: string): boolean {
  const [first] = relative(folder, path).split(sep);
  return first !== '..';
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

/** Whether a passphrase is given. */
export function hasPassphrase(file: string | undefined, env: NodeJS.ProcessEnv): boolean {
  return file !== undefined || Boolean(env.BACKUP_PASSPHRASE);
}

/** Reads the passphrase from a file or the standard input, without the newline at its end, or from the environment. Throws an AdminError. */
export async function readPassphrase(
  file: string | undefined,
  { env, readInput }: Pick<AdminHost, 'env' | 'readInput'>,
): Promise<string> {
  const passphrase = await passphraseIn(file, env, readInput);
  if (passphrase === undefined || (file === undefined && passphrase === '')) {
    throw new AdminError('Set BACKUP_PASSPHRASE, or name a file with --passphrase-file.');
  }
  const text = passphrase.replace(/\r?\n$/, '');
  if (text === '') {
    throw new AdminError(`${file === '-' ? 'The standard input' : `The file ${file}`} has no passphrase.`);
  }
  if ([...text].length < SHORTEST_PASSPHRASE) {
    throw new AdminError(`The passphrase must have at least ${SHORTEST_PASSPHRASE} characters.`);
  }
  return text;
}

async function passphraseIn(
  file: string | undefined,
  env: NodeJS.ProcessEnv,
  readInput: () => Promise<string>,
): Promise<string | undefined> {
  if (file === undefined) return env.BACKUP_PASSPHRASE;
  return file === '-' ? readInput() : readFile(file, 'utf8');
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
