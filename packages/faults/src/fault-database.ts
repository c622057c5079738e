import { Pool } from 'pg';

/** The database of a cluster. */
export type FaultDatabase = {
  readonly url: string;
  /** Queries the database directly. */
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  remove(): Promise<void>;
};

/** Connections of the tests to a database. */
export function openPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString, max: 4 });
  // An idle connection breaks when the server is killed. The next query opens another one.
  pool.on('error', () => {});
  return pool;
}
