import { newContentKey } from '@framelane/contracts/content-key';
import { ENGINE_STOPPED, type FailureCode } from '@framelane/contracts/failures';
import type { ClaimAttemptResponse } from '@framelane/contracts/internal-api';
import type { MessageData } from '@framelane/contracts/messages';
import type { SealingKeys } from '@framelane/contracts/sealing';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import type { Backlog } from '../db/backlog.ts';
import type { Database } from '../db/database.ts';
import type { AttemptOutcome, VideoRow } from '../db/schema.ts';
import type { EngineContact } from '../engine-events/engine-contact.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PlaybackService } from '../playback/playback.service.ts';
import type { UsageService } from '../usage/usage.service.ts';
import type { VideoTransitions } from '../videos/video-transitions.ts';
import {
  closeAttempt,
  findBacklog,
  findLatestClaimed,
  findOpenAttempts,
  findSilentAttempts,
  findUnclaimed,
  hasOpenAttempt,
  insertAttempt,
  isAttemptLive,
  renewAttempt,
  type Unclaimed,
} from './attempts.store.ts';
import { type AttemptFailure, afterFailure } from './retry-policy.ts';

/**
 * How long a command can be under way to the queue, or in the hands of an engine that does not reach the control plane.
 * Later it is either in the queue or lost.
 */
const COMMAND_UNDER_WAY_SECONDS = 15 * 60;

/** Attempts ended in one go by `endSilent`. */
const BATCH = 100;

type Attempt = { videoId: string; number: number };
type Failure = { kind: AttemptFailure; outcome: AttemptOutcome; code: FailureCode; message: string };

/** What became of an attempt and, if it was the last one, of its video. */
type End = { outcome: AttemptOutcome; videoFailed: FailureCode | null };

const ENGINE_LOST: Failure = {
  kind: 'transient',
  outcome: 'lease_expired',
  code: 'internal_error',
  message: 'The video could not be processed because of a fault on our side.',
};

/** Hands out attempts and takes in their results; the attempt number fences off late ones. */
export class AttemptsService {
  readonly #db: Database;
  readonly #bus: MessageBus;
  readonly #transitions: VideoTransitions;
  readonly #playback: PlaybackService;
  readonly #usage: UsageService;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #contact: EngineContact;
  readonly #settings: { leaseSeconds: number; retryBackoffSeconds: number; contentKeys: SealingKeys };

  constructor(deps: {
    db: Database;
    bus: MessageBus;
    transitions: VideoTransitions;
    playback: PlaybackService;
    usage: UsageService;
    logger: Logger;
    metrics: Metrics;
    contact: EngineContact;
    settings: { leaseSeconds: number; retryBackoffSeconds: number; contentKeys: SealingKeys };
  }) {
    this.#db = deps.db;
    this.#bus = deps.bus;
    this.#transitions = deps.transitions;
    this.#playback = deps.playback;
    this.#usage = deps.usage;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#contact = deps.contact;
    this.#settings = deps.settings;
  }

