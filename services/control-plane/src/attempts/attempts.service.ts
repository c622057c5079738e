import { newContentKey, openContentKey } from '@framelane/contracts/content-key';
import { ENGINE_STOPPED } from '@framelane/contracts/failures';
import type { ClaimAttemptRequest, ClaimAttemptResponse } from '@framelane/contracts/internal-api';
import type { Manifest } from '@framelane/contracts/manifest';
import type { MessageData } from '@framelane/contracts/messages';
import type { SealingKeys } from '@framelane/contracts/sealing';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import type { LeaseGrace } from '../background/lease-grace.ts';
import type { CaptionsService, ReadTrack } from '../captions/captions.service.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { VideoRow } from '../db/schema.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { AttemptOutput, PlaybackService } from '../playback/playback.service.ts';
import type { UsageService } from '../usage/usage.service.ts';
import type { FailedAttempt, VideoLifecycle } from '../videos/video-lifecycle.ts';
import { failureOfExpiry } from '../videos/video-moves.ts';
import {
  countUnreported,
  findBacklog,
  findClaimedAttempt,
  findExpiredAttempts,
  findOpenAttempt,
  findOpenAttempts,
  insertAttempt,
  isAttemptLive,
  renewAttempt,
  repeatAttempt,
} from './attempts.store.ts';

type AttemptSettings = {
  leaseSeconds: number;
  retryBackoffSeconds: number;
  /** Seconds of a piece of a long video. */
  pieceSeconds: number;
  contentKeys: SealingKeys;
};

/** Attempts ended in one run of `endExpired`. */
const BATCH = 100;

type Attempt = { videoId: string; number: number };
export type Failure = Omit<FailedAttempt, 'backoffSeconds'>;

/** The engine has not renewed its lease. */
export const ENGINE_LOST: Failure = {
  kind: 'transient',
  outcome: 'lease_expired',
  code: 'internal_error',
  message: 'The video could not be processed because of a fault on our side.',
};

/** Assigns attempts and applies their results. The attempt number fences off late results. */
export class AttemptsService {
  readonly #db: Database;
  readonly #lifecycle: VideoLifecycle;
  readonly #playback: PlaybackService;
  readonly #captions: CaptionsService;
  readonly #usage: UsageService;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #leaseGrace: LeaseGrace;
  readonly #settings: AttemptSettings;

  constructor(deps: {
    db: Database;
    lifecycle: VideoLifecycle;
    playback: PlaybackService;
    captions: CaptionsService;
    usage: UsageService;
    logger: Logger;
    metrics: Metrics;
    leaseGrace: LeaseGrace;
    settings: AttemptSettings;
  }) {
    this.#db = deps.db;
    this.#lifecycle = deps.lifecycle;
    this.#playback = deps.playback;
    this.#captions = deps.captions;
    this.#usage = deps.usage;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#leaseGrace = deps.leaseGrace;
    this.#settings = deps.settings;
  }

