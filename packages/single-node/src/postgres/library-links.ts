import { lstat, readFile, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SettingsError } from '@framelane/service-kit/settings';

/** Lists the links, with paths from the folder of the package. */
const LIST = 'native/pg-symlinks.json';

/**
 * Creates the symbolic links between PostgreSQL's libraries that are missing. A package of npm cannot contain links; an install script
 * creates them, and package managers run no such script unless they are told to. `folder` is that of the package. Throws a SettingsError
 * if the links cannot be created.
 */
export async function restoreLibraryLinks(folder: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(await readFile(join(folder, LIST), 'utf8'));
  try {
    for (const { source, target } of links) {
      const path = join(folder, target);
      // Both are in the same folder.
      if (!(await exists(path))) await symlink(basename(source), path).catch(unlessCreated);
    }
  } catch (cause) {
    throw new SettingsError(
      `PostgreSQL's libraries in ${folder} lack their symbolic links, and this user cannot create them (${(cause as Error).message}). ` +
        `Create them once, as the user who has installed Framelane: cd '${folder}' && node scripts/hydrate-symlinks.js`,
      { cause },
    );
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Another process can create the same link at the same time. */
function unlessCreated(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
