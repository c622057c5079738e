import { SettingsError } from '@framelane/service-kit/settings';
import { Client } from 'pg';

/** Name of the embedded database of a single node. */
export const DATABASE = 'framelane';

const CONNECT_TIMEOUT_MS = 10_000;

/** Creates a database if it does not exist. `server` is the URL of another database of the same server. */
export async function ensureDatabase(server: string, name: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

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
