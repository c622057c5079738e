import { runAdmin } from '@framelane/control-plane/admin/admin';
import { borrowDatabase } from '../node-database.ts';
import { readSingleNodeSettings } from '../settings.ts';

process.exitCode = await runAdmin(process.argv.slice(2), {
  calledAs: 'npm run admin --',
  note:
    'Works on the single node in DATA_DIR (.data), whether it runs or not,\n' +
    'or on the PostgreSQL that DATABASE_URL names.',
  provideDatabase: async () => borrowDatabase(readSingleNodeSettings(process.env)),
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
});
