import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { TOOL_ENVIRONMENT } from '../ffmpeg/run-tool.ts';

const run = promisify(execFile);

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
