import { SettingsError } from '@framelane/service-kit/settings';
import { sql } from 'kysely';
import type { Database } from './database.ts';

/** The oldest PostgreSQL on which the tests of the control plane have passed: that of Debian 12. */
export const OLDEST_POSTGRES = 15;

/** Throws a SettingsError if the server is too old for the schema. */
export async function assertSupportedServer(db: Database): Promise<void> {
  const { rows } = await sql<{ version: string }>`show server_version`.execute(db);
  assertSupportedVersion(rows[0]?.version ?? 'unknown');
}

/** `version` is the setting `server_version`, such as `15.18 (Debian 15.18-0+deb12u1)`. */
export function assertSupportedVersion(version: string): void {
  const major = Number.parseInt(version, 10);
  if (major < OLDEST_POSTGRES) {
    throw new SettingsError(
      `The database server is PostgreSQL ${version}. Framelane needs PostgreSQL ${OLDEST_POSTGRES} or newer.`,
    );
  }
}
