import type { HdrChoice } from '@framelane/contracts/hdr';
import type { DownloadName } from '@framelane/contracts/outputs/download';
import type { PackagingName } from '@framelane/contracts/packaging';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { components } from '@framelane/openapi/types';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import { Problem, unavailable } from '@framelane/service-kit/problem';
import { storedSource } from '../artifacts/artifacts.service.ts';
import type { Commit, Database } from '../db/database.ts';
import { type Page, type Position, toPage } from '../db/keyset-page.ts';
import type { VideoRow } from '../db/schema.ts';
import { askForAutoCaptions } from '../outputs/auto-captions.ts';
import {
  type AutoCaptionsChoice,
  readLanguages,
  requireRecognizer,
} from '../outputs/auto-captions-request.ts';
import { askForDownloads } from '../outputs/downloads.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import { codecsUnlessNamed } from './codecs-setting.ts';
import { hdrOf } from './hdr-choice.ts';
import { fromDays } from './keep-source.ts';
import { findDueSources } from './sources.store.ts';
import { listTags, type TagFilter } from './tags.store.ts';
import { type TaskCounts, type TimelineEntry, timelineOf } from './timeline.ts';
import type { VideoFilter } from './video-columns.store.ts';
import { deleteTombstones, findVideosToRemove, lockVideo } from './video-lifecycle.store.ts';
import type { VideoLifecycle } from './video-lifecycle.ts';
import { changesOf, type VideoPatch } from './video-patch.ts';
import { toVideoRecord, type VideoDetails, type VideoRecord } from './video-record.ts';
import {
  countTasks,
  countVideos,
  findVideo,
  insertVideo,
  listAttempts,
  listVideos,
  listVideoVersions,
  type NewVideo,
  patchVideo,
} from './videos.store.ts';

/** Videos deleted in one run of `removeOutdated`, and sources in one round of `deleteDueSources`. */
const REMOVAL_BATCH = 100;

/** How long tombstones are stored, for late reports of engines. */
const TOMBSTONE_DAYS = 30;

/** Tombstones deleted in one statement by `pruneTombstones`. */
const TOMBSTONE_BATCH = 1000;

/** The most attempts in a timeline. */
const TIMELINE_ATTEMPTS = 100;

type ListRequest = { order: 'asc' | 'desc'; after: Position | undefined; limit: number };

type Deps = {
  db: Database;
  objects: ObjectStore;
  lifecycle: VideoLifecycle;
  quotas: QuotasService;
  /** Makes the frame at a second the poster of a locked video; null for the frame that the engine has chosen. */
  pickPoster: (trx: Database, video: VideoRow, time: number | null) => Promise<void>;
  baseUrl: string;
  /** Days for which sources are kept by default; null for always. */
  sourceRetentionDays: number | null;
  /** The default packaging of segments. */
  packaging: PackagingName;
  /** The codecs beside H.264 by default. */
  codecs: readonly AlternativeCodec[];
  /** What becomes of high dynamic range in these codecs by default. */
  hdr: HdrChoice;
  /** Whether engines can recognise speech. */
  hasRecognizer: boolean;
};

/** What is made of a video once it is ready. */
type Wanted = { downloads?: readonly DownloadName[]; autoCaptions?: AutoCaptionsChoice };

