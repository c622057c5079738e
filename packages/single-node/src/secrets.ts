import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { SettingsError } from '@framelane/service-kit/settings';
import { z } from 'zod';
import { writePrivateFile } from './private-file.ts';
import type { DataDir } from './settings.ts';

const secretsSchema = z.object({
  /** Authenticates the engine and the control plane to each other. */
  serviceSecret: z.string(),
  /** Encrypts the content keys of all videos; without it, no video can be played. Base64. */
  contentKeySecret: z.string(),
  /** Earlier content key secrets, which still decrypt what they encrypted. */
  previousContentKeySecrets: z.array(z.string()).default([]),
  /** Password of the embedded PostgreSQL. */
  databasePassword: z.string(),
});

/** The secrets of a data directory, created at its first start. */
export type Secrets = z.infer<typeof secretsSchema>;

/**
 * Reads the secrets, or creates them in a new data directory. Throws a SettingsError when they are missing or damaged in
 * one that is in use: new secrets could not decrypt the stored videos.
 */
export async function readOrCreateSecrets(dataDir: Pick<DataDir, 'secrets' | 'postgres'>): Promise<Secrets> {
  const text = await read(dataDir.secrets);
  if (text !== undefined) return parse(text, dataDir.secrets);
  if (await exists(dataDir.postgres)) {
    throw new SettingsError(
      `${dataDir.secrets} is missing, and without it the stored videos cannot be decrypted. ` +
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

/** Creates a new content key secret. Earlier ones still decrypt what they encrypted. The node must not be running. */
export async function rotateContentKeySecret(dataDir: Pick<DataDir, 'secrets' | 'postgres'>): Promise<void> {
  const secrets = await readOrCreateSecrets(dataDir);
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
    // Without the cause, which quotes the secrets.
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

async function orUndefined<T>(access: Promise<T>): Promise<T | undefined> {
  try {
    return await access;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
