import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
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

/** Runs the command. Resolves with what it prints, or throws with its errors. */
async function build(...args: string[]): Promise<{ key: string; outcome: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, folder, ...args]);
  const [key = '', outcome = ''] = stdout.split(/[ :]/);
  return { key, outcome };
}

/** A page with two routes, of which one has many random bytes. */
async function writeRoutes(startRoutes: string[]): Promise<void> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ startRoutes }));
  await writeFile(
    join(folder, 'page.ts'),
    'void (location.hash ? import("./large.ts") : import("./small.ts"));',
  );
  await writeFile(join(folder, 'small.ts'), 'document.title = "small";');
  await writeFile(join(folder, 'large.ts'), `document.title = "${randomBytes(40_000).toString('base64')}";`);
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

test('builds for production, also if NODE_ENV names something else', async () => {
  await writeFile(join(folder, 'page.ts'), 'document.title = "built for " + process.env.NODE_ENV;');
  const { key } = await build();
  const { files = '' } = findBuild(folder, key) ?? {};
  const [script = ''] = (await readdir(files)).filter((name) => name.endsWith('.js'));
  expect(process.env.NODE_ENV).toBe('test');
  expect(await readFile(join(files, script), 'utf8')).toContain('built for production');
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

test('a route that is opened later does not count, unless the page starts with it', async () => {
  await writeRoutes(['small.ts']);
  const { key } = await build('10000');
  const files = findBuild(folder, key)?.files ?? '';
  const scripts = await Promise.all(
    (await readdir(files))
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFile(join(files, name), 'utf8')),
  );
  expect(scripts.join()).not.toContain(FILES_PATH);

  await writeRoutes(['small.ts', 'large.ts']);
  await expect(build('10000')).rejects.toThrow(/more than the limit of 10000/);
});

test('a file that the page preloads counts, and its package is among the licences', async () => {
  const font = join(folder, 'node_modules', 'font');
  await mkdir(font, { recursive: true });
  await writeFile(join(font, 'package.json'), '{"name":"font","version":"1.0.0","license":"OFL-1.1"}');
  await writeFile(join(font, 'LICENSE'), 'Copyright (c) its designer');
  await writeFile(join(font, 'font.woff2'), randomBytes(40_000));
  await writeFile(
    join(folder, 'index.html'),
    `<!doctype html><link rel="preload" as="font" href="./node_modules/font/font.woff2" crossorigin>
    <script type="module" src="./page.ts"></script>`,
  );
  await expect(build('40000')).rejects.toThrow(/more than the limit of 40000/);
  const { key } = await build('50000');
  const { files = '' } = findBuild(folder, key) ?? {};
  expect(await readFile(join(files, `licences-${key}.md`), 'utf8')).toContain('Copyright (c) its designer');
});

test('a route that does not exist fails the build', async () => {
  await writeRoutes(['missing.ts']);
  await expect(build()).rejects.toThrow(/no file for missing.ts/);
});

test('a page that does not compile fails the build and leaves nothing behind', async () => {
  await writeFile(join(folder, 'page.ts'), 'import "./missing.ts";');
  await expect(build()).rejects.toThrow(/missing/);
  expect(await builds()).toEqual([]);
});

test('a page has the licence texts of its packages, and a package without one fails the build', async () => {
  const dependency = join(folder, 'node_modules', 'dependency');
  await mkdir(dependency, { recursive: true });
  const manifest = { name: 'dependency', version: '1.2.3', license: 'MIT', main: 'index.js' };
  await writeFile(join(dependency, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(dependency, 'index.js'), 'document.title = "dependency";');
  await writeFile(join(folder, 'page.ts'), 'import "dependency";');
  await expect(build()).rejects.toThrow('dependency contains no licence text');

  await writeFile(join(dependency, 'LICENSE'), 'Copyright (c) its author');
  const { key } = await build();
  const { files = '' } = findBuild(folder, key) ?? {};
  const licences = await readFile(join(files, `licences-${key}.md`), 'utf8');
  expect(licences).toMatch(/## Framelane \(Apache-2\.0\)\n+ +Apache License/);
  expect(licences).toContain('\n## dependency 1.2.3 (MIT)\n\nCopyright (c) its author\n');
});

test('removes what a killed build left an hour ago, and nothing that may still be in use', async () => {
  const [old, recent] = ['.unfinished-old', '.unfinished-recent'].map((name) => join(folder, 'dist', name));
  for (const path of [old, recent]) await mkdir(path ?? '', { recursive: true });
  const hours = new Date(Date.now() - 2 * 3_600_000);
  await utimes(old ?? '', hours, hours);
  const { key } = await build();
  expect(await builds()).toEqual(['.unfinished-recent', key].sort());
});

test('the console is built for all tests, without styles that need hashes', () => {
  const build = findBuild(folderOf('console'), keyOf(folderOf('console')));
  expect(build?.html).toContain(`${FILES_PATH}files/`);
  expect(build?.styleHashes).toEqual([]);
});

test('the player page is built for all tests, with a hash for each of its style sheets', () => {
  const player = folderOf('player');
  const build = findBuild(player, keyOf(player));
  expect(build?.html).toContain('media-controller');
  expect(build?.styleHashes.length).toBeGreaterThan(20);
});
