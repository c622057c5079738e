import { sourcePrefix } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem, unavailable } from '@framelane/service-kit/problem';
import type { Commit, Database } from '../db/database.ts';
import { addJob } from '../db/jobs.ts';
import { type Page, type Position, toPage } from '../db/keyset-page.ts';
import type { NewVideo, VideoRow } from '../db/schema.ts';
import type { WebhookEventsService } from '../webhooks/events.service.ts';
import { prefixesToPurge, prefixOfLostTransfer, takesUploads } from './leftovers.ts';
import { patchedColumns, type VideoPatch } from './video-patch.ts';
import { toVideoRecord, type VideoRecord } from './video-record.ts';
import type { VideoTransitions } from './video-transitions.ts';
import {
  deleteTombstones,
  findUnpurged,
  findVideo,
  findVideoOrTombstone,
  findVideosToRemove,
  insertVideo,
  listVideos,
  lockVideo,
  recordPurge,
  turnIntoTombstone,
  updateVideo,
  type VideoFilter,
} from './videos.store.ts';

/** How often a purge looks for objects, the first time included: late ones come from engines that were cut off. */
const PURGE_LOOKS = 3;

/** Videos deleted in one go by `removeOutdated`. */
const REMOVAL_BATCH = 100;

/** How long the tombstone of a deleted video is kept, for reports of engines that come late. */
const TOMBSTONE_DAYS = 30;

/** Tombstones removed or purged again in one go by `pruneTombstones`. */
const TOMBSTONE_BATCH = 1000;

/** Reads, lists, changes and deletes the videos of a workspace. */
export class VideosService {
  readonly #db: Database;
  readonly #objects: ObjectStore;
  readonly #transitions: VideoTransitions;
  readonly #events: WebhookEventsService;
  readonly #logger: Logger;
  readonly #settings: { baseUrl: string; stragglerSeconds: number };

  constructor(deps: {
    db: Database;
    objects: ObjectStore;
    transitions: VideoTransitions;
    events: WebhookEventsService;
    logger: Logger;
    settings: { baseUrl: string; stragglerSeconds: number };
  }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#transitions = deps.transitions;
    this.#events = deps.events;
    this.#logger = deps.logger;
    this.#settings = deps.settings;
  }

  /** Creates a video that waits for its upload, in the caller's transaction. */
  create(trx: Database, video: NewVideo): Promise<void> {
    return insertVideo(trx, video);
  }

