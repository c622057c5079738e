import { text } from 'node:stream/consumers';
import { runAdmin } from '@framelane/control-plane/admin/admin';
import { terminalOutput } from '@framelane/service-kit/terminal-text';
import { assertInitialised, makeDataDir } from '../data-dir.ts';
import type { Installation } from '../installation.ts';
import { borrowDatabase } from '../node-database.ts';
import { objectStoreOf } from '../object-store.ts';
import { createSecrets, readOrCreateSecrets, sealingSecretsOf } from '../secrets.ts';
import { readSingleNodeSettings } from '../settings.ts';

/** Runs an administration command for the single node of an installation. Resolves with the exit code; never throws. */
export function runNodeAdmin(args: readonly string[], installation: Installation): Promise<number> {
  const settings = () => readSingleNodeSettings(process.env, installation);
  return runAdmin(args, {
    calledAs: installation.admin,
    note:
      `Uses the database of the single node in DATA_DIR (default: ${installation.dataDir}), running or\n` +
      'stopped. If DATABASE_URL is set, uses that database instead.',
    env: process.env,
    get dataDir() {
      return settings().dataDir.root;
    },
    provideDatabase: async () => borrowDatabase(settings()),
    publicUrl: () => settings().publicUrl,
    objects: () => objectStoreOf(settings()),
    secrets: async () => {
      const { dataDir } = settings();
      await assertInitialised(dataDir);
      return sealingSecretsOf(await readOrCreateSecrets(dataDir));
    },
    prepareRestore: async (secrets) => {
      const { dataDir } = settings();
      await makeDataDir(dataDir);
      await createSecrets(dataDir, secrets);
    },
    readInput: () => text(process.stdin),
    ...terminalOutput(),
  });
}
