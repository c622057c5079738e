import { execFile } from 'node:child_process';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { SettingsError } from '@framelane/service-kit/settings';
import { TOOL_ENVIRONMENT } from '../sandbox/run-tool.ts';

const run = promisify(execFile);

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

/**
 * Removes a directory that a tool has written to, with its content. A missing directory is not an error. Throws if something
 * cannot be removed.
 *
 * `rm` works relative to open folders. So it follows no link that a tool puts in the place of a folder meanwhile. And it can
 * remove folders whose path would exceed the maximum length of a path.
 */
export async function removeTree(directory: string): Promise<void> {
  const options = { env: TOOL_ENVIRONMENT };
  // The tool may have removed permissions. Root needs none, and must not run chmod, which follows a link that replaces a file
  // meanwhile. If chmod fails, rm reports the files that remain.
  if (process.getuid?.() !== 0) {
    await run('chmod', ['-R', 'u+rwX', '--', directory], options).catch(() => {});
  }
  await run('rm', ['-rf', '--', directory], options);
}
