import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import type { Database } from '../db/database.ts';
import { addJob } from '../db/jobs.ts';
import type { NewVideo } from '../db/schema.ts';
import { type Page, type Position, toPage } from '../http/pagination.ts';
import { prefixesToPurge } from './leftovers.ts';
import { toVideoRecord, type VideoRecord } from './video-record.ts';
import {
  buryVideo,
  findVideo,
  findVideoOrTombstone,
  insertVideo,
  listVideos,
  type VideoFilter,
} from './videos.store.ts';

/** How often a purge looks for objects, the first time included: late ones come from engines that were cut off. */
const PURGE_LOOKS = 3;

/** Reads, lists and deletes the videos of a workspace. */
export class VideosService {
  readonly #db: Database;
  readonly #objects: ObjectStore;
  readonly #logger: Logger;
  readonly #settings: { baseUrl: string; stragglerSeconds: number };

  constructor(deps: {
    db: Database;
    objects: ObjectStore;
    logger: Logger;
    settings: { baseUrl: string; stragglerSeconds: number };
  }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#logger = deps.logger;
    this.#settings = deps.settings;
  }

  /** Creates a video that waits for its upload, in the caller's transaction. */
  create(trx: Database, video: NewVideo): Promise<void> {
    return insertVideo(trx, video);
  }

  /** The record of one video. Throws 404 `video_not_found`, also for another workspace's. */
  async get(workspaceId: string, videoId: string): Promise<VideoRecord> {
    const row = await findVideo(this.#db, workspaceId, videoId);
    if (row === undefined) throw videoNotFound(videoId);
    return toVideoRecord(row, this.#settings.baseUrl);
  }

  /** One page of the workspace's videos. */
  async list(
    workspaceId: string,
    filter: VideoFilter,
    page: { order: 'asc' | 'desc'; after: Position | undefined; limit: number },
  ): Promise<Page<VideoRecord>> {
    const rows = await listVideos(this.#db, workspaceId, filter, { ...page, limit: page.limit + 1 });
    return toPage(rows, page.limit, (row) => toVideoRecord(row, this.#settings.baseUrl));
  }

  /**
   * Deletes a video in any status: gone for every reader when this resolves, its key erased in the same transaction;
   * its objects follow by a job. Throws 404 `video_not_found`.
   */
  async delete(workspaceId: string, videoId: string): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      if (!(await buryVideo(trx, workspaceId, videoId))) throw videoNotFound(videoId);
      await addJob(trx, 'purge-objects', { videoId, workspaceId, look: 1 });
    });
    this.#logger.info('video.deleted', { videoId });
  }

  /** Removes the objects no row speaks of any more, and looks again later. Safe to repeat. */
  async purge({
    videoId,
    workspaceId,
    look,
  }: {
    videoId: string;
    workspaceId: string;
    look: number;
  }): Promise<void> {
    const row = await findVideoOrTombstone(this.#db, videoId);
    for (const prefix of prefixesToPurge(workspaceId, videoId, row)) await this.#objects.deletePrefix(prefix);
    if (look >= PURGE_LOOKS) return;
    await addJob(
      this.#db,
      'purge-objects',
      { videoId, workspaceId, look: look + 1 },
      { delaySeconds: this.#settings.stragglerSeconds * look },
    );
  }
}

function videoNotFound(videoId: string): Problem {
  return new Problem(404, 'video_not_found', `There is no video ${videoId} in this workspace.`);
}
