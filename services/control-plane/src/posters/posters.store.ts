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
  await updateVideo(trx, videoId, JSON.stringify(size));
}

/** Removes the poster of a locked video. */
export async function removePoster(trx: Database, videoId: string): Promise<void> {
  await trx.deleteFrom('posters').where('video_id', '=', videoId).execute();
  await updateVideo(trx, videoId, null);
}

async function updateVideo(trx: Database, videoId: string, chosenPoster: string | null): Promise<void> {
  await trx
    .updateTable('videos')
    .set({
      chosen_poster: chosenPoster,
      updated_at: sql`now()`,
    })
    .where('id', '=', videoId)
    .execute();
}
