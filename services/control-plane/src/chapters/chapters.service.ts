import type { Chapter as FileChapter } from '@framelane/contracts/manifest';
import type { components } from '@framelane/openapi/types';
import { Problem } from '@framelane/service-kit/problem';
import { readChaptersFile } from '../captions/captions-threads.ts';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { chaptersFile } from '../playback/chapters-webvtt.ts';
import type { PlaybackService } from '../playback/playback.service.ts';
import { type Chapter, timedChapters } from '../playback/timed-chapters.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import { videoNotFound } from '../videos/videos.service.ts';
import {
  findChapters,
  findOrigin,
  removeChapters,
  type StoredChapters,
  saveChapters,
} from './chapters.store.ts';
import { cutChapters } from './cut-chapters.ts';
import { requestedChapters } from './requested-chapters.ts';

/** The public record of the chapters of a video. */
export type ChaptersRecord = components['schemas']['Chapters'];

/** What a client sends: a WebVTT file, or JSON that the contract has validated. */
export type SentChapters = Uint8Array | components['schemas']['ChaptersRequest'];

type Deps = { db: Database; lifecycle: VideoLifecycle; playback: PlaybackService };

/** The chapters of videos. Those that a client has set take precedence over those of the file. */
export class ChaptersService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Throws 404 `video_not_found`. */
  async get(workspaceId: string, videoId: string): Promise<ChaptersRecord> {
    return recordOf((await this.#find(workspaceId, videoId)).stored);
  }

  /** The chapters as a WebVTT file. Throws 404 `video_not_found` or `chapters_not_found`. */
  async file(workspaceId: string, videoId: string): Promise<string> {
    const { duration, stored } = await this.#find(workspaceId, videoId);
    const chapters = timedChapters(stored?.chapters ?? [], duration);
    if (chapters.length === 0) throw chaptersNotFound();
    return chaptersFile(chapters);
  }

  /**
   * Replaces the chapters of a video in any state. Throws 400 `validation_failed` or `invalid_chapters`, 404 `video_not_found`, and 429 if too
   * many files of the workspace wait to be read.
   */
  async set(workspaceId: string, videoId: string, sent: SentChapters): Promise<ChaptersRecord> {
    const { duration } = await this.#find(workspaceId, videoId);
    const chapters = await this.#read(workspaceId, sent, duration);
    return this.#change(workspaceId, videoId, async (trx, video) => {
      // The video may have become ready meanwhile.
      if (video.duration !== duration) await this.#read(workspaceId, sent, video.duration);
      await this.#deps.playback.incrementVersion(trx, videoId);
      await saveChapters(trx, videoId, { origin: 'person', chapters });
      return recordOf((await findChapters(trx, workspaceId, videoId))?.stored);
    });
  }

  /** Deletes all chapters. Throws 404 `video_not_found` or `chapters_not_found`. */
  async delete(workspaceId: string, videoId: string): Promise<void> {
    await this.#change(workspaceId, videoId, async (trx) => {
      if (!(await removeChapters(trx, videoId))) throw chaptersNotFound();
      await this.#deps.playback.incrementVersion(trx, videoId);
    });
  }

  /** Stores the chapters of the file of a locked video, unless a client has set others. */
  async storeThoseOfFile(trx: Database, video: VideoRow, found: readonly FileChapter[]): Promise<void> {
    if (found.length === 0 || (await findOrigin(trx, video.id)) === 'person') return;
    await this.#deps.playback.incrementVersion(trx, video.id);
    await saveChapters(trx, video.id, { origin: 'file', chapters: found });
  }

  /** Gives a clip that was just inserted the chapters between two times of a video, in milliseconds. */
  async storeCut(
    trx: Database,
    clip: { id: string; parent: VideoRow },
    times: { from: number; to: number },
  ): Promise<void> {
    const { id, workspace_id: workspaceId } = clip.parent;
    const stored = (await findChapters(trx, workspaceId, id))?.stored;
    const chapters = cutChapters(stored?.chapters ?? [], times);
    if (stored !== undefined && chapters.length > 0)
      await saveChapters(trx, clip.id, { origin: stored.origin, chapters });
  }

  async #read(workspaceId: string, sent: SentChapters, duration: number | null): Promise<Chapter[]> {
    if (!(sent instanceof Uint8Array)) return requestedChapters(sent, duration);
    return readChaptersFile(workspaceId, { file: sent, duration });
  }

  async #find(workspaceId: string, videoId: string) {
    const found = await findChapters(this.#deps.db, workspaceId, videoId);
    if (found === undefined) throw videoNotFound(videoId);
    return found;
  }

  #change<T>(
    workspaceId: string,
    videoId: string,
    change: (trx: Database, video: VideoRow) => Promise<T>,
  ): Promise<T> {
    return this.#deps.db.transaction().execute(async (trx) => {
      const video = await this.#deps.lifecycle.lock(trx, videoId);
      if (video?.workspace_id !== workspaceId) throw videoNotFound(videoId);
      return change(trx, video);
    });
  }
}

function recordOf(stored: StoredChapters | undefined): ChaptersRecord {
  return {
    chapters: (stored?.chapters ?? []).map(({ start, title }) => ({ start: start / 1000, title })),
    origin: stored?.origin ?? null,
    updatedAt: stored?.updatedAt.toISOString() ?? null,
  };
}

function chaptersNotFound(): Problem {
  return new Problem('chapters_not_found', 'This video has no chapters.');
}
