import { SettingsError } from '@framelane/service-kit/settings';
import { assertInitialised, lockDataDir } from '../data-dir.ts';
import type { Installation } from '../installation.ts';
import { rotateContentKeySecret } from '../secrets.ts';
import { readSingleNodeSettings } from '../settings.ts';

/** Creates a new content key secret for the single node in DATA_DIR, which must not be running. */
async function rotate(installation: Installation): Promise<void> {
  const { dataDir } = readSingleNodeSettings(process.env, installation);
  await assertInitialised(dataDir);
  const unlock = await lockDataDir(dataDir.root);
  try {
    await rotateContentKeySecret(dataDir);
  } finally {
    await unlock();
  }
  process.stdout.write(
    `${dataDir.secrets} has a new content key secret and keeps the earlier ones. Back it up, then start the node.\n`,
  );
}

/** Runs the rotation for the single node of an installation. Resolves with the exit code. */
export async function runRotation(installation: Installation): Promise<number> {
  try {
    await rotate(installation);
    return 0;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}
