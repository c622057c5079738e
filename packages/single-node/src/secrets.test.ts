import { chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readOrCreateSecrets, rotateContentKeySecret } from './secrets.ts';

describe('secrets of a data directory', () => {
  let root: string;
  let dataDir: { secrets: string; postgres: string };

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'framelane-secrets-'));
    dataDir = { secrets: join(root, 'secrets.json'), postgres: join(root, 'postgres') };
  });
  afterEach(() => rm(root, { recursive: true }));

  test('are created once, readable by their owner only', async () => {
    const made = await readOrCreateSecrets(dataDir);
    expect(await readOrCreateSecrets(dataDir)).toEqual(made);
    expect((await stat(dataDir.secrets)).mode & 0o777).toBe(0o600);
    expect(await readdir(root)).toEqual(['secrets.json']);
    expect(Buffer.from(made.contentKeySecret, 'base64')).toHaveLength(32);
    expect(new Set([made.serviceSecret, made.contentKeySecret, made.databasePassword]).size).toBe(3);
  });

  test('get a new content key secret and keep the earlier ones', async () => {
    const made = await readOrCreateSecrets(dataDir);
    await rotateContentKeySecret(dataDir);
    const once = await readOrCreateSecrets(dataDir);
    await rotateContentKeySecret(dataDir);
    const twice = await readOrCreateSecrets(dataDir);
    expect(twice).toEqual({
      ...made,
      contentKeySecret: expect.any(String),
      previousContentKeySecrets: [once.contentKeySecret, made.contentKeySecret],
    });
    expect(new Set([twice.contentKeySecret, ...twice.previousContentKeySecrets]).size).toBe(3);
    expect((await stat(dataDir.secrets)).mode & 0o777).toBe(0o600);
  });

  test('keep their owner when root gives them a new content key secret', async () => {
    await readOrCreateSecrets(dataDir);
    const owner = process.getuid?.() === 0 ? 65_534 : (await stat(dataDir.secrets)).uid;
    await chown(dataDir.secrets, owner, -1);
    await rotateContentKeySecret(dataDir);
    expect((await stat(dataDir.secrets)).uid).toBe(owner);
  });

  test('from before rotation existed can be read', async () => {
    const { previousContentKeySecrets, ...first } = await readOrCreateSecrets(dataDir);
    await writeFile(dataDir.secrets, JSON.stringify(first));
    expect(await readOrCreateSecrets(dataDir)).toEqual({ ...first, previousContentKeySecrets });
  });

  test('are not created again when a database exists', async () => {
    await mkdir(dataDir.postgres);
    await expect(readOrCreateSecrets(dataDir)).rejects.toThrow(/secrets\.json is missing/);
  });

  test('that are damaged are reported without quoting them', async () => {
    await writeFile(dataDir.secrets, '{"serviceSecret":"hush');
    const refusal = await readOrCreateSecrets(dataDir).then(String, String);
    expect(refusal).toMatch(/secrets\.json is damaged/);
    expect(refusal).not.toMatch(/hush/);
  });
});
