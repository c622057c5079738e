import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimAttemptResponse } from '@framelane/contracts/internal-api';
import { createMessage, type Message, type MessageData, type MessageOf } from '@framelane/contracts/messages';
import {
  type MessageBus,
  type MessageHandler,
  UnprocessableMessageError,
} from '@framelane/message-bus/message-bus';
import { attemptPrefix } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import pTimeout from 'p-timeout';
import { freeDiskBytes, headroomBytes } from '../disk-space.ts';
import { type MediaTools, prepareMediaTools } from '../ffmpeg/media-tools.ts';
import type { EngineMetrics } from '../metrics/engine-metrics.ts';
import { TranscodeFailure } from '../transcode-failure.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import { type AttemptClient, AttemptLease, AttemptObsoleteError } from './attempt-lease.ts';
import { CommandIntake } from './command-intake.ts';
import { DiskReservations, type Reservation } from './disk-reservations.ts';
import { EngineStoppedError, reportFailure } from './failure-report.ts';
import { diskNeed, runTranscodeJob, type TranscodeResult } from './transcode-job.ts';
import { preparePrivateFolder, prepareWorkDirectory, removeTree } from './work-directory.ts';

type Command = MessageData<'transcode'>;

type Dependencies = {
  bus: MessageBus;
  objects: ObjectStore;
  controlPlane: AttemptClient;
  logger: Logger;
  metrics: EngineMetrics;
  settings: TranscodeSettings;
};

/** Delays between attempts to publish a result. Without it the work of the attempt is lost. */
const PUBLISH_RETRY_DELAYS_MS = [500, 1000, 2000, 4000];
/** Delay before a failed claim is retried. */
const CLAIM_RETRY_DELAY_MS = 2000;
/** Time limit for the removal of a failed attempt's objects. The control plane purges those that remain. */
const CLEANUP_TIMEOUT_MS = 5000;

/**
 * Handles `transcode` commands, one in each slot, and publishes one result for each.
 *
 * A command is acknowledged when its result was published with confirm, or when there is nothing to claim. If this process
 * ends before, the broker redelivers the command. The lease is still valid then, so there is nothing to claim; the control
 * plane starts the next attempt when the lease has expired. Only the attempt that holds the lease can finish a video.
 */
