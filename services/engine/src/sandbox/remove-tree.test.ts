import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { removeTree } from './remove-tree.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'remove-tree-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('a tree is removed, whatever its permissions', async () => {
  await mkdir(join(root, '-rf', 'inner'), { recursive: true });
  await writeFile(join(root, '-rf', 'inner', 'file'), '');
  await chmod(join(root, '-rf', 'inner'), 0o000);
  await removeTree(join(root, '-rf'));
  expect(await readdir(root)).toEqual([]);
  await removeTree(join(root, '-rf'));
});
