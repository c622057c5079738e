import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@framelane/service-kit/logger';
import type { MediaTools } from '../ffmpeg/media-tools.ts';
import { grantFolder, SOURCE_FOLDER } from '../sandbox/job-folder.ts';
import { removeTree } from '../sandbox/remove-tree.ts';

export type JobDirectoryContext = {
  /** The job creates its directory here. */
  jobsDir: string;
  tools: Pick<MediaTools, 'account'>;
  logger: Logger;
};

/**
 * Runs `work` in a new directory with an empty folder for its inputs, and removes the directory. One that cannot be removed does not fail the try:
 * the next start of the engine removes it.
 */
export async function withJobDirectory<T>(
  videoId: string,
  { jobsDir, tools, logger }: JobDirectoryContext,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(jobsDir, 'job-'));
  try {
    await mkdir(join(directory, SOURCE_FOLDER));
    await grantFolder(directory, 'pass', tools.account);
    await grantFolder(join(directory, SOURCE_FOLDER), 'read', tools.account);
    return await work(directory);
  } finally {
    await removeTree(directory).catch((error: unknown) =>
      logger.error('transcode.directory_not_removed', { videoId, directory, error }),
    );
  }
}
