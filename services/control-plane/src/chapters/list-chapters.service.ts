import type { Database } from '../db/database.ts';
import { findChapters } from './chapters.store.ts';
import { type TimedChapter, timedChapters } from './timed-chapters.ts';

/** The chapters of a video as players show them, in seconds; empty if it has none, or the workspace has no such video. */
export async function listTimedChapters(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<TimedChapter[]> {
  const found = await findChapters(db, workspaceId, videoId);
  return timedChapters(found?.stored?.chapters ?? [], found?.duration ?? null);
}
