import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { SettingsError } from '@framelane/service-kit/settings';
import { z } from 'zod';
import { writePrivateFile } from './private-file.ts';
import type { DataDir } from './settings.ts';

const secretsSchema = z.object({
  /** What engine and control plane show each other. */
  serviceSecret: z.string(),
  /** Seals the content keys of all videos: without it, none of them plays. Base64. */
  contentKeySecret: z.string(),
  /** Those before it, which open what they sealed. */
  previousContentKeySecrets: z.array(z.string()).default([]),
  /** Password of the embedded PostgreSQL. */
  databasePassword: z.string(),
});

/** The secrets of one data directory, made at its first start. */
export type Secrets = z.infer<typeof secretsSchema>;

/**
 * Reads the secrets, or makes them where nothing has been stored under them yet. Throws a SettingsError when they are
 * lost or unreadable: new ones would not open what is there.
 */
export async function keepSecrets(dataDir: Pick<DataDir, 'secrets' | 'postgres'>): Promise<Secrets> {
  const text = await read(dataDir.secrets);
  if (text !== undefined) return parse(text, dataDir.secrets);
  if (await exists(dataDir.postgres)) {
    throw new SettingsError(
      `${dataDir.secrets} is missing, and without it the stored videos cannot be opened. ` +
        'Restore it from a backup, or set DATA_DIR to a new directory.',
    );
  }
  const secrets: Secrets = {
    serviceSecret: randomBytes(32).toString('base64url'),
    contentKeySecret: newContentKeySecret(),
    previousContentKeySecrets: [],
    databasePassword: randomBytes(32).toString('base64url'),
  };
  await write(dataDir, secrets);
  return secrets;
}

/** Makes a new content key secret. The one before goes on opening what it sealed. For a node that does not run. */
export async function rotateContentKeySecret(dataDir: Pick<DataDir, 'secrets' | 'postgres'>): Promise<void> {
  const secrets = await keepSecrets(dataDir);
  await write(dataDir, {
    ...secrets,
    contentKeySecret: newContentKeySecret(),
    previousContentKeySecrets: [secrets.contentKeySecret, ...secrets.previousContentKeySecrets],
  });
}

function newContentKeySecret(): string {
  return randomBytes(32).toString('base64');
}

function write(dataDir: Pick<DataDir, 'secrets'>, secrets: Secrets): Promise<void> {
  return writePrivateFile(dataDir.secrets, `${JSON.stringify(secrets, null, 2)}\n`);
}

function parse(text: string, path: string): Secrets {
  try {
    return secretsSchema.parse(JSON.parse(text));
  } catch {
    // The cause would quote the text.
    throw new SettingsError(
      `${path} is damaged. Restore it from a backup, or set DATA_DIR to a new directory.`,
    );
  }
}

async function read(path: string): Promise<string | undefined> {
  return await orUndefined(readFile(path, 'utf8'));
}

async function exists(path: string): Promise<boolean> {
  return (await orUndefined(stat(path))) !== undefined;
}

async function orUndefined<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
