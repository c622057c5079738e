import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { CaptionsRow } from '../db/schema.ts';
import { type CaptionsRecord, captionsOf, toCaptionsRecords } from '../videos/captions-record.ts';

/** Captions without their times of change. */
export type NewCaptions = Omit<CaptionsRow, 'video_id' | 'updated_at'>;

/** The captions of a living video, by language; undefined when the workspace has no such video. */
export async function listCaptions(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<CaptionsRecord[] | undefined> {
  const row = await db
    .selectFrom('videos')
    .select(captionsOf)
    .where('id', '=', videoId)
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row && toCaptionsRecords(row.captions);
}

/** The cues of one language of a video; undefined when it has none. */
export async function findCues(
  db: Database,
  videoId: string,
  language: string,
): Promise<string[] | undefined> {
  const row = await db
    .selectFrom('captions')
    .select('cues')
    .where('video_id', '=', videoId)
    .where('language', '=', language)
    .executeTakeFirst();
  return row?.cues;
}

/** Sets or replaces the captions of a language. If they are the default, those of the other languages are not. */
export async function saveCaptions(trx: Database, videoId: string, captions: NewCaptions): Promise<void> {
  const values = { ...captions, updated_at: sql<Date>`now()` };
  if (captions.is_default) {
    await trx
      .updateTable('captions')
      .set({ is_default: false })
      .where('video_id', '=', videoId)
      .where('language', '<>', captions.language)
      .where('is_default', '=', true)
      .execute();
  }
  await trx
    .insertInto('captions')
    .values({ ...values, video_id: videoId })
    .onConflict((conflict) => conflict.columns(['video_id', 'language']).doUpdateSet(values))
    .execute();
}

export async function removeCaptions(trx: Database, videoId: string, language: string): Promise<void> {
  await trx.deleteFrom('captions').where('video_id', '=', videoId).where('language', '=', language).execute();
}

/** Adds to the stored bytes of a video, or subtracts from them. */
export async function addStoredBytes(trx: Database, videoId: string, bytes: number): Promise<void> {
  await trx
    .updateTable('videos')
    .set({ storage_bytes: sql`greatest(storage_bytes + ${bytes}::bigint, 0)`, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .execute();
}
