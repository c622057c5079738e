import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { keepSecrets } from './secrets.ts';

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
    expect(new Set(Object.values(made)).size).toBe(3);
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
