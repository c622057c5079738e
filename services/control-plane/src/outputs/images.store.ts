import type { ImagesResult } from '@framelane/contracts/outputs/images';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** Adds the layout of the storyboard to a video. */
export async function addImages(
  trx: Database,
  { id }: { id: string },
  { storyboard }: ImagesResult,
): Promise<void> {
  const layout = storyboard && JSON.stringify({ ...storyboard, bytes: undefined });
  await trx
    .updateTable('videos')
    .set({ storyboard: layout, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}
