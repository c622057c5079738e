import type { ObjectStore } from '@framelane/object-store/object-store';
import { createLogger } from '@framelane/service-kit/logger';
import type { Actor } from '../db/actor.ts';
import { type Database, openDatabase, openMigrationPool } from '../db/database.ts';
import type { InstallationSecrets } from '../sealed-values/installation-secrets.ts';

/** The environment of the command line: its installation and its output. */
export type AdminHost = {
  /** The command that the help shows, e.g. `npm run admin --`. */
  calledAs: string;
  /** The end of the help: which installation the commands use. */
  note: string;
  /** The environment variables with the settings of backups. */
  env: NodeJS.ProcessEnv;
  /** The directory of all data of the installation, if it has one. */
  dataDir?: string;
  /** Resolves with the database; called only by commands that need it. Throws a SettingsError when none is configured. */
  provideDatabase(): Promise<{ url: string; release(): Promise<void> }>;
  /** The root of the public address. Throws a SettingsError when none is configured. */
  publicUrl(): string;
  /** The object store. Throws a SettingsError when none is configured. */
  objects(): ObjectStore;
  /** The secrets that sealed values need. Throws a SettingsError when they are missing. */
  secrets(): Promise<InstallationSecrets>;
  /** Prepares a new installation for a backup. It gets the secrets of the backup, unless it has its own. */
  prepareRestore(secrets: InstallationSecrets): Promise<void>;
  /** Reads the standard input to its end. */
  readInput(): Promise<string>;
  write(text: string): void;
  writeError(text: string): void;
};

/** Opens the database, which may have no schema yet, and closes it after the work. The audit log has what `actor` changes. */
export async function withDatabase<T>(
  host: AdminHost,
  work: (db: Database) => Promise<T>,
  actor?: Actor,
): Promise<T> {
  const database = await host.provideDatabase();
  try {
    // Results and errors are printed; a log would repeat them.
    const logger = createLogger({ service: 'admin', level: 'silent' });
    const db = openDatabase(openMigrationPool(database.url, logger, actor));
    try {
      return await work(db);
    } finally {
      await db.destroy();
    }
  } finally {
    await database.release();
  }
}
