import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { InstallationSecrets } from '@framelane/control-plane/sealed-values/installation-secrets';
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
  return write(dataDir, newSecrets());
}

/** Creates the secrets of a new data directory with the content key secrets of a backup. It keeps those that it has. */
export async function createSecrets(
  dataDir: Pick<DataDir, 'secrets' | 'postgres'>,
  { current, previous }: InstallationSecrets,
): Promise<void> {
  if (await exists(dataDir.secrets)) return;
  const base64 = (secret: Uint8Array) => Buffer.from(secret).toString('base64');
  await write(dataDir, {
    ...newSecrets(),
    contentKeySecret: base64(current),
    previousContentKeySecrets: previous.map(base64),
  });
}

/** The content key secrets, as bytes. */
export function sealingSecretsOf(
  secrets: Pick<Secrets, 'contentKeySecret' | 'previousContentKeySecrets'>,
): InstallationSecrets {
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));
  return {
    current: bytes(secrets.contentKeySecret),
    previous: secrets.previousContentKeySecrets.map(bytes),
  };
}

/** The secrets of a new installation. */
export function newSecrets(): Secrets {
  return {
    serviceSecret: randomBytes(32).toString('base64url'),
    contentKeySecret: newContentKeySecret(),
    previousContentKeySecrets: [],
    databasePassword: randomBytes(32).toString('base64url'),
  };
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

async function write(dataDir: Pick<DataDir, 'secrets'>, secrets: Secrets): Promise<Secrets> {
  await writePrivateFile(dataDir.secrets, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
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
