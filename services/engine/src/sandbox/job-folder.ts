import { chmod, chown } from 'node:fs/promises';
import { type Account, ownAccount } from '@framelane/service-kit/system-account';

/**
 * The source within a job's folder, alone in a folder of its own. The fixed name has no extension, so that only the content
 * decides the format. The prefix `file:` keeps ffmpeg from taking the path for a protocol.
 */
export const SOURCE_FOLDER = 'source';
export const SOURCE_PATH = `${SOURCE_FOLDER}/file`;
export const SOURCE_INPUT = `file:${SOURCE_PATH}`;
/** The image of the watermark, in the same folder. */
export const WATERMARK_PATH = `${SOURCE_FOLDER}/watermark`;
export const WATERMARK_INPUT = `file:${WATERMARK_PATH}`;
/** The folder within a job's folder that ffmpeg may write to. */
export const OUTPUT_FOLDER = 'output';

/** Modes of folders that the engine owns and whose group is that of the confined programs. */
const MODES = { pass: 0o710, read: 0o750, write: 0o770 };

/**
 * Lets the account of the confined programs pass through a folder, read it, or write to it. Only that account and the engine
 * get access. Does nothing if the programs run as the engine's own account.
 */
export async function grantFolder(
  path: string,
  access: keyof typeof MODES,
  account: Account | null,
): Promise<void> {
  if (!account) return;
  await chown(path, ownAccount().uid, account.gid);
  await chmod(path, MODES[access]);
}

/** Lets the account of the confined programs read a file in a folder that it can read. */
export async function grantFile(path: string, account: Account | null): Promise<void> {
  // The folder denies access to everyone else. The file may be a hard link to a stored object, so its owner must not change.
  if (account) await chmod(path, 0o644);
}
