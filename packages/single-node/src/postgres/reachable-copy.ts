import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { SettingsError } from '@framelane/service-kit/settings';

const run = promisify(execFile);

/** Root's cache of programs. It holds no data. */
const CACHE = '/var/cache/framelane';

/**
 * Copies the folder of PostgreSQL, in a package that only root can reach, to a place that every user can reach. The copy is made once for each
 * version of the package and set of files, and serves all nodes of the machine: an incomplete installation, once repaired, gets a new copy. Throws a
 * SettingsError when it cannot be made.
 */
export async function reachableCopy(folder: string, cache = CACHE): Promise<string> {
  const { version } = JSON.parse(await readFile(join(folder, '../package.json'), 'utf8'));
  const copy = join(cache, `postgresql-${version}-${await fingerprintOf(folder)}`);
  try {
    if (!(await isReachableByAll(copy))) await copyOnce(folder, copy);
    if (await isReachableByAll(join(copy, 'bin', 'postgres'))) return copy;
  } catch (cause) {
    throw unreachable(folder, `they cannot be copied to ${cache} (${(cause as Error).message})`, { cause });
  }
  throw unreachable(folder, `others than root cannot enter ${cache}`);
}

/** Whether every user may enter this directory (or run this program) and all of its parents. */
export async function isReachableByAll(path: string): Promise<boolean> {
  const end = await realpath(path).catch(() => undefined);
  if (end === undefined) return false;
  for (let at = end; ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o001) === 0) return false;
    if (at === '/') return true;
  }
}

/** A short hash of the names and sizes of the files in a folder. */
async function fingerprintOf(folder: string): Promise<string> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const entries = await Promise.all(
    names.map(async (name) => {
      const entry = await stat(join(folder, name));
      return entry.isFile() ? [[name, entry.size]] : [];
    }),
  );
  return createHash('sha256').update(JSON.stringify(entries.flat())).digest('hex').slice(0, 12);
}

/** The copy is complete or does not exist, also after a kill or a power cut. */
async function copyOnce(folder: string, copy: string): Promise<void> {
  await mkdir(dirname(copy), { recursive: true });
  // Modes must not depend on the umask.
  await chmod(dirname(copy), 0o755);
  const temporary = await mkdtemp(`${copy}.`);
  try {
    await run('cp', ['-RL', `${folder}/.`, temporary]);
    await run('chmod', ['-R', 'u=rwX,go=rX', temporary]);
    await run('sync', ['-f', temporary]);
    await rename(temporary, copy).catch((error: NodeJS.ErrnoException) => {
      // Another node was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function unreachable(folder: string, reason: string, options?: ErrorOptions): SettingsError {
  return new SettingsError(
    `PostgreSQL does not run as root, other users cannot reach its programs in ${folder}, and ${reason}. ` +
      'Install Framelane in a directory that all users can enter, such as /opt, run it as another user, or set DATABASE_URL.',
    options,
  );
}