  /**
   * Starts the next attempt at a processing video with a fresh content key. Throws 409 `attempt_not_claimable` when
   * the video is not waiting for one.
   */
  async claim(videoId: string): Promise<ClaimAttemptResponse> {
    const claimed = await this.#db.transaction().execute(async (trx) => {
      const video = await this.#transitions.lock(trx, videoId);
      if (video?.status !== 'processing' || video.size === null || video.source_key === null)
        return undefined;
      // When its engine has fallen silent the reconciler ends it, and sends the next command.
      if (await hasOpenAttempt(trx, videoId)) return undefined;
      const contentKey = newContentKey();
      const sealed = await this.#settings.contentKeys.seal(contentKey);
      const attempt = await this.#transitions.assignAttempt(trx, video, sealed);
      await insertAttempt(trx, { videoId, number: attempt }, this.#settings.leaseSeconds);
      return {
        attempt,
        contentKey: contentKey.toString('base64'),
        sourceKey: video.source_key,
        sourceBytes: video.size,
        leaseSeconds: this.#settings.leaseSeconds,
      };
    });
    if (claimed === undefined) {
      throw new Problem('attempt_not_claimable', `Video ${videoId} is not waiting for an attempt.`);
    }
    return claimed;
  }

  /** Whether the attempt should go on: it is open and its video still exists. */
  async isWanted(attempt: Attempt): Promise<boolean> {
    return isAttemptLive(this.#db, attempt);
  }

  /** A sign of life: renews the lease and raises the video's progress. */
  async progress({ videoId, attempt, fraction }: MessageData<'transcode.progress'>): Promise<void> {
    const open = await renewAttempt(this.#db, { videoId, number: attempt }, this.#settings.leaseSeconds);
    if (open) await this.#transitions.progress(this.#db, videoId, fraction);
  }

  /** Takes in the result of the latest attempt, once; any other changes nothing. */
  async complete({ videoId, attempt, manifest }: MessageData<'transcode.completed'>): Promise<void> {
    const completed = await this.#db.transaction().execute(async (trx) => {
      const video = await this.#lockForResult(trx, videoId, attempt);
      if (video === undefined) return undefined;
      const closed = await closeAttempt(trx, { videoId, number: attempt }, { outcome: 'completed' });
      if (!closed) return undefined;
      const stored = await this.#playback.store(trx, videoId, manifest);
      const ready = await this.#transitions.complete(trx, video, {
        duration: manifest.duration,
        width: manifest.source.width,
        height: manifest.source.height,
        frame_rate: manifest.source.frameRate,
        source: JSON.stringify({
          container: manifest.source.container,
          videoCodec: manifest.source.videoCodec,
          audioCodec: manifest.source.audioCodec,
        }),
        input_issues: JSON.stringify(manifest.inputIssues),
        variants: stored.variants,
        target_duration: stored.targetDuration,
        poster_bytes: manifest.poster?.bytes ?? null,
        storyboard: manifest.storyboard && JSON.stringify(manifest.storyboard),
        storage_bytes: (video.size ?? 0) + stored.bytes,
      });
      if (ready) await this.#usage.countTranscode(trx, video, manifest.source.duration);
      return ready ? video : undefined;
    });
    if (completed === undefined) return;
    this.#metrics.attemptEnded('completed');
    const { uploaded_at } = completed;
    if (uploaded_at !== null) this.#metrics.videoReady((Date.now() - uploaded_at.getTime()) / 1000);
  }

  /** Takes in the failure of the latest attempt: another one later, or the end of the video. */
  async failed({
    videoId,
    attempt,
    code,
    message,
    retryable,
  }: MessageData<'transcode.failed'>): Promise<void> {
    const end = await this.#db.transaction().execute(async (trx) => {
      const video = await this.#lockForResult(trx, videoId, attempt);
      if (video === undefined) return undefined;
      const failure: Failure =
        code === ENGINE_STOPPED
          ? { ...ENGINE_LOST, kind: 'handed_back', outcome: 'handed_back' }
          : { kind: retryable ? 'transient' : 'permanent', outcome: 'failed', code, message };
      return this.#fail(trx, video, attempt, failure);
    });
    this.#count(end);
  }

  /** The videos that wait for an engine, and those that have one. */
  backlog(): Promise<{ waiting: Backlog; running: Backlog }> {
    return findBacklog(this.#db);
  }

  /** Ends attempts whose engine fell silent. Safe on several instances. */
  async endSilent(): Promise<void> {
    if (!this.#contact.hasLasted(this.#settings.leaseSeconds)) return;
    await forEachSettled(await findSilentAttempts(this.#db, BATCH), (attempt) => this.#abandon(attempt));
  }

  /**
   * Sends lost commands again, and none that only waits: one is lost when an engine has claimed a video that was sent after
   * it, or when the queue is empty. Safe on several instances.
   */
  async reissueLost(): Promise<void> {
    const unclaimed = await findUnclaimed(this.#db, COMMAND_UNDER_WAY_SECONDS);
    if (unclaimed.length === 0) return;
    const latestClaimed = await findLatestClaimed(this.#db);
    const { overtaken = [], others = [] } = Object.groupBy(unclaimed, (command) =>
      isOvertaken(command, latestClaimed) ? 'overtaken' : 'others',
    );
    await forEachSettled(overtaken, (command) => this.#reissue(command));
    if (others.length > 0 && (await this.#bus.countWaiting('engine.commands')) === 0) {
      await forEachSettled(others, (command) => this.#reissue(command));
    }
  }

  /** Ends every open attempt and sends every command again. For the moment when no engine runs and no queue holds any. */
  async restart(): Promise<void> {
    for (const attempt of await findOpenAttempts(this.#db)) await this.#abandon(attempt);
    for (const command of await findUnclaimed(this.#db, 0)) await this.#reissue(command);
  }

  async #abandon({ videoId, number }: Attempt): Promise<void> {
    const end = await this.#db.transaction().execute(async (trx) => {
      const video = await this.#lockForResult(trx, videoId, number);
      return video && this.#fail(trx, video, number, ENGINE_LOST);
    });
    this.#count(end);
  }

  /** Sends a command again, unless that was done or an engine has claimed the video since it was read. */
  async #reissue({ videoId, commandIssuedAt }: Unclaimed): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      const video = await this.#transitions.lock(trx, videoId);
      if (video?.status !== 'processing' || (await hasOpenAttempt(trx, videoId))) return;
      if (video.command_issued_at?.getTime() !== commandIssuedAt.getTime()) return;
      await this.#transitions.reissueTranscode(trx, video);
      this.#logger.warn('transcode.command_reissued', { videoId });
    });
  }

  /** The video, locked, if this attempt's result may still change it. */
  async #lockForResult(trx: Database, videoId: string, attempt: number): Promise<VideoRow | undefined> {
    const video = await this.#transitions.lock(trx, videoId);
    if (video?.status === 'processing' && video.attempt === attempt) return video;
    this.#logger.info('attempt.result_ignored', { videoId, attempt });
    await this.#transitions.discard(trx, videoId);
    return undefined;
  }

  async #fail(trx: Database, video: VideoRow, number: number, failure: Failure): Promise<End | undefined> {
    const { kind, outcome, code, message } = failure;
    const closed = await closeAttempt(trx, { videoId: video.id, number }, { outcome, code, message });
    if (!closed) return undefined;
    this.#logger.info('attempt.ended', { videoId: video.id, attempt: number, outcome, code });
    const next = afterFailure(kind, video.failed_attempts, this.#settings.retryBackoffSeconds);
    if (next === 'give_up') {
      const failed = await this.#transitions.fail(trx, video, { code, message });
      return { outcome, videoFailed: failed ? code : null };
    }
    if (kind !== 'handed_back') await this.#transitions.countFailedAttempt(trx, video);
    await this.#transitions.issueTranscode(trx, video, next.retryInSeconds);
    return { outcome, videoFailed: null };
  }

  #count(end: End | undefined): void {
    if (end === undefined) return;
    this.#metrics.attemptEnded(end.outcome);
    if (end.videoFailed !== null) this.#metrics.videoFailed(end.videoFailed);
  }
}

/** Whether an engine has claimed a video whose command was issued so much later that this one had to come first. */
function isOvertaken({ commandIssuedAt }: Unclaimed, latestClaimed: Date | null): boolean {
  if (latestClaimed === null) return false;
  return latestClaimed.getTime() - commandIssuedAt.getTime() >= COMMAND_UNDER_WAY_SECONDS * 1000;
}
