import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * Reads the rows of a query in batches of up to `rows`, so that the result never is in memory as a whole. Call it in a transaction. `name`
 * identifies the cursor in it.
 */
export async function* readInBatches<T>(
  trx: Database,
  name: string,
  query: RawBuilder<T>,
  rows: number,
): AsyncGenerator<T[], void> {
  const cursor = sql.ref(name);
  await sql`declare ${cursor} no scroll cursor for ${query}`.execute(trx);
  for (;;) {
    const batch = await sql<T>`fetch ${sql.lit(rows)} from ${cursor}`.execute(trx);
    if (batch.rows.length === 0) break;
    yield batch.rows;
  }
  await sql`close ${cursor}`.execute(trx);
}
