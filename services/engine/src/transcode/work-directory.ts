import { lstat, mkdir, stat } from 'node:fs/promises';
import { SettingsError } from '@framelane/service-kit/settings';

/** Write permission of the group and of others. */
const OTHERS_CAN_WRITE = 0o022;

/**
 * Creates the work directory of the engine, or checks the existing one. Throws a SettingsError if it belongs to another user
 * than the engine's or root. The engine runs programs from it and removes its content, and any user can create a directory of
 * the default name. Mounted volumes belong to root.
 */
export async function prepareWorkDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const trusted = [0, process.geteuid?.()];
  for (const { uid } of [await lstat(path), await stat(path)]) {
    if (trusted.includes(uid)) continue;
    throw new SettingsError(
      `ENGINE_WORK_DIR: ${path} belongs to another user (uid ${uid}). Remove it, or set ENGINE_WORK_DIR to a directory of your own.`,
    );
  }
}

/**
 * Creates or checks a folder in the work directory. Throws a SettingsError if it belongs to another user, or if other users can
 * write to it. Only the work directory itself may be writable for its group, as volumes of Kubernetes are.
 */
export async function preparePrivateFolder(path: string): Promise<void> {
  await prepareWorkDirectory(path);
  const { mode } = await stat(path);
  if ((mode & OTHERS_CAN_WRITE) === 0) return;
  throw new SettingsError(
    `ENGINE_WORK_DIR: other users can write to ${path}. Remove it; the engine creates it again.`,
  );
}
