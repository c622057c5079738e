import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { keepSecrets, rotateContentKeySecret } from './secrets.ts';

describe('secrets of a data directory', () => {
  let root: string;
  let dataDir: { secrets: string; postgres: string };

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'framelane-secrets-'));
    dataDir = { secrets: join(root, 'secrets.json'), postgres: join(root, 'postgres') };
  });
  afterEach(() => rm(root, { recursive: true }));

  test('are made once, for their owner alone', async () => {
    const made = await keepSecrets(dataDir);
    expect(await keepSecrets(dataDir)).toEqual(made);
    expect((await stat(dataDir.secrets)).mode & 0o777).toBe(0o600);
    expect(await readdir(root)).toEqual(['secrets.json']);
    expect(Buffer.from(made.contentKeySecret, 'base64')).toHaveLength(32);
    expect(new Set([made.serviceSecret, made.contentKeySecret, made.databasePassword]).size).toBe(3);
  });

  test('get another content key secret, and keep those before it', async () => {
    const made = await keepSecrets(dataDir);
    await rotateContentKeySecret(dataDir);
    const once = await keepSecrets(dataDir);
    await rotateContentKeySecret(dataDir);
    const twice = await keepSecrets(dataDir);
    expect(twice).toEqual({
      ...made,
      contentKeySecret: expect.any(String),
      previousContentKeySecrets: [once.contentKeySecret, made.contentKeySecret],
    });
    expect(new Set([twice.contentKeySecret, ...twice.previousContentKeySecrets]).size).toBe(3);
    expect((await stat(dataDir.secrets)).mode & 0o777).toBe(0o600);
  });

  test('that know of no rotation yet are read', async () => {
    const { previousContentKeySecrets, ...first } = await keepSecrets(dataDir);
    await writeFile(dataDir.secrets, JSON.stringify(first));
    expect(await keepSecrets(dataDir)).toEqual({ ...first, previousContentKeySecrets });
  });

  test('are not made anew beside a database that was made with lost ones', async () => {
    await mkdir(dataDir.postgres);
    await expect(keepSecrets(dataDir)).rejects.toThrow(/secrets\.json is missing/);
  });

  test('that are damaged are told without quoting them', async () => {
    await writeFile(dataDir.secrets, '{"serviceSecret":"hush');
    const refusal = await keepSecrets(dataDir).then(String, String);
    expect(refusal).toMatch(/secrets\.json is damaged/);
    expect(refusal).not.toMatch(/hush/);
  });
});
