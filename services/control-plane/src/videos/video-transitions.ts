import type { FailureCode } from '@framelane/contracts/failures';
import { sourceKey } from '@framelane/object-store/object-keys';
import type { Logger } from '@framelane/service-kit/logger';
import { sql, type UpdateObject } from 'kysely';
import type { Database } from '../db/database.ts';
import { addJob } from '../db/jobs.ts';
import type { Schema, VideoRow } from '../db/schema.ts';
import type { WebhookEventsService } from '../webhooks/events.service.ts';
import { toVideoRecord } from './video-record.ts';
import {
  beginWaiting,
  findVideo,
  findVideoOrTombstone,
  lockVideo,
  moveToFailed,
  moveToRetry,
  moveVideo,
  raiseProgress,
  updateVideo,
} from './videos.store.ts';

/**
 * The moves of a video from status to status, each with what must be sent because of it, in the caller's transaction.
 * Other domains change a video through these alone.
 */
export class VideoTransitions {
  readonly #logger: Logger;
  readonly #events: WebhookEventsService;
  readonly #baseUrl: string;

  constructor(deps: { logger: Logger; events: WebhookEventsService; baseUrl: string }) {
    this.#logger = deps.logger;
    this.#events = deps.events;
    this.#baseUrl = deps.baseUrl;
  }

  /** The living video, locked for the rest of the transaction. */
  lock(trx: Database, videoId: string): Promise<VideoRow | undefined> {
    return lockVideo(trx, videoId);
  }

  /** uploading → processing, and the first transcode command. */
  async beginProcessing(
    trx: Database,
    video: VideoRow,
    upload: { transferId: string; bytes: number; sha256: string; contentType: string | null },
  ): Promise<boolean> {
    const source_key = sourceKey(video.workspace_id, video.id, upload.transferId);
    const moved = await moveVideo(trx, video.id, 'beginProcessing', {
      size: upload.bytes,
      sha256: upload.sha256,
      source_key,
      content_type: upload.contentType,
      storage_bytes: upload.bytes,
      uploaded_at: sql`now()`,
    });
    if (!moved) return false;
    await this.issueTranscode(trx, { ...video, source_key, size: upload.bytes }, 0);
    this.#logger.info('video.uploaded', { videoId: video.id, title: video.title, bytes: upload.bytes });
    return true;
  }

  /** Has the next attempt begin, after the delay: writes a transcode command to the outbox. */
  async issueTranscode(trx: Database, video: VideoRow, delaySeconds: number): Promise<void> {
    const waiting_since = await beginWaiting(trx, video.id, delaySeconds);
    await this.#sendCommand(trx, { ...video, waiting_since }, delaySeconds);
  }

  /** Sends a command again that was lost. The video waits as long as it did before. */
  async reissueTranscode(trx: Database, video: VideoRow): Promise<void> {
    await updateVideo(trx, video.id, { command_issued_at: sql`now()` });
    await this.#sendCommand(trx, video, 0);
  }

  /** Gives a processing video its next attempt number and the key that attempt encrypts with. */
  async assignAttempt(trx: Database, video: VideoRow, sealedContentKey: string): Promise<number> {
    const attempt = video.attempt + 1;
    await updateVideo(trx, video.id, { attempt, content_key: sealedContentKey });
    return attempt;
  }

  /** Notes that an attempt went wrong. */
  async countFailedAttempt(trx: Database, video: VideoRow): Promise<void> {
    await updateVideo(trx, video.id, { failed_attempts: video.failed_attempts + 1 });
  }

  /** How far the transcode is, 0..1; shown as 0..99 until ready. */
  async progress(trx: Database, videoId: string, fraction: number): Promise<void> {
    const percent = Math.floor(fraction * 99);
    if (await raiseProgress(trx, videoId, percent)) this.#logger.info('video.progress', { videoId, percent });
  }

  /** processing → ready. What older attempts left is purged. */
  async complete(trx: Database, video: VideoRow, values: UpdateObject<Schema, 'videos'>): Promise<boolean> {
    const moved = await moveVideo(trx, video.id, 'complete', {
      ...values,
      progress: 100,
      ready_at: sql`now()`,
    });
    if (!moved) return false;
    await this.#purge(trx, video);
    await this.#announce(trx, 'video.ready', video);
    const seconds = video.uploaded_at === null ? null : (Date.now() - video.uploaded_at.getTime()) / 1000;
    this.#logger.info('video.ready', {
      videoId: video.id,
      workspaceId: video.workspace_id,
      title: video.title,
      attempt: video.attempt,
      seconds,
    });
    return true;
  }

  /** uploading or processing → failed. The key is erased and everything made so far is purged. */
  async fail(
    trx: Database,
    video: VideoRow,
    error: { code: FailureCode; message: string },
  ): Promise<boolean> {
    const moved = await moveToFailed(trx, video.id, error);
    if (!moved) return false;
    await this.#purge(trx, video);
    await this.#announce(trx, 'video.failed', video);
    const { code, message: reason } = error;
    this.#logger.warn('video.failed', { videoId: video.id, title: video.title, code, reason });
    return true;
  }

  /** failed → processing, and a transcode command; for a video whose source is kept. */
  async retry(trx: Database, video: VideoRow): Promise<boolean> {
    const moved = await moveToRetry(trx, video.id);
    if (!moved) return false;
    await this.issueTranscode(trx, video, 0);
    this.#logger.info('video.retried', { videoId: video.id, title: video.title, after: video.error_code });
    return true;
  }

  /**
   * Purges what an engine stored and the state of the video has no use for. The report may come after the purge of a
   * deleted video. A report about a video without a row changes nothing: its tombstone was kept for far longer than any
   * upload or attempt lasts.
   */
  async discard(trx: Database, videoId: string): Promise<void> {
    const video = await findVideoOrTombstone(trx, videoId);
    if (video !== undefined) await this.#purge(trx, video);
  }

  async #sendCommand(trx: Database, video: VideoRow, delaySeconds: number): Promise<void> {
    const { id: videoId, workspace_id: workspaceId, source_key, size, waiting_since } = video;
    if (source_key === null || size === null) throw new Error(`Video ${videoId} has no source to transcode`);
    await addJob(
      trx,
      'publish-transcode',
      {
        ...{ videoId, workspaceId, sourceKey: source_key, sourceBytes: size },
        waitingSince: (waiting_since ?? new Date()).toISOString(),
      },
      { key: `transcode:${videoId}`, delaySeconds },
    );
  }

  /** Tells the webhooks of the workspace, with the record as it is now. */
  async #announce(trx: Database, type: 'video.ready' | 'video.failed', video: VideoRow): Promise<void> {
    const row = await findVideo(trx, video.workspace_id, video.id);
    if (row !== undefined) {
      await this.#events.record(trx, type, video.workspace_id, toVideoRecord(row, this.#baseUrl));
    }
  }

  async #purge(trx: Database, video: VideoRow): Promise<void> {
    await addJob(trx, 'purge-objects', { videoId: video.id, workspaceId: video.workspace_id, look: 1 });
  }
}
