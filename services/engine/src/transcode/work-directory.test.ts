import { chmod, chown, lchown, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requires } from '@framelane/test-kit/requires';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { preparePrivateFolder, prepareWorkDirectory } from './work-directory.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'work-directory-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('a new directory is accessible to the engine only', async () => {
  const path = join(root, 'new', 'work');
  await prepareWorkDirectory(path);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

test.each([
  ['720', 0o720],
  ['702', 0o702],
])('mode %s is accepted for the work directory, not for a folder in it', async (_, mode) => {
  const path = join(root, 'work');
  await mkdir(path);
  await chmod(path, mode);
  await prepareWorkDirectory(path);
  await expect(preparePrivateFolder(path)).rejects.toThrow('other users can write');
});

test('a folder in the work directory that others can read is accepted', async () => {
  await preparePrivateFolder(join(root, 'work'));
  await chmod(join(root, 'work'), 0o755);
  await preparePrivateFolder(join(root, 'work'));
});

const asRoot = requires('root', process.geteuid?.() === 0 ? null : 'The tests do not run as root');
asRoot.test('a directory or a link of another user is refused', async () => {
  const own = join(root, 'own');
  const foreign = join(root, 'foreign');
  const link = join(root, 'link');
  await mkdir(own);
  await mkdir(foreign);
  await chown(foreign, 65_534, 65_534);
  for (const prepare of [prepareWorkDirectory, preparePrivateFolder]) {
    await expect(prepare(foreign)).rejects.toThrow('belongs to another user (uid 65534)');
  }
  await symlink(own, link);
  await prepareWorkDirectory(link);
  await lchown(link, 65_534, 65_534);
  await expect(prepareWorkDirectory(link)).rejects.toThrow('belongs to another user');
});
