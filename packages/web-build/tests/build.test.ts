import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { FILES_PATH, findBuild, folderOf, keyOf } from '../src/front-ends.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-page-'));
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><script type="module" src="./page.ts"></script>',
  );
  await writeFile(join(folder, 'page.ts'), 'const words: string = "first"; document.title = words;');
});
afterEach(() => rm(folder, { recursive: true }));

const MAIN = join(import.meta.dirname, '../src/main.ts');

/** Builds in a process of its own, as Vite does not run in jest. Resolves with what it prints, or throws with its errors. */
async function build(...args: string[]): Promise<{ key: string; outcome: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, folder, ...args]);
  const [key = '', outcome = ''] = stdout.split(/[ :]/);
  return { key, outcome };
}

const builds = async () => (await readdir(join(folder, 'dist'))).sort();

test('builds once for each version of the files, and keeps the version before', async () => {
  expect(await build()).toEqual({ key: keyOf(folder), outcome: 'built' });
  expect(await build()).toEqual({ key: keyOf(folder), outcome: 'found' });

  await writeFile(join(folder, 'page.ts'), 'document.title = "second";');
  expect(findBuild(folder, keyOf(folder))).toBeUndefined();
  const second = await build();
  await writeFile(join(folder, 'page.ts'), 'document.title = "third";');
  const third = await build();
  expect(await builds()).toEqual([second.key, third.key].sort());

  const found = findBuild(folder, third.key);
  expect(found?.html).toContain(`src="${FILES_PATH}files/`);
  const names = await readdir(found?.files ?? '');
  expect(names).toContain(`licences-${third.key}.md`);
  const [script = ''] = names.filter((name) => name.endsWith('.js'));
  expect(await readFile(join(found?.files ?? '', script), 'utf8')).toContain('third');
});

test('tests, builds and installed packages are no part of a version', async () => {
  const key = keyOf(folder);
  for (const name of ['node_modules', 'dist', 'tests']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'file.ts'), 'x');
  }
  await writeFile(join(folder, 'page.test.ts'), 'x');
  expect(keyOf(folder)).toBe(key);
});

test('two builds at the same time do not disturb each other', async () => {
  const [one, other] = await Promise.all([build(), build()]);
  expect(one.key).toBe(other.key);
  expect(await builds()).toEqual([one.key]);
});

test('ignores a folder that another build removes meanwhile', async () => {
  await mkdir(join(folder, 'dist'));
  // It has a name and cannot be found, as after a removal.
  await symlink('nowhere', join(folder, 'dist', '.unfinished-removed'));
  expect(await build()).toEqual({ key: keyOf(folder), outcome: 'built' });
});

test('a page that is too large fails the build and leaves nothing behind', async () => {
  await expect(build('100')).rejects.toThrow(/bytes after gzip, which is more than the limit of 100/);
  expect(await builds()).toEqual([]);
});

test('a page that does not compile fails the build and leaves nothing behind', async () => {
  await writeFile(join(folder, 'page.ts'), 'import "./missing.ts";');
  await expect(build()).rejects.toThrow(/missing/);
  expect(await builds()).toEqual([]);
});

test('removes what a killed build left an hour ago, and nothing that may still be in use', async () => {
  const [old, recent] = ['.unfinished-old', '.unfinished-recent'].map((name) => join(folder, 'dist', name));
  for (const path of [old, recent]) await mkdir(path ?? '', { recursive: true });
  const hours = new Date(Date.now() - 2 * 3_600_000);
  await utimes(old ?? '', hours, hours);
  const { key } = await build();
  expect(await builds()).toEqual(['.unfinished-recent', key].sort());
});

test('the player page is built for all tests, with a hash for each of its style sheets', () => {
  const player = folderOf('player');
  const build = findBuild(player, keyOf(player));
  expect(build?.html).toContain('media-controller');
  expect(build?.styleHashes.length).toBeGreaterThan(20);
});
