import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { restoreLibraryLinks } from './library-links.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-links-'));
  await mkdir(join(folder, 'native/lib'), { recursive: true });
  await writeFile(join(folder, 'native/lib/libpq.so.5.18'), 'library');
  const source = 'native/lib/libpq.so.5.18';
  const links = ['libpq.so', 'libpq.so.5'].map((name) => ({ source, target: `native/lib/${name}` }));
  await writeFile(join(folder, 'native/pg-symlinks.json'), JSON.stringify(links));
});
afterEach(() => rm(folder, { recursive: true }));

const read = (name: string) => readFile(join(folder, 'native/lib', name), 'utf8');

test('missing links are created, by any number of processes at the same time', async () => {
  await Promise.all([restoreLibraryLinks(folder), restoreLibraryLinks(folder)]);
  expect([await read('libpq.so'), await read('libpq.so.5')]).toEqual(['library', 'library']);
});

test('what is there stays', async () => {
  await writeFile(join(folder, 'native/lib/libpq.so'), 'a copy, as pnpm installs it');
  await restoreLibraryLinks(folder);
  expect([await read('libpq.so'), await read('libpq.so.5')]).toEqual([
    'a copy, as pnpm installs it',
    'library',
  ]);
});

test('links that cannot be created are an error that says what to do', async () => {
  // Root can write everywhere, but not into a folder that is missing.
  await rm(join(folder, 'native/lib'), { recursive: true });
  await expect(restoreLibraryLinks(folder)).rejects.toThrow(
    `as the user who has installed Framelane: cd '${folder}' && node scripts/hydrate-symlinks.js`,
  );
});
