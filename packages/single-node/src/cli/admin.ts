import { text } from 'node:stream/consumers';
import { runAdmin } from '@framelane/control-plane/admin/admin';
import { terminalOutput } from '@framelane/service-kit/terminal-text';
import { assertInitialised, makeDataDir } from '../data-dir.ts';
import { borrowDatabase } from '../node-database.ts';
import { objectStoreOf } from '../object-store.ts';
import { createSecrets, readOrCreateSecrets, sealingSecretsOf } from '../secrets.ts';
import { readSingleNodeSettings } from '../settings.ts';

const settings = () => readSingleNodeSettings(process.env);

process.exitCode = await runAdmin(process.argv.slice(2), {
  calledAs: 'npm run admin --',
  note:
    'Uses the database of the single node in DATA_DIR (default: .data), running or\n' +
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
