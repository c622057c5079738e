import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { SettingsError } from '@framelane/service-kit/settings';
import type { DataDir } from './settings.ts';

/**
 * Makes the directories. Root's own PostgreSQL user has to get through the first; the others are for us alone. Throws a
 * SettingsError where none can be made.
 */
export async function makeDataDir(dataDir: DataDir): Promise<void> {
  try {
    await mkdir(dataDir.root, { recursive: true, mode: 0o711 });
    await mkdir(dataDir.objects, { recursive: true, mode: 0o700 });
    await mkdir(dataDir.work, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new SettingsError(`DATA_DIR: no directory can be made there (${(error as Error).message})`);
  }
}

/**
 * Makes this process the only one to use the data directory, and resolves with the way to give it up again. Throws a
 * SettingsError while another process uses it.
 *
 * The lock is an abstract Unix socket named for the directory: the kernel lets go of it when its process ends, however
 * that happens, so no lock is ever left behind by a dead one.
 */
export async function lockDataDir(root: string): Promise<() => Promise<void>> {
  const place = await realpath(root);
  const name = createHash('sha256').update(place).digest('hex');
  const lock = createServer((stranger) => stranger.destroy());
  lock.unref().listen(`\0framelane-${name}`);
  try {
    await once(lock, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new SettingsError(
      `Another Framelane is running on ${place}. Stop that one first, or set DATA_DIR to a directory of its own.`,
    );
  }
  return async () => {
    lock.close();
    await once(lock, 'close');
  };
}
