import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { livingVideo } from '../db/living-video.ts';
import type { ChaptersRow } from '../db/schema.ts';
import type { Chapter } from '../playback/timed-chapters.ts';

/** The chapters of a video as they are stored, by their start. */
export type StoredChapters = Pick<ChaptersRow, 'origin'> & { chapters: Chapter[]; updatedAt: Date };

/** The duration of a living video, in seconds, and its chapters; undefined if the workspace has no such video. */
export async function findChapters(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<{ duration: number | null; stored: StoredChapters | undefined } | undefined> {
  const row = await livingVideo(db, workspaceId, videoId)
    .leftJoin('chapters', 'chapters.video_id', 'videos.id')
    .select(['duration', 'origin', 'starts', 'titles', 'chapters.updated_at as updatedAt'])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { duration, origin, updatedAt, starts, titles } = row;
  if (origin === null || updatedAt === null) return { duration, stored: undefined };
  const chapters = (starts ?? []).map((start, at) => ({ start, title: titles?.[at] ?? '' }));
  return { duration, stored: { origin, updatedAt, chapters } };
}

/** The origin of the chapters of a video; undefined if it has none. */
export async function findOrigin(db: Database, videoId: string): Promise<ChaptersRow['origin'] | undefined> {
  const row = await db
    .selectFrom('chapters')
    .select('origin')
    .where('video_id', '=', videoId)
    .executeTakeFirst();
  return row?.origin;
}

/** Sets or replaces the chapters of a locked video. */
export async function saveChapters(
  trx: Database,
  videoId: string,
  { origin, chapters }: { origin: ChaptersRow['origin']; chapters: readonly Chapter[] },
): Promise<void> {
  const values = {
    origin,
    starts: chapters.map(({ start }) => start),
    titles: chapters.map(({ title }) => title),
    updated_at: sql<Date>`now()`,
  };
  await trx
    .insertInto('chapters')
    .values({ ...values, video_id: videoId })
    .onConflict((conflict) => conflict.column('video_id').doUpdateSet(values))
    .execute();
  await setCount(trx, videoId, chapters.length);
}

/** Removes the chapters of a locked video. Resolves with whether it had any. */
export async function removeChapters(trx: Database, videoId: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('chapters')
    .where('video_id', '=', videoId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  await setCount(trx, videoId, 0);
  return true;
}

async function setCount(trx: Database, videoId: string, count: number): Promise<void> {
  await trx.updateTable('videos').set({ chapter_count: count }).where('id', '=', videoId).execute();
}
