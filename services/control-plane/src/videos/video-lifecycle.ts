import type { FailureCode } from '@framelane/contracts/failures';
import type { MessageData } from '@framelane/contracts/messages';
import type { DownloadName } from '@framelane/contracts/outputs/download';
import { type AlternativeCodec, PLAIN_CODEC } from '@framelane/contracts/renditions';
import { transferFolder } from '@framelane/object-store/object-keys';
import type { Logger } from '@framelane/service-kit/logger';
import { withSpan } from '@framelane/service-kit/tracing';
import { addArtifacts, removeArtifact } from '../artifacts/artifacts.service.ts';
import type { Database } from '../db/database.ts';
import type { AttemptOutcome, VideoRow } from '../db/schema.ts';
import { failCodecs, SOURCE_DELETED } from '../outputs/codecs.ts';
import type { WebhookEventsService } from '../webhooks/events.service.ts';
import { requestPurge } from './object-purges.store.ts';
import { markSourceDeleted, scheduleSourceDeletion } from './sources.store.ts';
import {
  type AttemptResult,
  closeOpenAttempt,
  endImport,
  endTasks,
  findUnfinishedClips,
  insertAttempt,
  lockVideo,
  moveVideo,
  raiseProgress,
  resetFailure,
  storeAsWhole,
  storeFailure,
  storeFile,
  storeResult,
  turnIntoTombstone,
} from './video-lifecycle.store.ts';
import { type Effect, type Move, type MoveName, moveFrom, type NextAttempt } from './video-moves.ts';
import { toVideoRecord, type VideoRecord } from './video-record.ts';
import { findVideo, findVideoOrTombstone } from './videos.store.ts';

/** The span of a transaction. Its statements have none. */
const TRANSACTION = {
  kind: 'client',
  attributes: { 'db.system.name': 'postgresql', 'db.operation.name': 'transaction' },
} as const;

/**
 * Performs every move of a video, deletion included: the status, the end of the open attempt, and the effects (a due
 * attempt, a due purge, a webhook event), all in the caller's transaction. Other domains move videos through it alone.
 */
export class VideoLifecycle {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #events: WebhookEventsService;
  readonly #baseUrl: string;
  readonly #onCommit: () => void;

  /** `onCommit` is called after each transaction that may have made rows due. `baseUrl` ends in `/v1`. */
  constructor(deps: {
    db: Database;
    logger: Logger;
    events: WebhookEventsService;
    baseUrl: string;
    onCommit: () => void;
  }) {
    this.#db = deps.db;
    this.#logger = deps.logger;
    this.#events = deps.events;
    this.#baseUrl = deps.baseUrl;
    this.#onCommit = deps.onCommit;
  }

