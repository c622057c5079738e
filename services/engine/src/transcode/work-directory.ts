import { execFile } from 'node:child_process';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { SettingsError } from '@framelane/service-kit/settings';
import { TOOL_ENVIRONMENT } from '../ffmpeg/run-tool.ts';

const run = promisify(execFile);

/** Rights of the group and of others to write. */
const WRITE_OF_OTHERS = 0o022;

/**
 * Makes a directory for the engine, or checks the one that is there. Programs run from it, and what is in it is removed,
 * so one that another user made is refused with a SettingsError: the default is in a folder where anybody can make one.
 * A directory of root is the choice of whoever set the machine up, as volumes are.
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
 * The same for a folder in that directory, in which nobody else may write, either. The directory itself may be a volume that
 * its group can write to, as those of Kubernetes are.
 */
export async function preparePrivateFolder(path: string): Promise<void> {
  await prepareWorkDirectory(path);
  const { mode } = await stat(path);
  if ((mode & WRITE_OF_OTHERS) === 0) return;
  throw new SettingsError(
    `ENGINE_WORK_DIR: other users can write in ${path}. Remove it; the engine makes it again.`,
  );
}

/**
 * Removes a directory that a tool has written to, with everything in it. A missing directory is no error. Throws if
 * something cannot be removed.
 *
 * rm works through open folders. So it follows no link that a tool puts in the place of a folder meanwhile, and it reaches
 * folders nested deeper than a path can be long.
 */
export async function removeTree(directory: string): Promise<void> {
  const options = { env: TOOL_ENVIRONMENT };
  // The tool may have made folders inaccessible, but not to root. For root, chmod is a risk: it follows a link that takes
  // the place of a file at the wrong moment. rm reports what chmod cannot change.
  if (process.getuid?.() !== 0) {
    await run('chmod', ['-R', 'u+rwX', '--', directory], options).catch(() => {});
  }
  await run('rm', ['-rf', '--', directory], options);
}
