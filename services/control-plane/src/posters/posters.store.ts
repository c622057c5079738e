import type { components } from '@framelane/openapi/types';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** Sets or replaces the poster of a locked video. */
export async function savePoster(
  trx: Database,
  videoId: string,
  { image, size }: { image: Buffer; size: Omit<components['schemas']['Poster'], 'bytes'> },
): Promise<void> {
  await trx
    .insertInto('posters')
    .values({ video_id: videoId, image })
    .onConflict((conflict) => conflict.column('video_id').doUpdateSet({ image }))
    .execute();
  await updateVideo(trx, videoId, { chosen_poster: JSON.stringify(size), poster_time: null });
}

/** Removes the poster of a locked video. */
export async function removePoster(trx: Database, videoId: string): Promise<void> {
  await trx.deleteFrom('posters').where('video_id', '=', videoId).execute();
  await updateVideo(trx, videoId, { chosen_poster: null });
}

async function updateVideo(
  trx: Database,
  videoId: string,
  changes: { chosen_poster: string | null; poster_time?: null },
): Promise<void> {
  await trx
    .updateTable('videos')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', videoId)
    .execute();
}
