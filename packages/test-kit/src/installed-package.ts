import { cp, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/**
 * Builds and packs a workspace package as it is published, with the published packages that it uses, and installs the tarballs with npm in
 * `directory`, which is outside of the workspace. Other dependencies are packed from node_modules, so npm needs no network. Node's types
 * are linked in for compilers.
 */
export async function installPackage(name: string, directory: string): Promise<void> {
  const source = join(ROOT, 'packages', name);
  const built = join(directory, 'built');
  await runProgram(process.execPath, [
    join(ROOT, 'infra', 'publish', 'build-package.js'),
    ...[name, '--into', built],
  ]);
  const tarballs = join(directory, 'tarballs');
  await mkdir(tarballs);
  const folders = (await readdir(built)).map((each) => join(built, each));
  for (const folder of await dependenciesOf(source)) {
    // Its published form is built.
    if (!folder.includes('/node_modules/')) continue;
    // pnpm links equal files, and npm drops hard links from tarballs.
    const copy = join(directory, 'sources', String(folders.length));
    await cp(folder, copy, { recursive: true });
    folders.push(copy);
  }
  await runProgram('npm', ['pack', '--ignore-scripts', '--pack-destination', tarballs, ...folders]);
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  const files = (await readdir(tarballs)).map((file) => join(tarballs, file));
  await runProgram('npm', ['install', '--offline', '--no-audit', '--no-fund', ...files], { cwd: directory });
  await symlink(join(ROOT, 'node_modules', '@types'), join(directory, 'node_modules', '@types'));
}

/** The folders of all production dependencies of the package in a folder, direct and indirect. */
async function dependenciesOf(folder: string): Promise<string[]> {
  const { dependencies = {} } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const folders = new Set<string>();
  for (const name of Object.keys(dependencies)) {
    const dependency = await find(name, folder);
    folders.add(dependency);
    for (const each of await dependenciesOf(dependency)) folders.add(each);
  }
  return [...folders];
}

/** pnpm links a package's dependencies beside it, or in its node_modules if it is of the workspace. */
async function find(name: string, folder: string): Promise<string> {
  const within = join(folder, 'node_modules', name);
  const beside = join(folder.replace(/(.*\/node_modules)\/.*/, '$1'), name);
  return realpath(within).catch(() => realpath(beside));
}
