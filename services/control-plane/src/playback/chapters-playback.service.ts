import type { components } from '@framelane/openapi/types';
import type { Database } from '../db/database.ts';
import { findChapters } from './chapters-playback.store.ts';
import { chaptersFile } from './chapters-webvtt.ts';
import { notPlayable } from './playback-access.service.ts';
import { type TimedChapter, timedChapters } from './timed-chapters.ts';

/** The language of titles: it is not known (RFC 5646 §4.1). */
const UNKNOWN_LANGUAGE = 'und';

/** The chapters of a video as players show them, in seconds; empty if it has none, or the workspace has no such video. */
export async function listTimedChapters(
  db: Database,
  workspaceId: string,
  videoId: string,
): Promise<TimedChapter[]> {
  const found = await findChapters(db, workspaceId, videoId);
  return found === undefined ? [] : timedChapters(found.chapters, found.duration);
}

/** Serves the chapters of ready videos to players. The caller has admitted the viewer. */
export class ChaptersPlaybackService {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** In Apple's JSON format. Throws 404 `video_not_found` if the video has no chapters. */
  async json(workspaceId: string, videoId: string): Promise<string> {
    const chapters: components['schemas']['SessionChapters'] = (await this.#list(workspaceId, videoId)).map(
      ({ start, end, title }, at) => ({
        chapter: at + 1,
        'start-time': start,
        duration: Math.round((end - start) * 1000) / 1000,
        titles: [{ language: UNKNOWN_LANGUAGE, title }],
      }),
    );
    return JSON.stringify(chapters);
  }

  /** As WebVTT. Throws 404 `video_not_found` if the video has no chapters. */
  async webVtt(workspaceId: string, videoId: string): Promise<string> {
    return chaptersFile(await this.#list(workspaceId, videoId));
  }

  async #list(workspaceId: string, videoId: string): Promise<TimedChapter[]> {
    const chapters = await listTimedChapters(this.#db, workspaceId, videoId);
    if (chapters.length === 0) throw notPlayable();
    return chapters;
  }
}
