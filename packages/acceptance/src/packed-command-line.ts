import { access, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '@framelane/test-kit/installed-package';
import { until } from '@framelane/test-kit/until';

/**
 * The path of the command `framelane` of the packed `@framelane/cli`. It is installed once for all test files of a run, in FRAMELANE_PACKAGES_DIR, which belongs
 * to whoever starts the run.
 */
export async function packedCommandLine(env: NodeJS.ProcessEnv): Promise<string> {
  const root = env.FRAMELANE_PACKAGES_DIR || (await mkdtemp(join(tmpdir(), 'framelane-packages-')));
  const directory = join(root, 'cli');
  const complete = join(root, 'cli-is-complete');
  if (await isFirst(directory)) {
    await installPackage('cli', directory);
    await writeFile(complete, '');
  }
  await until(
    () =>
      access(complete).then(
        () => true,
        () => false,
      ),
    { what: 'the command line is installed' },
  );
  return join(directory, 'node_modules/.bin/framelane');
}

async function isFirst(directory: string): Promise<boolean> {
  try {
    await mkdir(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
