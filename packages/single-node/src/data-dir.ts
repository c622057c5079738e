import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, constants, mkdir, realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SettingsError } from '@framelane/service-kit/settings';
import type { DataDir } from './settings.ts';

/**
 * Creates the directories. All but the root are private; PostgreSQL may run as another user, who has to pass through the
 * root. Throws a SettingsError when they cannot be created or written.
 */
export async function makeDataDir(dataDir: DataDir): Promise<void> {
  try {
    await mkdir(dataDir.root, { recursive: true, mode: 0o711 });
    await mkdir(dataDir.objects, { recursive: true, mode: 0o700 });
    await mkdir(dataDir.work, { recursive: true, mode: 0o700 });
    // They can exist on a disk that is read-only, or belong to another user.
    await access(dataDir.root, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new SettingsError(
      `DATA_DIR: the directory cannot be created or written (${(error as Error).message})`,
    );
  }
}

/** Throws a SettingsError unless a node has been started with this data directory. */
export async function assertInitialised({ root, secrets }: DataDir): Promise<void> {
  await access(secrets).catch(() => {
    throw new SettingsError(
      `There is no Framelane data in ${root}. Start Framelane once, or set DATA_DIR to its data directory.`,
    );
  });
}

/** How long an admin command waits for others. Each takes a few seconds. */
const COMMAND_WAIT_MS = 60_000;

/** Releases a lock. */
export type Unlock = () => Promise<void>;

/** Locks the data directory. Throws a SettingsError while another process holds the lock. */
export async function lockDataDir(root: string): Promise<Unlock> {
  const path = await realpath(root);
  const unlock = await tryLock(path);
  if (unlock !== undefined) return unlock;
  throw new SettingsError(
    `Another Framelane is running on ${path}. Stop it first, or set DATA_DIR to another directory.`,
  );
}

/** Whether a node is running on a data directory that exists. */
export async function isNodeRunning(root: string): Promise<boolean> {
  const unlock = await tryLock(await realpath(root));
  await unlock?.();
  return unlock === undefined;
}

/**
 * Locks the data directory against other admin commands: waits until they have ended. A node may run at the same time.
 * Throws a SettingsError after `waitMs`.
 */
export async function lockForCommand(root: string, waitMs = COMMAND_WAIT_MS): Promise<Unlock> {
  const path = await realpath(root);
  const end = Date.now() + waitMs;
  for (;;) {
    const unlock = await tryLock(path, 'command');
    if (unlock !== undefined) return unlock;
    if (Date.now() > end) {
      throw new SettingsError(
        `Another admin command is using ${path}. Wait until it has ended, or end it. Then try again.`,
      );
    }
    await sleep(100);
  }
}

/**
 * Resolves with undefined while another process holds the lock. The lock is an abstract Unix socket named after the directory. The
 * kernel releases it when the process ends, so a killed process leaves no stale lock.
 */
async function tryLock(path: string, use = ''): Promise<Unlock | undefined> {
  const name = createHash('sha256').update(path).digest('hex');
  const lock = createServer((socket) => socket.destroy());
  lock.unref().listen(`\0framelane-${name}${use}`);
  try {
    await once(lock, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return undefined;
  }
  return async () => {
    lock.close();
    await once(lock, 'close');
  };
}
