import type { Database } from '../db/database.ts';
import { livingVideo } from '../db/living-video.ts';
import type { Chapter } from './timed-chapters.ts';

/** The chapters of a living video, and its duration in seconds, null if it is not known; undefined if it has no chapters. */
export async function findChapters(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<{ duration: number | null; chapters: Chapter[] } | undefined> {
  const row = await livingVideo(db, workspaceId, videoId)
    .innerJoin('chapters', 'chapters.video_id', 'videos.id')
    .select(['duration', 'starts', 'titles'])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { duration, starts, titles } = row;
  return { duration, chapters: starts.map((start, at) => ({ start, title: titles[at] ?? '' })) };
}
