import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PACKAGE = join(import.meta.dirname, '..', '..');
const ROOT = join(PACKAGE, '..', '..');

/**
 * Packs the client as it is published and installs it in a directory outside of the workspace: from the archive, with
 * those libraries that its package.json asks for.
 */
export async function installPackedClient(directory: string): Promise<void> {
  const { packageManager } = await readJson(join(ROOT, 'package.json'));
  const pack = ['--silent', 'pack', '--out', join(directory, 'client.tgz')];
  await run('npx', ['--yes', String(packageManager), ...pack], { cwd: PACKAGE });
  await run('tar', ['-xzf', 'client.tgz'], { cwd: directory });

  const modules = join(directory, 'node_modules');
  const installed = join(modules, '@framelane', 'client');
  await mkdir(join(modules, '@framelane'), { recursive: true });
  await rename(join(directory, 'package'), installed);
  const { dependencies } = await readJson(join(installed, 'package.json'));
  for (const name of Object.keys(dependencies ?? {})) {
    await symlink(join(PACKAGE, 'node_modules', name), join(modules, name));
  }
}

async function readJson(path: string): Promise<Record<string, object | string>> {
  return JSON.parse(await readFile(path, 'utf8'));
}