  /**
   * Starts the next attempt at a processing video with a fresh content key. A repeat of the claim gets the same attempt. Throws 409
   * `attempt_not_claimable` when the video is not waiting for one.
   */
  async claim({ videoId, claimId }: ClaimAttemptRequest): Promise<ClaimAttemptResponse> {
    const { leaseSeconds, pieceSeconds } = this.#settings;
    // A claim makes room in the queue for another command of the workspace.
    const claimed = await this.#lifecycle.transaction(async (trx) => {
      const video = await this.#lifecycle.lock(trx, videoId);
      if (video === undefined || video.size === null || video.source_key === null) return undefined;
      const { size: sourceBytes, source_key: sourceKey } = video;
      const claimedBefore = claimId && (await findClaimedAttempt(trx, videoId, claimId));
      const begun = claimedBefore
        ? await this.#repeat(trx, video, claimedBefore)
        : await this.#begin(trx, video, claimId);
      return begun && { ...begun, sourceBytes, sourceKey, video };
    });
    if (claimed === undefined) {
      throw new Problem('attempt_not_claimable', `Video ${videoId} is not waiting for an attempt.`);
    }
    const { attempt, contentKey, sourceKey, sourceBytes, video } = claimed;
    return {
      attempt,
      contentKey: contentKey.toString('base64'),
      ...{ sourceKey, sourceBytes },
      hashSource: video.sha256 === null,
      severalAudioTracks: true,
      ...(!video.in_one_run && { pieceSeconds }),
      leaseSeconds,
    };
  }

  /** Undefined if the attempt has ended or its engine has reported something: then nobody waits for the response. */
  async #repeat(trx: Database, { id, content_key: sealedKey }: VideoRow, attempt: number) {
    const { leaseSeconds, contentKeys } = this.#settings;
    if (sealedKey === null) return undefined;
    if (!(await repeatAttempt(trx, { videoId: id, number: attempt }, leaseSeconds))) return undefined;
    return { attempt, contentKey: await openContentKey(sealedKey, contentKeys) };
  }

  async #begin(trx: Database, video: VideoRow, claimId: string | undefined) {
    // Maintenance ends an attempt whose lease has expired, and makes the next command due.
    if ((await findOpenAttempt(trx, video.id)) !== undefined) return undefined;
    const contentKey = newContentKey();
    const sealedKey = await this.#settings.contentKeys.seal(contentKey);
    const attempt = await this.#lifecycle.beginAttempt(trx, video, sealedKey);
    if (attempt === undefined) return undefined;
    await insertAttempt(trx, { videoId: video.id, number: attempt, claimId }, this.#settings.leaseSeconds);
    return { attempt, contentKey };
  }

  /** Whether the attempt is open and its video is not deleted. */
  async isCurrent(attempt: Attempt): Promise<boolean> {
    return isAttemptLive(this.#db, attempt);
  }

  /** Renews the lease of an open attempt and raises the progress of its video. */
  async progress({ videoId, attempt, fraction }: MessageData<'transcode.progress'>): Promise<void> {
    const open = await renewAttempt(this.#db, { videoId, number: attempt }, this.#settings.leaseSeconds);
    if (open) await this.#lifecycle.progress(videoId, fraction);
  }

  /** Applies the result of the open attempt. The result of any other attempt changes nothing. */
  async complete(result: MessageData<'transcode.completed'>): Promise<void> {
    const { videoId, attempt, manifest, sourceSha256 } = result;
    const texts = await this.readTexts(videoId, manifest.captions);
    const report = await this.#lifecycle.transaction(async (trx) => {
      const video = await this.lockForResult(trx, videoId, attempt, { withTasks: false });
      return video && this.completeAttempt(trx, video, { manifest, texts, sourceSha256 });
    });
    report?.();
  }

  /** Reads the text tracks of a manifest; call it before the transaction that makes the video ready. */
  readTexts(videoId: string, tracks: Manifest['captions']): Promise<ReadTrack[]> {
    return this.#captions.readTracks(videoId, tracks);
  }

  /** Makes a locked video ready. `texts` are the text tracks of the manifest. Resolves with a function that updates the metrics; call it after the commit. */
  async completeAttempt(
    trx: Database,
    video: VideoRow,
    result: {
      manifest: Manifest;
      texts: readonly ReadTrack[];
      sourceSha256: string | undefined;
      output?: AttemptOutput;
    },
  ): Promise<() => void> {
    const { manifest, texts, sourceSha256, output } = result;
    const renditions = await this.#playback.store(trx, video.id, manifest, output);
    await this.#captions.storeTracks(trx, video, texts);
    await this.#lifecycle.complete(trx, video, { manifest, renditions, sourceSha256 });
    await this.#usage.countTranscode(trx, video, manifest.source.duration);
    return () => {
      this.#metrics.attemptEnded('completed');
      const { uploaded_at } = video;
      if (uploaded_at !== null) this.#metrics.videoReady((Date.now() - uploaded_at.getTime()) / 1000);
    };
  }

  /** Applies the failure of the open attempt: another attempt follows later, or the video fails. */
  async failed({
    videoId,
    attempt,
    code,
    message,
    retryable,
  }: MessageData<'transcode.failed'>): Promise<void> {
    const failure: Failure =
      code === ENGINE_STOPPED
        ? { ...ENGINE_LOST, kind: 'handed_back', outcome: 'handed_back' }
        : { kind: retryable ? 'transient' : 'permanent', outcome: 'failed', code, message };
    await this.#end({ videoId, number: attempt }, failure);
  }

  /** The videos that wait for an engine, and those that are being transcoded. */
  backlog(): Promise<{ waiting: Backlog; running: Backlog }> {
    return findBacklog(this.#db);
  }

  /** Ends attempts whose lease has expired. Safe on several instances. */
  async endExpired(): Promise<void> {
    if (!this.#leaseGrace.hasPassed(this.#settings.leaseSeconds)) return;
    await forEachSettled(await findExpiredAttempts(this.#db, BATCH), (attempt) => this.#endLost(attempt));
  }

  /** Ends every open attempt without tasks. Call it only while no engine runs. */
  async endOpenAttempts(): Promise<void> {
    for (const attempt of await findOpenAttempts(this.#db)) await this.#endLost(attempt);
  }

  async #endLost({ videoId, number }: Attempt): Promise<void> {
    const report = await this.#lifecycle.transaction(async (trx) => {
      const video = await this.lockForResult(trx, videoId, number, { withTasks: false });
      if (video === undefined) return undefined;
      const kind = failureOfExpiry(await countUnreported(trx, videoId));
      return this.failAttempt(trx, video, { ...ENGINE_LOST, kind });
    });
    report?.();
  }

  async #end({ videoId, number }: Attempt, failure: Failure): Promise<void> {
    const report = await this.#lifecycle.transaction(async (trx) => {
      const video = await this.lockForResult(trx, videoId, number, { withTasks: false });
      return video && this.failAttempt(trx, video, failure);
    });
    report?.();
  }

  /**
   * Locks and returns the video if this is its open attempt, and if the attempt has tasks exactly when `withTasks` is set. Otherwise
   * returns undefined: the result changes nothing, and orphaned objects of the video are purged. For example, the engine that planned
   * a video may not know that its plan is stored, and then hands the attempt back.
   */
  async lockForResult(
    trx: Database,
    videoId: string,
    attempt: number,
    { withTasks }: { withTasks: boolean },
  ): Promise<VideoRow | undefined> {
    const video = await this.#lifecycle.lock(trx, videoId);
    if (video?.status === 'processing') {
      const open = await findOpenAttempt(trx, videoId);
      if (open?.number === attempt && open.hasTasks === withTasks) return video;
    }
    this.#logger.info('attempt.result_ignored', { videoId, attempt });
    await this.#lifecycle.discard(trx, videoId);
    return undefined;
  }

  /**
   * Ends the open attempt at a locked video: another one follows later, or the video fails. Resolves with a function that writes
   * the log and the metrics; call it after the commit.
   */
  async failAttempt(trx: Database, video: VideoRow, failure: Failure): Promise<() => void> {
    const { outcome, code } = failure;
    const backoffSeconds = this.#settings.retryBackoffSeconds;
    const videoFailed = await this.#lifecycle.failAttempt(trx, video, { ...failure, backoffSeconds });
    return () => {
      // An attempt that an engine handed back did not fail.
      const reason = outcome === 'handed_back' ? {} : { code };
      this.#logger.info('attempt.ended', { videoId: video.id, attempt: video.attempt, outcome, ...reason });
      this.#metrics.attemptEnded(outcome);
      if (videoFailed) this.#metrics.videoFailed(code);
    };
  }
}
