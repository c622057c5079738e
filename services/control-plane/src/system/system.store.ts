import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** The version of the server, and the newest migration. */
export async function findDatabaseVersions(db: Database): Promise<{ server: string; schema: string }> {
  const versions = sql<{ server: string; schema: string }>`
    select current_setting('server_version') as server, max(name) as schema from kysely_migration`;
  const { rows } = await versions.execute(db);
  return rows[0] as { server: string; schema: string };
}

/** The number of uploads in progress. The transfers of imports do not count. */
export async function countUploads(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('upload_tickets')
    .leftJoin('imports', 'imports.video_id', 'upload_tickets.video_id')
    .select(sql<number>`count(*)`.as('count'))
    // The index upload_tickets_under_way has these two conditions.
    .where('upload_tickets.transfer_id', 'is not', null)
    .where('used_at', 'is', null)
    .where('lease_expires_at', '>', sql<Date>`now()`)
    .where('imports.video_id', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}
