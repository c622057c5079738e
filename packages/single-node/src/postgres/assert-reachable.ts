import { SettingsError } from '@framelane/service-kit/settings';
import { Client } from 'pg';

/** A server that has not answered by then is not there. */
const LIMIT_MS = 10_000;

/** Throws a SettingsError when the database that `DATABASE_URL` names takes no connection. */
export async function assertReachable(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: LIMIT_MS });
  try {
    await client.connect();
  } catch (error) {
    throw new SettingsError(`DATABASE_URL: no connection to this database (${(error as Error).message})`);
  }
  await client.end();
}
