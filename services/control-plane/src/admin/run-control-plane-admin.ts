import { text } from 'node:stream/consumers';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { readS3Settings } from '@framelane/service-kit/connection-settings';
import { readSettings, SettingsError, setting } from '@framelane/service-kit/settings';
import { terminalOutput } from '@framelane/service-kit/terminal-text';
import { z } from 'zod';
import { runAdmin } from './admin.ts';

const secretSettings = z.object({
  CONTENT_KEY_SECRET: setting.key256(),
  CONTENT_KEY_SECRET_PREVIOUS: setting.keys256().default([]),
});

/** Runs an administration command with the settings of a control plane. Resolves with the exit code; never throws. */
export function runControlPlaneAdmin(args: readonly string[], calledAs: string): Promise<number> {
  return runAdmin(args, {
    calledAs,
    env: process.env,
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
    objects: () => new S3ObjectStore(readS3Settings(process.env)),
    secrets: async () => {
      const values = readSettings(secretSettings, process.env);
      return { current: values.CONTENT_KEY_SECRET, previous: values.CONTENT_KEY_SECRET_PREVIOUS };
    },
    // Its settings have secrets of its own, which seal the values of the backup anew.
    prepareRestore: async () => {},
    readInput: () => text(process.stdin),
    ...terminalOutput(),
  });
}
