import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimAttemptResponse } from '@framelane/contracts/internal-api';
import type { Manifest } from '@framelane/contracts/manifest';
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
import { type AttemptClient, AttemptLease, AttemptUnwantedError } from './attempt-lease.ts';
import { CommandIntake } from './command-intake.ts';
import { DiskReservations, type Reservation } from './disk-reservations.ts';
import { EngineStoppedError, reportFailure } from './failure-report.ts';
import { diskNeed, runTranscodeJob } from './transcode-job.ts';
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

/** Waits between tries to publish a result, which is all the work that was done. */
const PUBLISH_DELAYS_MS = [500, 1000, 2000, 4000];
/** Wait before the control plane is asked again that gave no answer. */
const CLAIM_DELAY_MS = 2000;
/** How long a failed attempt's objects may take to go; the control plane removes what is left. */
const CLEANUP_LIMIT_MS = 5000;

/**
 * Takes `transcode` commands, as many at a time as it has slots, and answers each with one result.
 *
 * A command is done when its result was published with confirm, or when there is nothing to claim. When this process
 * dies before, the command comes again, finds the lease alive and is dropped; the control plane issues the next attempt
 * once the lease has run out. Only the attempt that holds the lease can finish a video, so nothing is done twice.
 */
export class TranscodeWorker {
  readonly #deps: Dependencies;
  readonly #settings: TranscodeSettings;
  readonly #jobsDir: string;
  readonly #disk: DiskReservations;
  /** Whether jobs share the disk of the objects, and fetch their sources as links. */
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
      hasRoom: async () => (await this.#disk.hasRoom()) && (await headroomBytes(deps.objects)) >= 0,
      handle: (message, delivery) => this.#handle(message, delivery),
      logger: deps.logger,
    });
  }

  /** Checks ffmpeg, removes what an earlier run left, and begins to take commands. */
  async start(): Promise<void> {
    const { logger } = this.#deps;
    await prepareWorkDirectory(this.#settings.workDir);
    const folders = [this.#jobsDir, join(this.#settings.workDir, 'tools')];
    // Before anything is removed: what others can change is not removed safely.
    for (const folder of folders) await preparePrivateFolder(folder);
    await removeTree(this.#jobsDir);
    await preparePrivateFolder(this.#jobsDir);
    this.#sourcesAreLinks = (await this.#deps.objects.fetchesAsLinks?.(this.#jobsDir)) ?? false;
    this.#tools = await prepareMediaTools(this.#settings, logger);
    await this.#intake.start();
  }

  /** Ends the ffmpegs under way and hands their attempts back. Takes a few seconds at most. */
  async stop(): Promise<void> {
    this.#stopping.abort(new EngineStoppedError('The engine is stopping'));
    await this.#intake.stop();
  }

  /** What jobs may write. A disk that they share with the objects has one reserve for all. */
  async #freeBytes(): Promise<number> {
    if (this.#sourcesAreLinks) return headroomBytes(this.#deps.objects);
    return (await freeDiskBytes(this.#jobsDir)) - this.#settings.limits.reservedDiskBytes;
  }

  #diskNeed({ sourceBytes }: Command): number {
    return diskNeed(sourceBytes, { sourceIsLink: this.#sourcesAreLinks });
  }

  async #handle(...[message, { redelivered }]: Parameters<MessageHandler>): Promise<void> {
    if (message.type !== 'transcode') {
      throw new UnprocessableMessageError(`An engine does not take ${message.type}`);
    }
    const command = message.data;
    this.#stopping.signal.throwIfAborted();
    const room = await this.#disk.reserve(this.#diskNeed(command));
    if (!room) {
      await this.#leave(command, redelivered);
      return;
    }
    try {
      const claim = await this.#claim(command);
      if (claim) await this.#deps.metrics.inSlot(() => this.#runAttempt(command, claim, room));
    } finally {
      room.release();
    }
  }

  /**
   * What becomes of a command whose source does not fit on the disk: it goes back once, for an engine with a larger one.
   * When it comes back it is dropped, and the control plane sends it again after a while, as it does with every command that
   * nobody claims. A video that has waited for too long fails, unless only other jobs of this engine are in its way.
   */
  async #leave(command: Command, redelivered: boolean): Promise<void> {
    const { videoId, sourceBytes, waitingSince } = command;
    const waitedSeconds = (Date.now() - Date.parse(waitingSince)) / 1000;
    this.#deps.logger.warn('transcode.insufficient_disk_space', { videoId, sourceBytes, waitedSeconds });
    if (!redelivered) throw new Error('There is no room for a file of this size; the command goes back');
    if (waitedSeconds < this.#settings.limits.diskWaitSeconds) return;
    // It may have waited in a long queue, and fit once the other slots are free.
    if (await this.#disk.mayFitLater(this.#diskNeed(command))) return;
    const claim = await this.#claim(command);
    const message = 'No engine has enough disk space for a file of this size.';
    if (claim) {
      await this.#giveUp(
        command,
        claim,
        new TranscodeFailure('internal_error', message, { retryable: false }),
      );
    }
  }

  /**
   * Claims the next attempt; null when the video is not waiting for one. Asks until there is a response: a command that
   * went back too often would be put away as one nobody can handle.
   */
  async #claim({ videoId }: Command): Promise<ClaimAttemptResponse | null> {
    for (;;) {
      try {
        const claim = await this.#deps.controlPlane.claimAttempt({ videoId });
        if (!claim) this.#deps.logger.info('transcode.not_claimable', { videoId });
        return claim;
      } catch (error) {
        this.#deps.logger.warn('transcode.claim_failed', { videoId, error });
        await delay(CLAIM_DELAY_MS, undefined, { signal: this.#stopping.signal });
      }
    }
  }

  async #runAttempt(command: Command, claim: ClaimAttemptResponse, room: Reservation): Promise<void> {
    const { logger, metrics } = this.#deps;
    const facts = { videoId: command.videoId, attempt: claim.attempt };
    const startedAt = Date.now();
    const lease = new AttemptLease({ ...facts, leaseSeconds: claim.leaseSeconds }, this.#deps);
    logger.info('transcode.started', { ...facts, bytes: claim.sourceBytes });
    let completed: MessageOf<'transcode.completed'>;
    try {
      const manifest = await this.#transcode(command, claim, lease, room);
      completed = createMessage('transcode.completed', { ...facts, manifest });
    } catch (error) {
      lease.stop();
      await this.#giveUp(command, claim, error);
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
    room: Reservation,
  ): Promise<Manifest> {
    if (!this.#tools) throw new Error('The worker has not been started');
    const { attempt, sourceKey, sourceBytes } = claim;
    const contentKey = Buffer.from(claim.contentKey, 'base64');
    return runTranscodeJob(
      {
        workspaceId: command.workspaceId,
        videoId: command.videoId,
        attempt,
        sourceKey,
        sourceBytes,
        contentKey,
      },
      {
        objects: this.#deps.objects,
        tools: this.#tools,
        settings: this.#settings,
        jobsDir: this.#jobsDir,
        room,
        logger: this.#deps.logger,
        metrics: this.#deps.metrics,
        signal: AbortSignal.any([this.#stopping.signal, lease.signal]),
        onProgress: (fraction) => lease.progress(fraction),
      },
    );
  }

  /** Removes what the attempt stored, and says why it failed unless nobody wants to know. */
  async #giveUp(command: Command, { attempt }: ClaimAttemptResponse, error: unknown): Promise<void> {
    const { objects, logger, metrics } = this.#deps;
    const facts = { videoId: command.videoId, attempt };
    const prefix = attemptPrefix(command.workspaceId, command.videoId, attempt);
    const removed = objects.deletePrefix(prefix);
    await pTimeout(removed, { milliseconds: CLEANUP_LIMIT_MS }).catch((failure: unknown) => {
      logger.warn('transcode.cleanup_failed', { ...facts, error: failure });
    });
    if (error instanceof AttemptUnwantedError) {
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

  /** Publishes a result, with more than one try. Rejects when it may have been lost. */
  async #publish(result: Message): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        await this.#deps.bus.publish(result);
        return;
      } catch (error) {
        const delayMs = PUBLISH_DELAYS_MS[tries];
        if (delayMs === undefined) throw error;
        this.#deps.logger.warn('transcode.publish_failed', { type: result.type, error });
        await delay(delayMs);
      }
    }
  }
}