  /** The record of one video. Throws 404 `video_not_found`, also for another workspace's. */
  async get(workspaceId: string, videoId: string): Promise<VideoRecord> {
    return this.#record(this.#db, workspaceId, videoId);
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

  /** Changes what the owner may choose; of two changes at once, each sees the other's. Throws 404 `video_not_found`. */
  async update(workspaceId: string, videoId: string, patch: VideoPatch): Promise<VideoRecord> {
    return this.#db.transaction().execute(async (trx) => {
      const columns = patchedColumns(await lockOwn(trx, workspaceId, videoId), patch);
      if (Object.keys(columns).length > 0) await updateVideo(trx, videoId, columns);
      return this.#record(trx, workspaceId, videoId);
    });
  }

  /**
   * Has a failed video transcoded again from the source that was kept. Throws 404 `video_not_found`, 409
   * `video_not_failed` or `source_not_available`, and 503 while the storage is away.
   */
  async retry(workspaceId: string, videoId: string): Promise<Commit<VideoRecord>> {
    const failed = await findVideo(this.#db, workspaceId, videoId);
    if (failed === undefined) throw videoNotFound(videoId);
    if (failed.status !== 'failed') throw notFailed(failed.status);
    if (failed.source_key === null || !(await this.#isStored(failed.source_key))) {
      throw new Problem(
        'source_not_available',
        'The source file of this video is not stored. Upload it with a new ticket.',
      );
    }
    return async (trx) => {
      const video = await lockOwn(trx, workspaceId, videoId);
      if (!(await this.#transitions.retry(trx, video))) throw notFailed(video.status);
      return this.#record(trx, workspaceId, videoId);
    };
  }

  /**
   * Deletes a video in any status: gone for every reader when this resolves, its key and everything its owner wrote erased
   * in the same transaction; its objects follow by a job. Throws 404 `video_not_found`.
   */
  async delete(workspaceId: string, videoId: string): Promise<void> {
    if (!(await this.#remove(workspaceId, videoId))) throw videoNotFound(videoId);
  }

  /** Deletes the videos made with test keys whose time is over. Safe to run on several instances. */
  async removeOutdated(): Promise<void> {
    const outdated = await findVideosToRemove(this.#db, REMOVAL_BATCH);
    await forEachSettled(outdated, ({ workspaceId, videoId }) => this.#remove(workspaceId, videoId));
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
    if (!takesUploads(row)) await this.#objects.abortUploads?.(sourcePrefix(workspaceId, videoId));
    if (row?.deleted_at === null && row.source_key !== null) {
      await this.#purgeLostTransfers(workspaceId, videoId, row.source_key);
    }
    if (look >= PURGE_LOOKS) {
      await recordPurge(this.#db, videoId);
      return;
    }
    await addJob(
      this.#db,
      'purge-objects',
      { videoId, workspaceId, look: look + 1 },
      { delaySeconds: this.#settings.stragglerSeconds * look },
    );
  }

  /** Removes old tombstones, and purges again what could not be purged. Safe to run on several instances. */
  async pruneTombstones(): Promise<void> {
    let removed: number;
    do removed = await deleteTombstones(this.#db, TOMBSTONE_DAYS, TOMBSTONE_BATCH);
    while (removed === TOMBSTONE_BATCH);
    for (let after = '', count = TOMBSTONE_BATCH; count === TOMBSTONE_BATCH; ) {
      const unpurged = await findUnpurged(this.#db, TOMBSTONE_DAYS, { after, limit: TOMBSTONE_BATCH });
      for (const video of unpurged) {
        await addJob(this.#db, 'purge-objects', { ...video, look: 1 }, { key: `purge:${video.videoId}` });
      }
      after = unpurged.at(-1)?.videoId ?? after;
      count = unpurged.length;
    }
  }

  async #remove(workspaceId: string, videoId: string): Promise<boolean> {
    const removed = await this.#db.transaction().execute(async (trx) => {
      const video = await lockVideo(trx, videoId);
      if (video?.workspace_id !== workspaceId) return false;
      const deletedAt = await turnIntoTombstone(trx, videoId);
      await addJob(trx, 'purge-objects', { videoId, workspaceId, look: 1 });
      await this.#events.record(trx, 'video.deleted', workspaceId, {
        id: videoId,
        title: video.title,
        status: 'deleted',
        deletedAt: deletedAt.toISOString(),
      });
      return true;
    });
    if (removed) this.#logger.info('video.deleted', { videoId });
    return removed;
  }

  async #record(db: Database, workspaceId: string, videoId: string): Promise<VideoRecord> {
    const row = await findVideo(db, workspaceId, videoId);
    if (row === undefined) throw videoNotFound(videoId);
    return toVideoRecord(row, this.#settings.baseUrl);
  }

  /** Once a source was taken in, whatever another transfer stored is of no use to anybody. */
  async #purgeLostTransfers(workspaceId: string, videoId: string, source: string): Promise<void> {
    const all = sourcePrefix(workspaceId, videoId);
    for await (const { key } of this.#objects.list(all)) {
      const lost = prefixOfLostTransfer(all, key, source);
      if (lost !== null) await this.#objects.deletePrefix(lost);
    }
  }

  async #isStored(key: string): Promise<boolean> {
    try {
      return (await this.#objects.head(key)) !== null;
    } catch (error) {
      throw unavailable('The storage cannot be reached at the moment.', error);
    }
  }
}

/** The living video of this workspace, locked until the transaction ends. */
async function lockOwn(trx: Database, workspaceId: string, videoId: string): Promise<VideoRow> {
  const video = await lockVideo(trx, videoId);
  if (video?.workspace_id !== workspaceId) throw videoNotFound(videoId);
  return video;
}

function notFailed(status: string): Problem {
  return new Problem('video_not_failed', `Only a failed video can be retried; this one is ${status}.`);
}

function videoNotFound(videoId: string): Problem {
  return new Problem('video_not_found', `There is no video ${videoId} in this workspace.`);
}
