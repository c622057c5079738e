import { SettingsError } from '@framelane/service-kit/settings';
import { Client } from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

/** Throws a SettingsError when it cannot connect to the database of `DATABASE_URL`. */
export async function assertReachable(url: string): Promise<void> {
  try {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    await client.connect();
    await client.end();
  } catch (error) {
    // The error for a host name with several addresses has a code, and an empty message.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new SettingsError(`DATABASE_URL: cannot connect to this database (${message || code})`);
  }
}
