import { Client } from 'pg';

/** The database of a single node. */
export const DATABASE = 'framelane';

/** Creates the database unless it is there. `server` is the address of any database beside it. */
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
