import { Client } from 'pg';
import type { Cluster } from './cluster.ts';

/** Queries the database of a cluster directly. */
export async function query<Row>(cluster: Cluster, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client(cluster.postgres.url);
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
