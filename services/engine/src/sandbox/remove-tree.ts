import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { TOOL_ENVIRONMENT } from './run-tool.ts';

const run = promisify(execFile);

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