/** Reads, lists, changes and deletes the videos of a workspace. */
export class VideosService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Creates a video that waits for its upload, in the caller's transaction, and what is to be made of it. Without `keepSource`,
   * `packaging`, `codecs` and `hdr`, the defaults of the installation apply. Throws 400 if a language is invalid or the video cannot keep high dynamic
   * range, and 409 `auto_captions_not_configured`.
   */
  async create(trx: Database, { downloads = [], autoCaptions, ...video }: NewVideo & Wanted): Promise<void> {
    const languages = readLanguages(autoCaptions);
    if (languages.length > 0) requireRecognizer(this.#deps.hasRecognizer);
    const { sourceRetentionDays, packaging } = this.#deps;
    const chosen = { keepSource: fromDays(sourceRetentionDays), packaging, ...video };
    const codecs = video.codecs ?? codecsUnlessNamed(chosen, this.#deps.codecs);
    const hdr = hdrOf({ ...video, codecs }, this.#deps.hdr);
    await insertVideo(trx, { ...chosen, codecs, hdr });
    await askForDownloads(trx, video.id, downloads);
    await askForAutoCaptions(trx, video.id, languages);
  }

  /** The record of one video. Throws 404 `video_not_found`, also for a video of another workspace. */
  async get(workspaceId: string, videoId: string): Promise<VideoRecord> {
    return this.#record(this.#deps.db, workspaceId, videoId);
  }

  /** The record of one video, and its version. Throws 404 `video_not_found`. */
  async getVersioned(
    workspaceId: string,
    videoId: string,
  ): Promise<{ record: VideoRecord; version: string }> {
    const row = await this.#row(this.#deps.db, workspaceId, videoId);
    return { record: toVideoRecord(row, this.#deps.baseUrl), version: row.version };
  }

  /** The record within the caller's transaction. */
  read(trx: Database, workspaceId: string, videoId: string): Promise<VideoRecord> {
    return this.#record(trx, workspaceId, videoId);
  }

  /** What has happened to a video, oldest first. Throws 404 `video_not_found`. */
  async timeline(workspaceId: string, videoId: string): Promise<TimelineEntry[]> {
    const video = await findVideo(this.#deps.db, workspaceId, videoId);
    if (video === undefined) throw videoNotFound(videoId);
    const attempts = await listAttempts(this.#deps.db, videoId, TIMELINE_ATTEMPTS);
    return timelineOf(video, attempts, await this.taskCounts(videoId));
  }

  /** The numbers of tasks of the open attempt at a video; undefined unless it is divided into tasks. */
  taskCounts(videoId: string): Promise<TaskCounts | undefined> {
    return countTasks(this.#deps.db, videoId);
  }

  /** One page of the workspace's videos, and the versions of its rows and of the row after it. */
  async list(
    workspaceId: string,
    filter: VideoFilter,
    request: ListRequest,
  ): Promise<{ page: Page<VideoRecord>; versions: string[] }> {
    const rows = await listVideos(this.#deps.db, workspaceId, filter, request);
    return {
      page: toPage(rows, request.limit, (row) => toVideoRecord(row, this.#deps.baseUrl)),
      versions: rows.map(({ version }) => version),
    };
  }

  /** The tags in use, the most used first. */
  tags(workspaceId: string, filter: TagFilter): Promise<components['schemas']['TagUse'][]> {
    return listTags(this.#deps.db, workspaceId, filter);
  }

  /** How many videos match, up to a limit. */
  count(workspaceId: string, filter: VideoFilter): Promise<components['schemas']['VideoTotal']> {
    return countVideos(this.#deps.db, workspaceId, filter);
  }

  /** The versions that `list` would resolve with, for a fraction of its cost. */
  versions(workspaceId: string, filter: VideoFilter, request: ListRequest): Promise<string[]> {
    return listVideoVersions(this.#deps.db, workspaceId, filter, request);
  }

  /**
   * Changes the fields that the owner may set. Concurrent changes are made one after the other. Throws 404
   * `video_not_found`, and 400 `validation_failed` when the metadata would have too many pairs, or the video has no frame at `posterTime`.
   */
  async update(workspaceId: string, videoId: string, patch: VideoPatch): Promise<VideoRecord> {
    return this.#deps.lifecycle.transaction(async (trx) => {
      const video = await lockOwn(trx, workspaceId, videoId);
      await patchVideo(trx, videoId, changesOf(video, patch));
      if (patch.posterTime !== undefined) await this.#deps.pickPoster(trx, video, patch.posterTime);
      if (patch.keepSource !== undefined) await this.#deps.lifecycle.applyKeepSource(trx, videoId);
      return this.#record(trx, workspaceId, videoId);
    });
  }

  /**
   * Transcodes a failed video again from its stored source, or makes a clip again. Throws 404 `video_not_found`, 409 `video_not_failed` or
   * `source_not_available`, 403 `quota_exceeded` when the minutes of this month are used up, and 503 while the storage is
   * unavailable.
   */
  async retry(workspaceId: string, videoId: string): Promise<Commit<VideoRecord>> {
    const failed = await findVideo(this.#deps.db, workspaceId, videoId);
    if (failed === undefined) throw videoNotFound(videoId);
    if (failed.status !== 'failed') throw notFailed(failed.status);
    const isClip = failed.clip_of?.exists === true;
    const source = await storedSource(this.#deps.db, failed);
    const isAvailable = isClip || (source !== undefined && (await this.#isStored(source.key)));
    return async (trx) => {
      const video = await lockOwn(trx, workspaceId, videoId);
      if (!isAvailable) throw sourceNotAvailable(failed);
      // The object of a deleted source exists until the purge.
      if (!isClip && (await storedSource(trx, video)) === undefined) throw sourceNotAvailable(failed);
      await this.#deps.quotas.requireMinutes(trx, workspaceId);
      if (!(await this.#deps.lifecycle.retry(trx, video))) throw notFailed(video.status);
      return this.#record(trx, workspaceId, videoId);
    };
  }

  /** Begins the retry at once, after its transaction was committed. */
  retryCommitted(): void {
    this.#deps.lifecycle.committed();
  }

  /**
   * Deletes a video in any status. The transaction erases its key and everything that its owner wrote; its objects are purged
   * afterwards. Throws 404 `video_not_found`.
   */
  async delete(workspaceId: string, videoId: string): Promise<void> {
    if (!(await this.#delete(workspaceId, videoId))) throw videoNotFound(videoId);
  }

  /** Deletes the videos of test keys that are due for removal. Safe on several instances. */
  async removeOutdated(): Promise<void> {
    const outdated = await findVideosToRemove(this.#deps.db, REMOVAL_BATCH);
    await forEachSettled(outdated, ({ workspaceId, videoId }) => this.#delete(workspaceId, videoId));
  }

  /** Deletes the sources whose time has come. Safe on several instances. */
  async deleteDueSources(): Promise<void> {
    let due: string[];
    do {
      due = await findDueSources(this.#deps.db, REMOVAL_BATCH);
      await forEachSettled(due, (videoId) =>
        this.#deps.lifecycle.transaction((trx) => this.#deps.lifecycle.deleteSource(trx, videoId, 'due')),
      );
    } while (due.length === REMOVAL_BATCH);
  }

  /** Deletes old tombstones, once their objects are purged. Safe on several instances. */
  async pruneTombstones(): Promise<void> {
    let removed: number;
    do removed = await deleteTombstones(this.#deps.db, TOMBSTONE_DAYS, TOMBSTONE_BATCH);
    while (removed === TOMBSTONE_BATCH);
  }

  #delete(workspaceId: string, videoId: string): Promise<boolean> {
    return this.#deps.lifecycle.transaction(async (trx) => {
      const video = await lockVideo(trx, videoId);
      if (video?.workspace_id !== workspaceId) return false;
      await this.#deps.lifecycle.delete(trx, video);
      return true;
    });
  }

  async #record(db: Database, workspaceId: string, videoId: string): Promise<VideoRecord> {
    return toVideoRecord(await this.#row(db, workspaceId, videoId), this.#deps.baseUrl);
  }

  async #row(db: Database, workspaceId: string, videoId: string): Promise<VideoDetails> {
    const row = await findVideo(db, workspaceId, videoId);
    if (row === undefined) throw videoNotFound(videoId);
    return row;
  }

  async #isStored(key: string): Promise<boolean> {
    try {
      return (await this.#deps.objects.head(key)) !== null;
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

function sourceNotAvailable({ clip_of: clipOf }: VideoDetails): Problem {
  return new Problem(
    'source_not_available',
    clipOf === null
      ? 'The source file of this video is not stored. Upload it with a new ticket.'
      : 'The video of this clip was deleted. Make a clip of another video.',
  );
}

/** The error for a video that is unknown, deleted or of another workspace. */
export function videoNotFound(videoId: string): Problem {
  return new Problem('video_not_found', `There is no video ${videoId} in this workspace.`);
}

/** The error for what can only be made of a video that is ready or can become ready. */
export function videoFailed(): Problem {
  return new Problem(
    'video_failed',
    'This video has failed, so nothing can be made of it. If its record says `retryable`, retry it first; else upload its file again.',
  );
}