export class TranscodeWorker {
  readonly #deps: Dependencies;
  readonly #settings: TranscodeSettings;
  readonly #jobsDir: string;
  readonly #disk: DiskReservations;
  /** Whether jobs share the disk of the objects, so that their sources are links to stored objects. */
  #sourcesAreLinks = false;
  readonly #stopping = new AbortController();
  #tools: MediaTools | undefined;
  readonly #intake: CommandIntake;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#settings = { ...deps.settings, workDir: resolve(deps.settings.workDir) };
    this.#jobsDir = join(this.#settings.workDir, 'jobs');
    this.#disk = new DiskReservations(() => this.#freeBytes());
    this.#intake = new CommandIntake({
      bus: deps.bus,
      slots: deps.settings.slots,
      hasDiskSpace: async () => (await this.#disk.hasDiskSpace()) && (await headroomBytes(deps.objects)) >= 0,
      handle: (message, delivery) => this.#handle(message, delivery),
      logger: deps.logger,
    });
  }

  /** Removes files of an earlier run, checks ffmpeg, and starts to consume commands. */
  async start(): Promise<void> {
    const { logger } = this.#deps;
    await prepareWorkDirectory(this.#settings.workDir);
    const folders = [this.#jobsDir, join(this.#settings.workDir, 'tools')];
    // This precedes any removal: content that other users can change cannot be removed safely.
    for (const folder of folders) await preparePrivateFolder(folder);
    await removeTree(this.#jobsDir);
    await preparePrivateFolder(this.#jobsDir);
    this.#sourcesAreLinks = (await this.#deps.objects.fetchesAsLinks?.(this.#jobsDir)) ?? false;
    this.#tools = await prepareMediaTools(this.#settings, logger);
    await this.#intake.start();
  }

  /** Stops all running jobs; their attempts fail as retryable. Takes a few seconds at most. */
  async stop(): Promise<void> {
    this.#stopping.abort(new EngineStoppedError('The engine is stopping'));
    await this.#intake.stop();
  }

  /** Bytes that jobs may write. The disk of the objects has its own reserve. */
  async #freeBytes(): Promise<number> {
    if (this.#sourcesAreLinks) return headroomBytes(this.#deps.objects);
    return (await freeDiskBytes(this.#jobsDir)) - this.#settings.limits.reservedDiskBytes;
  }

  #diskNeed({ sourceBytes }: Command): number {
    return diskNeed(sourceBytes, { sourceIsLink: this.#sourcesAreLinks });
  }

  async #handle(...[message, { redelivered }]: Parameters<MessageHandler>): Promise<void> {
    if (message.type !== 'transcode') {
      throw new UnprocessableMessageError(`The engine does not handle ${message.type}`);
    }
    const command = message.data;
    this.#stopping.signal.throwIfAborted();
    const reservation = await this.#disk.reserve(this.#diskNeed(command));
    if (!reservation) {
      await this.#postpone(command, redelivered);
      return;
    }
    try {
      const claim = await this.#claim(command);
      if (claim) await this.#deps.metrics.inSlot(() => this.#runAttempt(command, claim, reservation));
    } finally {
      reservation.release();
    }
  }

  /**
   * Handles a command whose source does not fit on the disk. The first time it is requeued, for an engine with a larger disk.
   * The second time it is dropped; the control plane sends a new command later, as for every unclaimed attempt. A video that
   * has waited too long fails, unless it fits when the running jobs of this engine have ended.
   */
  async #postpone(command: Command, redelivered: boolean): Promise<void> {
    const { videoId, sourceBytes, waitingSince } = command;
    const waitedSeconds = (Date.now() - Date.parse(waitingSince)) / 1000;
    this.#deps.logger.warn('transcode.insufficient_disk_space', { videoId, sourceBytes, waitedSeconds });
    if (!redelivered) throw new Error('Too little disk space for this source; the command is requeued');
    if (waitedSeconds < this.#settings.limits.diskWaitSeconds) return;
    if (await this.#disk.mayFitLater(this.#diskNeed(command))) return;
    const claim = await this.#claim(command);
    const message =
      'No engine has enough disk space for a file of this size. Ask the operator to add disk space, then retry the video.';
    if (claim) {
      const failure = new TranscodeFailure('internal_error', message, { retryable: false });
      await this.#fail(command, claim, failure);
    }
  }

  /**
   * Claims the next attempt; null if the video is not waiting for one. Retries until the control plane responds: a command
   * that is requeued too often would end in the dead-letter queue.
   */
  async #claim({ videoId }: Command): Promise<ClaimAttemptResponse | null> {
    for (;;) {
      try {
        const claim = await this.#deps.controlPlane.claimAttempt({ videoId });
        if (!claim) this.#deps.logger.info('transcode.not_claimable', { videoId });
        return claim;
      } catch (error) {
        this.#deps.logger.warn('transcode.claim_failed', { videoId, error });
        await delay(CLAIM_RETRY_DELAY_MS, undefined, { signal: this.#stopping.signal });
      }
    }
  }

  async #runAttempt(command: Command, claim: ClaimAttemptResponse, disk: Reservation): Promise<void> {
    const { logger, metrics } = this.#deps;
    const facts = { videoId: command.videoId, attempt: claim.attempt };
    const startedAt = Date.now();
    const lease = new AttemptLease({ ...facts, leaseSeconds: claim.leaseSeconds }, this.#deps);
    logger.info('transcode.started', { ...facts, bytes: claim.sourceBytes });
    let completed: MessageOf<'transcode.completed'>;
    try {
      const result = await this.#transcode(command, claim, lease, disk);
      completed = createMessage('transcode.completed', { ...facts, ...result });
    } catch (error) {
      lease.stop();
      await this.#fail(command, claim, error);
      return;
    }
    lease.stop();
    await this.#publish(completed);
    const { manifest } = completed.data;
    metrics.transcodeCompleted(manifest.duration);
    logger.info('transcode.completed', {
      ...facts,
      seconds: (Date.now() - startedAt) / 1000,
      duration: manifest.duration,
      renditions: manifest.renditions.map(({ name }) => name),
    });
  }

  async #transcode(
    command: Command,
    claim: ClaimAttemptResponse,
    lease: AttemptLease,
    disk: Reservation,
  ): Promise<TranscodeResult> {
    if (!this.#tools) throw new Error('The worker has not been started');
    const { attempt, sourceKey, sourceBytes, hashSource = false, severalAudioTracks = false } = claim;
    const contentKey = Buffer.from(claim.contentKey, 'base64');
    return runTranscodeJob(
      {
        workspaceId: command.workspaceId,
        videoId: command.videoId,
        attempt,
        sourceKey,
        sourceBytes,
        hashSource,
        severalAudioTracks,
        contentKey,
      },
      {
        objects: this.#deps.objects,
        tools: this.#tools,
        settings: this.#settings,
        jobsDir: this.#jobsDir,
        disk,
        logger: this.#deps.logger,
        metrics: this.#deps.metrics,
        signal: AbortSignal.any([this.#stopping.signal, lease.signal]),
        onProgress: (fraction) => lease.progress(fraction),
      },
    );
  }

  /** Removes the attempt's objects, and publishes the failure unless the attempt is obsolete. */
  async #fail(command: Command, { attempt }: ClaimAttemptResponse, error: unknown): Promise<void> {
    const { objects, logger, metrics } = this.#deps;
    const facts = { videoId: command.videoId, attempt };
    const prefix = attemptPrefix(command.workspaceId, command.videoId, attempt);
    const removed = objects.deletePrefix(prefix);
    await pTimeout(removed, { milliseconds: CLEANUP_TIMEOUT_MS }).catch((failure: unknown) => {
      logger.warn('transcode.cleanup_failed', { ...facts, error: failure });
    });
    if (error instanceof AttemptObsoleteError) {
      metrics.transcodeAbandoned();
      logger.info('transcode.abandoned', facts);
      return;
    }
    const report = reportFailure(error);
    const { code, retryable } = report.outcome;
    metrics.transcodeFailed(code);
    logger.log(report.level, 'transcode.failed', { ...facts, code, retryable, ...report.facts });
    await this.#publish(createMessage('transcode.failed', { ...facts, ...report.outcome }));
  }

  /** Publishes a result, with retries. Rejects if all attempts fail. */
  async #publish(result: Message): Promise<void> {
    for (let retries = 0; ; retries += 1) {
      try {
        await this.#deps.bus.publish(result);
        return;
      } catch (error) {
        const delayMs = PUBLISH_RETRY_DELAYS_MS[retries];
        if (delayMs === undefined) throw error;
        this.#deps.logger.warn('transcode.publish_failed', { type: result.type, error });
        await delay(delayMs);
      }
    }
  }
}
