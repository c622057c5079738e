import { SettingsError } from '@framelane/service-kit/settings';
import { runAdmin } from '../../src/admin/admin.ts';
import type { AdminHost } from '../../src/admin/host.ts';

export type Ran = { code: number; output: string; errors: string };

/** Runs one admin command on a database; `undefined` means that no database is configured. */
export async function runAdminOn(
  databaseUrl: string | undefined,
  args: readonly string[],
  host: Partial<AdminHost> = {},
): Promise<Ran> {
  const ran = { output: '', errors: '' };
  const notConfigured = () => {
    throw new SettingsError('Not configured');
  };
  const code = await runAdmin(args, {
    calledAs: 'admin',
    note: 'A note.',
    env: {},
    provideDatabase: async () => {
      if (databaseUrl === undefined) throw new SettingsError('No database');
      return { url: databaseUrl, release: async () => {} };
    },
    publicUrl: () => 'http://framelane.test',
    objects: notConfigured,
    secrets: async () => notConfigured(),
    prepareRestore: async () => {},
    readInput: async () => '',
    write: (text) => {
      ran.output += text;
    },
    writeError: (text) => {
      ran.errors += text;
    },
    ...host,
  });
  return { code, ...ran };
}
