import type { components } from '@framelane/openapi/types';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** Sets or replaces the poster of a locked video. Its stored bytes change by `growth`. */
export async function savePoster(
  trx: Database,
  videoId: string,
  { image, growth, facts }: { image: Buffer; growth: number; facts: components['schemas']['Poster'] },
): Promise<void> {
  await trx
    .insertInto('posters')
    .values({ video_id: videoId, image })
    .onConflict((conflict) => conflict.column('video_id').doUpdateSet({ image }))
    .execute();
  await updateVideo(trx, videoId, JSON.stringify(facts), growth);
}

/** Removes the poster of a locked video. */
export async function removePoster(trx: Database, videoId: string, bytes: number): Promise<void> {
  await trx.deleteFrom('posters').where('video_id', '=', videoId).execute();
  await updateVideo(trx, videoId, null, -bytes);
}

async function updateVideo(
  trx: Database,
  videoId: string,
  chosenPoster: string | null,
  growth: number,
): Promise<void> {
  await trx
    .updateTable('videos')
    .set({
      chosen_poster: chosenPoster,
      storage_bytes: sql`greatest(storage_bytes + ${growth}::bigint, 0)`,
      updated_at: sql`now()`,
    })
    .where('id', '=', videoId)
    .execute();
}
