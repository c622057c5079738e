import { runAdmin } from '@framelane/control-plane/admin/admin';
import { terminalOutput } from '@framelane/service-kit/terminal-text';
import { borrowDatabase } from '../node-database.ts';
import { readSingleNodeSettings } from '../settings.ts';

process.exitCode = await runAdmin(process.argv.slice(2), {
  calledAs: 'npm run admin --',
  note:
    'Uses the database of the single node in DATA_DIR (default: .data), running or\n' +
    'stopped. If DATABASE_URL is set, uses that database instead.',
  provideDatabase: async () => borrowDatabase(readSingleNodeSettings(process.env)),
  publicUrl: () => readSingleNodeSettings(process.env).publicUrl,
  ...terminalOutput(),
});
