import { SettingsError } from '@framelane/service-kit/settings';
import { terminalOutput } from '@framelane/service-kit/terminal-text';
import { runAdmin } from './admin.ts';

process.exitCode = await runAdmin(process.argv.slice(2), {
  calledAs: 'admin',
  note: 'Uses the PostgreSQL in DATABASE_URL, and first migrates it to the latest schema.',
  provideDatabase: async () => {
    const url = process.env.DATABASE_URL;
    if (!url) {
      throw new SettingsError(
        'DATABASE_URL is not set. Set it to the address of the PostgreSQL of the control plane, ' +
          'such as postgres://user:password@host:5432/framelane.',
      );
    }
    return { url, release: async () => {} };
  },
  publicUrl: () => {
    const url = process.env.PUBLIC_URL;
    if (!url)
      throw new SettingsError('PUBLIC_URL is not set. Set it to the public address of the control plane.');
    return url.replace(/\/+$/, '');
  },
  ...terminalOutput(),
});