  /** Runs `work` in a transaction. Work that it makes due starts right after the commit. */
  async transaction<T>(work: (trx: Database) => Promise<T>): Promise<T> {
    const result = await withSpan('transaction', TRANSACTION, () => this.#db.transaction().execute(work));
    this.committed();
    return result;
  }

  /**
   * Starts at once the work that a transaction of the caller has made due. Without this call, the work starts
   * within a second.
   */
  committed(): void {
    this.#onCommit();
  }

  /** The living video, locked until the transaction ends. Every move takes a video that is locked. */
  lock(trx: Database, videoId: string): Promise<VideoRow | undefined> {
    return lockVideo(trx, videoId);
  }

  /** uploading → processing, with the file that a transfer has stored. */
  async beginProcessing(
    trx: Database,
    video: VideoRow,
    upload: Pick<MessageData<'upload.completed'>, 'transferId' | 'bytes' | 'sha256'>,
  ): Promise<boolean> {
    const { transferId, bytes, sha256 } = upload;
    const moved = await this.#move(trx, video, 'beginProcessing', async (move) => {
      await storeFile(trx, video.id, move, { bytes, sha256 });
      await addArtifacts(trx, video.id, [{ kind: 'source', folder: transferFolder(transferId), bytes }]);
    });
    if (moved) this.#logger.info('video.uploaded', { videoId: video.id, title: video.title, bytes });
    return moved;
  }

  /** Makes the next attempts at a processing video transcode it as a whole. */
  transcodeAsWhole(trx: Database, videoId: string): Promise<void> {
    return storeAsWhole(trx, videoId);
  }

  /** Raises the progress of a processing video. `fraction` is 0..1; readers see 0..99 until the video is ready. */
  async progress(videoId: string, fraction: number): Promise<void> {
    const percent = Math.floor(fraction * 99);
    const raised = await raiseProgress(this.#db, videoId, percent);
    if (raised) this.#logger.info('video.progress', { videoId, title: raised.title, percent });
  }

  /** processing → ready. Closes the open attempt as completed. The objects of earlier attempts are purged. */
  async complete(trx: Database, video: VideoRow, result: AttemptResult): Promise<void> {
    const moved = await this.#move(trx, video, 'complete', (move) => storeResult(trx, video, move, result), {
      outcome: 'completed',
    });
    if (!moved) return;
    const seconds = video.uploaded_at === null ? null : (Date.now() - video.uploaded_at.getTime()) / 1000;
    this.#logger.info('video.ready', {
      videoId: video.id,
      workspaceId: video.workspace_id,
      title: video.title,
      attempt: video.attempt,
      seconds,
    });
  }

  /** Closes the open attempt of a processing video, and begins the next one after a delay. */
  async nextAttempt(
    trx: Database,
    video: VideoRow,
    outcome: AttemptOutcome,
    next: NextAttempt,
  ): Promise<void> {
    await this.#move(trx, video, 'nextAttempt', (move) => moveVideo(trx, video.id, move), { outcome, next });
  }

  /** uploading or processing → failed. Erases the key; everything stored so far, except the source, is purged. */
  async fail(
    trx: Database,
    video: VideoRow,
    failure: Pick<AttemptEnd, 'code' | 'message'> & EffectDetails,
  ): Promise<boolean> {
    const { code, message } = failure;
    const moved = await this.#move(
      trx,
      video,
      'fail',
      (move) => storeFailure(trx, video.id, move, { code, message }),
      failure,
    );
    if (moved) {
      this.#logger.warn('video.failed', { videoId: video.id, title: video.title, code, reason: message });
    }
    return moved;
  }

  /**
   * Sets when the source of a ready or failed video is to be deleted, and deletes it if that time has come. Call it when
   * `keepSource` changes.
   */
  async applyKeepSource(trx: Database, videoId: string): Promise<void> {
    await scheduleSourceDeletion(trx, videoId);
    await this.deleteSource(trx, videoId, 'due');
  }

  /**
   * Deletes the source of a ready or failed video, `when` it is due or at once. It no longer counts as stored, its objects are
   * purged, and the tasks of a ready video that read it end. Resolves with whether there was one to delete.
   */
  async deleteSource(trx: Database, videoId: string, when: 'due' | 'now'): Promise<boolean> {
    const deleted = await markSourceDeleted(trx, videoId, when);
    if (deleted) {
      await removeArtifact(trx, videoId, { kind: 'source' });
      const tasks = await endTasks(trx, videoId);
      const video = tasks > 0 ? await this.lock(trx, videoId) : undefined;
      if (video !== undefined) await failCodecs(trx, video, SOURCE_DELETED, { lifecycle: this });
      await requestPurge(trx, videoId);
      this.#logger.info('video.source_deleted', { videoId });
      if (tasks > 0) this.#logger.warn('video.output_left_out', { videoId, tasks });
    }
    return deleted;
  }

  /** failed → processing, for a video whose source is stored. */
  async retry(trx: Database, video: VideoRow): Promise<boolean> {
    const moved = await this.#move(trx, video, 'retry', (move) => resetFailure(trx, video.id, move));
    if (moved) {
      this.#logger.info('video.retried', { videoId: video.id, title: video.title, after: video.error_code });
    }
    return moved;
  }

  /** Begins the first attempt at a clip that was just inserted. */
  async beginClip(trx: Database, videoId: string): Promise<void> {
    await insertAttempt(trx, videoId, AT_ONCE);
  }

  /** Any status → tombstone. Fails the clips that are being made of it. Erases the key and everything that the owner wrote; all objects are purged. */
  async delete(trx: Database, video: VideoRow): Promise<void> {
    // Their engines read its segments, which are purged. A clip is locked after the video that it is made of, never before.
    for (const clipId of await findUnfinishedClips(trx, video.id)) {
      const clip = await lockVideo(trx, clipId);
      if (clip?.status === 'processing') await this.fail(trx, clip, CLIP_SOURCE_DELETED);
    }
    await this.#move(trx, video, 'delete', (move) => turnIntoTombstone(trx, video.id, move));
    this.#logger.info('video.deleted', { videoId: video.id, title: video.title });
  }

  /**
   * Makes a purge due of the orphaned objects of a video or tombstone: an engine may have stored objects after the purge of a deleted
   * video. Does nothing for a video without a row, because tombstones outlast every upload and attempt.
   */
  async requestPurge(trx: Database, videoId: string): Promise<void> {
    const video = await findVideoOrTombstone(trx, videoId);
    if (video !== undefined) await requestPurge(trx, videoId);
  }

  /** Writes the move and its effects. Resolves with false when the video is in a status that the move does not begin in. */
  async #move(
    trx: Database,
    video: VideoRow,
    name: MoveName,
    write: (move: Move) => Promise<void>,
    details: EffectDetails = {},
  ): Promise<boolean> {
    const move = moveFrom(video.status, name);
    if (move === undefined) return false;
    await write(move);
    for (const effect of move.effects) await this.#apply(trx, video, effect, details);
    return true;
  }

  /**
   * Records the event of a download of a locked video that has just become ready or failed. Without a name, of all: those of a video that has failed
   * were being prepared.
   */
  async recordEndOfDownloads(trx: Database, video: VideoRow, name?: DownloadName): Promise<void> {
    const { id, title, downloads } = await this.#record(trx, video);
    for (const download of downloads) {
      if (name !== undefined && download.file !== name) continue;
      const type = download.status === 'ready' ? 'video.download.ready' : 'video.download.failed';
      await this.#events.record(trx, type, video, { id, title, download });
    }
  }

  /**
   * Records the event of a codec beside H.264 of a locked video that has just become ready or failed. Without a name, of all: those of a video that
   * has failed were being prepared.
   */
  async recordEndOfCodecs(trx: Database, video: VideoRow, name?: AlternativeCodec): Promise<void> {
    if (video.codecs.length === 0) return;
    const { id, title, codecs } = await this.#record(trx, video);
    for (const codec of codecs) {
      if (codec.codec === PLAIN_CODEC || (name !== undefined && codec.codec !== name)) continue;
      const type = codec.status === 'ready' ? 'video.codec.ready' : 'video.codec.failed';
      await this.#events.record(trx, type, video, { id, title, codec });
    }
  }

  async #apply(
    trx: Database,
    video: VideoRow,
    effect: Effect,
    { outcome = 'failed', next = AT_ONCE }: EffectDetails,
  ): Promise<void> {
    switch (effect) {
      case 'close-attempt':
        return closeOpenAttempt(trx, video.id, outcome);
      case 'keep-source':
        return this.applyKeepSource(trx, video.id);
      case 'begin-attempt':
        return insertAttempt(trx, video.id, next);
      case 'end-import':
        return endImport(trx, video.id);
      case 'purge':
        return requestPurge(trx, video.id);
      case 'video.deleted':
        return this.#recordDeletion(trx, video);
      case 'video.download.failed':
        return this.recordEndOfDownloads(trx, video);
      case 'video.codec.failed':
        return this.recordEndOfCodecs(trx, video);
      default:
        await this.#events.record(trx, effect, video, await this.#record(trx, video));
    }
  }

  /** The record of a locked video that is not deleted. */
  async #record(trx: Database, { workspace_id, id }: VideoRow): Promise<VideoRecord> {
    const row = await findVideo(trx, workspace_id, id);
    if (row === undefined) throw new Error(`Video ${id} does not exist`);
    return toVideoRecord(row, this.#baseUrl);
  }

  async #recordDeletion(trx: Database, video: VideoRow): Promise<void> {
    const { id, title } = video;
    const tombstone = await findVideoOrTombstone(trx, id);
    if (!tombstone?.deleted_at) throw new Error(`Video ${id} was not deleted`);
    await this.#events.recordDeletion(trx, video, {
      id,
      title,
      status: 'deleted',
      deletedAt: tombstone.deleted_at.toISOString(),
    });
  }
}

/** The outcome of an open attempt that a move closes, and the attempt that it begins. */
type EffectDetails = { outcome?: AttemptOutcome; next?: NextAttempt };

/** How an attempt without a result ended, and the error of the video if it fails. */
export type AttemptEnd = { outcome: AttemptOutcome; code: FailureCode; message: string };

/** Why a clip fails whose parent is deleted while it is made. */
export const CLIP_SOURCE_DELETED: AttemptEnd = {
  outcome: 'failed',
  code: 'clip_source_deleted',
  message: 'The video of this clip was deleted before the clip was ready.',
};

const AT_ONCE: NextAttempt = { delaySeconds: 0, failedTries: 0, unreportedTries: 0 };
