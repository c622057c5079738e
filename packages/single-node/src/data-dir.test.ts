import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { lockDataDir, lockForCommand, makeDataDir } from './data-dir.ts';
import { readSingleNodeSettings } from './settings.ts';

describe('the lock of a data directory', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'framelane-lock-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  test('is held by one process at a time, whatever path it uses', async () => {
    const data = join(root, 'data');
    const link = join(root, 'link');
    await symlink(root, link);
    const unlock = await lockDataDir(root);
    await expect(lockDataDir(link)).rejects.toThrow(/set DATA_DIR/);
    await expect(lockDataDir(data)).rejects.toThrow('ENOENT');
    await unlock();
    const unlockAgain = await lockDataDir(link);
    await unlockAgain();
  });

  test('does not exclude admin commands, which wait for each other', async () => {
    const unlock = await lockDataDir(root);
    const endFirst = await lockForCommand(root);
    await expect(lockForCommand(root, 0)).rejects.toThrow(/^Another admin command is using /);
    const second = lockForCommand(root);
    await endFirst();
    const endSecond = await second;
    await Promise.all([endSecond(), unlock()]);
  });
});

test('reports a data directory that cannot be created', async () => {
  const root = await mkdtemp(join(tmpdir(), 'framelane-data-'));
  try {
    const file = join(root, 'file');
    await writeFile(file, '');
    const { dataDir } = readSingleNodeSettings({ DATA_DIR: join(file, 'data') });
    await expect(makeDataDir(dataDir)).rejects.toThrow(
      /^DATA_DIR: the directory cannot be created or written \(ENOTDIR/,
    );
  } finally {
    await rm(root, { recursive: true });
  }
});
