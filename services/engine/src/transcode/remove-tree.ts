import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Removes a directory that a tool has written to, with everything in it; a missing one is no error. Links are removed, not
 * followed, as long as no tool is left that could exchange a folder for one. Folders that a tool made inaccessible, or
 * nested deeper than a path can be long, are left to chmod and rm, which work through open folders.
 */
export async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // What chmod cannot change, rm reports.
    await run('chmod', ['-R', 'u+rwX', '--', directory]).catch(() => {});
    await run('rm', ['-rf', '--', directory]);
  }
}
