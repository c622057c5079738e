import type { Checkpoint } from '@framelane/object-store/object-store';
import { type Selectable, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inSeconds } from '../db/due-rows.ts';
import type { Schema } from '../db/schema.ts';

export type ResumableUploadRow = Selectable<Schema['resumable_uploads']>;

/** The upload that the ticket of a video can continue, if there is one. */
export async function findUnfinished(db: Database, videoId: string): Promise<ResumableUploadRow | undefined> {
  return db
    .selectFrom('resumable_uploads')
    .selectAll()
    .where('video_id', '=', videoId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
}

/** An upload of a video's ticket. */
export async function findResumable(
  db: Database,
  { videoId, transferId }: { videoId: string; transferId: string },
): Promise<ResumableUploadRow | undefined> {
  return db
    .selectFrom('resumable_uploads')
    .selectAll()
    .where('transfer_id', '=', transferId)
    .where('video_id', '=', videoId)
    .executeTakeFirst();
}

export async function insertResumable(
  trx: Database,
  upload: { transferId: string; videoId: string; length: number; metadata: string },
): Promise<void> {
  const { transferId, videoId, length, metadata } = upload;
  await trx
    .insertInto('resumable_uploads')
    .values({ transfer_id: transferId, video_id: videoId, length, metadata })
    .execute();
}

/** Ends the upload that the ticket of a video could continue, and resolves with it. */
export async function endUnfinished(
  trx: Database,
  videoId: string,
  reason: NonNullable<ResumableUploadRow['end_reason']>,
): Promise<ResumableUploadRow | undefined> {
  return trx
    .updateTable('resumable_uploads')
    .set({ ended_at: sql`now()`, end_reason: reason })
    .where('video_id', '=', videoId)
    .where('ended_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** The number of uploads that were created for the ticket of a video. */
export async function countResumable(trx: Database, videoId: string): Promise<number> {
  const { count } = await trx
    .selectFrom('resumable_uploads')
    .select(sql<number>`count(*)`.as('count'))
    .where('video_id', '=', videoId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Whether this upload is unfinished and its ticket still accepts a file. */
export async function isPaused(db: Database, transferId: string): Promise<boolean> {
  const row = await db
    .selectFrom('resumable_uploads')
    .innerJoin('upload_tickets', 'upload_tickets.video_id', 'resumable_uploads.video_id')
    .innerJoin('videos', 'videos.id', 'resumable_uploads.video_id')
    .select('resumable_uploads.transfer_id')
    .where('resumable_uploads.transfer_id', '=', transferId)
    .where('ended_at', 'is', null)
    .where('used_at', 'is', null)
    .where('videos.status', '=', 'uploading')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Leases an unused ticket that has not expired to a resumable upload, which may hold it already. Resolves with when the ticket
 * expires, or undefined when another transfer holds it.
 */
export async function leaseToResumable(
  trx: Database,
  upload: { videoId: string; transferId: string; bytes: number; leaseSeconds: number },
): Promise<Date | undefined> {
  const row = await trx
    .updateTable('upload_tickets')
    .set({
      transfer_id: upload.transferId,
      claim_id: null,
      announced_bytes: upload.bytes,
      lease_expires_at: inSeconds(upload.leaseSeconds),
    })
    .where('video_id', '=', upload.videoId)
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .where((eb) =>
      eb.or([
        eb('transfer_id', 'is', null),
        eb('transfer_id', '=', upload.transferId),
        eb('lease_expires_at', '<=', sql<Date>`now()`),
      ]),
    )
    .returning('expires_at')
    .executeTakeFirst();
  return row?.expires_at;
}

/** Begins the next epoch of an unfinished upload, unless `epoch` is the current one, or this claim has begun it. */
export async function beginEpoch(
  trx: Database,
  transferId: string,
  epoch: number | null,
  claimId: string,
): Promise<ResumableUploadRow | undefined> {
  return trx
    .updateTable('resumable_uploads')
    .set({
      epoch: sql`case when epoch = ${epoch}::int or claim_id = ${claimId}::text then epoch else epoch + 1 end`,
      ...(epoch === null && { claim_id: claimId }),
    })
    .where('transfer_id', '=', transferId)
    .where('ended_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Resolves with whether the upload is unfinished and in that epoch. */
export async function storeCheckpoint(
  trx: Database,
  { transferId, epoch }: { transferId: string; epoch: number },
  checkpoint: Checkpoint,
): Promise<boolean> {
  const result = await trx
    .updateTable('resumable_uploads')
    .set({ checkpoint: JSON.stringify(checkpoint) })
    .where('transfer_id', '=', transferId)
    .where('epoch', '=', epoch)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
