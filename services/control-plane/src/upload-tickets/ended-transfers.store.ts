import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { TransferIds } from './upload-tickets.store.ts';

/** Adds bytes of ended transfers that wait for the purge. */
export async function addUnpurged(trx: Database, videoId: string, bytes: number): Promise<void> {
  await trx
    .updateTable('upload_tickets')
    .set({ unpurged_bytes: sql`unpurged_bytes + ${bytes}::bigint` })
    .where('video_id', '=', videoId)
    .execute();
}

/** Records that a purge has removed what ended transfers had stored. */
export async function recordPurged(trx: Database, videoId: string): Promise<void> {
  await trx
    .updateTable('upload_tickets')
    .set({ unpurged_bytes: 0 })
    .where('video_id', '=', videoId)
    .where('unpurged_bytes', '>', 0)
    .execute();
}

/** Whether the transfer has ended unregistered, so that nothing it has stored can become part of a source. It stays so forever. */
export async function hasEnded(db: Database, { videoId, transferId }: TransferIds): Promise<boolean> {
  const row = await db
    .selectFrom('upload_tickets')
    .select('video_id')
    .where('video_id', '=', videoId)
    // The transfer that has spent the ticket still has it.
    .where('transfer_id', 'is distinct from', transferId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('resumable_uploads')
            .select('transfer_id')
            .where('transfer_id', '=', transferId)
            .where('ended_at', 'is', null),
        ),
      ),
    )
    .executeTakeFirst();
  return row !== undefined;
}
