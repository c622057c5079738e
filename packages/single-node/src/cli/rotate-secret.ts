import { access } from 'node:fs/promises';
import { SettingsError } from '@framelane/service-kit/settings';
import { lockDataDir } from '../data-dir.ts';
import { rotateContentKeySecret } from '../secrets.ts';
import { readSingleNodeSettings } from '../settings.ts';

/** Makes a new content key secret for the single node in DATA_DIR, while it does not run. */
async function main(): Promise<void> {
  const { dataDir } = readSingleNodeSettings(process.env);
  await access(dataDir.secrets).catch(() => {
    throw new SettingsError(`There is no Framelane in ${dataDir.root}. Set DATA_DIR to where it is.`);
  });
  const unlock = await lockDataDir(dataDir.root);
  try {
    await rotateContentKeySecret(dataDir);
  } finally {
    await unlock();
  }
  process.stdout.write(
    `${dataDir.secrets} has a new secret, and keeps the one before. Back it up, then start the node.\n`,
  );
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
