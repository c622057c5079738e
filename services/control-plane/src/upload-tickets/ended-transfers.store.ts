import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { TransferIds } from './upload-tickets.store.ts';

/** Adds the bytes of ended transfers that may still be stored. */
export async function addUndiscarded(trx: Database, videoId: string, bytes: number): Promise<void> {
  await trx
    .updateTable('upload_tickets')
    .set({ undiscarded_bytes: sql`undiscarded_bytes + ${bytes}::bigint` })
    .where('video_id', '=', videoId)
    .execute();
}

/** Records that nothing of ended transfers is stored any more. */
export async function recordDiscarded(trx: Database, videoId: string): Promise<void> {
  await trx
    .updateTable('upload_tickets')
    .set({ undiscarded_bytes: 0 })
    .where('video_id', '=', videoId)
    .where('undiscarded_bytes', '>', 0)
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
