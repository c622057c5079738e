import { newContentKey, openContentKey } from '@framelane/contracts/content-key';
import type { Manifest } from '@framelane/contracts/manifest';
import type { SealingKeys } from '@framelane/contracts/sealing';
import type { TaskPlan } from '@framelane/contracts/transcode-plan';
import type { Logger } from '@framelane/service-kit/logger';
import { type Artifact, addArtifacts } from '../artifacts/artifacts.service.ts';
import type { CaptionsService, ReadTrack } from '../captions/captions.service.ts';
import type { ChaptersService } from '../chapters/chapters.service.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { AttemptOutcome, VideoRow, VideoStatus } from '../db/schema.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PlaybackService } from '../playback/playback.service.ts';
import type { UsageService } from '../usage/usage.service.ts';
import type { AttemptEnd, VideoLifecycle } from '../videos/video-lifecycle.ts';
import type { NextAttempt } from '../videos/video-moves.ts';
import { findBacklog, findCompletedPlan, startAttempt } from './attempts.store.ts';

/** What an attempt has made. */
export type AttemptResult = {
  manifest: Manifest;
  /** The text tracks of the manifest. */
  texts: readonly ReadTrack[];
  sourceSha256: string | undefined;
  /** Seconds that count as transcoded. */
  transcodedSeconds: number;
  /** What its tasks have stored. */
  artifacts: readonly Artifact[];
};

type Deps = {
  db: Database;
  lifecycle: VideoLifecycle;
  playback: PlaybackService;
  captions: CaptionsService;
  chapters: ChaptersService;
  usage: UsageService;
  logger: Logger;
  metrics: Metrics;
  contentKeys: SealingKeys;
};

/**
 * Starts and ends attempts. At the end, the video becomes ready, fails, or waits for another attempt. The video is locked, and all changes
 * are in the transaction of the caller. Methods that end an attempt resolve with a function that writes the log and the metrics; call it
 * after the commit.
 */
export class AttemptsService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The videos that wait for an engine, and those that are being transcoded. */
  backlog(): Promise<{ waiting: Backlog; running: Backlog }> {
    return findBacklog(this.#deps.db);
  }

  /**
   * Starts the open attempt with a new content key, with which it resolves. Opens no sealed one: if it did not open, the video could not be
   * transcoded.
   */
  async start(trx: Database, { id: videoId, attempt }: VideoRow, claimId: string): Promise<Buffer> {
    const contentKey = newContentKey();
    const sealedContentKey = await this.#deps.contentKeys.seal(contentKey);
    await startAttempt(trx, { videoId, attempt }, { claimId, sealedContentKey });
    return contentKey;
  }

  /** The content key of the attempt that has started. */
  async contentKey({ id, content_key: sealedKey }: VideoRow): Promise<Buffer> {
    if (sealedKey === null) throw new Error(`Video ${id} has no content key`);
    return openContentKey(sealedKey, this.#deps.contentKeys);
  }

  /**
   * Locks and returns the video if this is its latest attempt, and it has one of these statuses. Otherwise resolves with undefined: the report of
   * the engine changes nothing, and orphaned objects of the video are purged.
   */
  async lockForResult(
    trx: Database,
    { videoId, attempt }: { videoId: string; attempt: number },
    statuses: readonly VideoStatus[] = ['processing'],
  ): Promise<VideoRow | undefined> {
    const video = await this.#deps.lifecycle.lock(trx, videoId);
    if (video?.attempt === attempt && statuses.includes(video.status)) return video;
    this.#deps.logger.info('attempt.result_ignored', { videoId, attempt });
    await this.#deps.lifecycle.requestPurge(trx, videoId);
    return undefined;
  }

  /** Reads the text tracks of a manifest; call it before the transaction that makes the video ready. */
  readTexts(videoId: string, tracks: Manifest['captions']): Promise<ReadTrack[]> {
    return this.#deps.captions.readTracks(videoId, tracks);
  }

  /** Makes the video ready. */
  async complete(trx: Database, video: VideoRow, result: AttemptResult): Promise<() => void> {
    const { manifest, texts, sourceSha256, artifacts } = result;
    const renditions = await this.#deps.playback.store(trx, video.id, manifest);
    await addArtifacts(trx, video.id, artifacts);
    await this.#deps.captions.storeTracks(trx, video, texts);
    await this.#deps.chapters.storeThoseOfFile(trx, video, manifest.chapters);
    await this.#deps.lifecycle.complete(trx, video, { manifest, renditions, sourceSha256 });
    await this.#deps.usage.countTranscode(trx, video, result.transcodedSeconds);
    return () => {
      this.#deps.metrics.attemptEnded('completed');
      const { uploaded_at } = video;
      if (uploaded_at !== null) this.#deps.metrics.videoReady((Date.now() - uploaded_at.getTime()) / 1000);
    };
  }

  /** Fails the video. */
  async fail(trx: Database, video: VideoRow, end: AttemptEnd): Promise<() => void> {
    await this.#deps.lifecycle.fail(trx, video, end);
    return () => {
      this.#reportEnd(video, end);
      this.#deps.metrics.videoFailed(end.code);
    };
  }

  /** Lets the video wait for another attempt. */
  async repeat(trx: Database, video: VideoRow, end: AttemptEnd, next: NextAttempt): Promise<() => void> {
    await this.#deps.lifecycle.nextAttempt(trx, video, end.outcome, next);
    return () => this.#reportEnd(video, end);
  }

  #reportEnd({ id, attempt }: VideoRow, { outcome, code }: AttemptEnd): void {
    this.#deps.logger.info('attempt.ended', {
      videoId: id,
      attempt,
      outcome,
      ...reasonOf({ outcome, code }),
    });
    this.#deps.metrics.attemptEnded(outcome);
  }
}

/** The code of a failure, for the log. Work that an engine handed back did not fail. */
export function reasonOf({ outcome, code }: { outcome: AttemptOutcome; code: string }): { code?: string } {
  return outcome === 'handed_back' ? {} : { code };
}

/** The plan of the attempt that made a video ready; undefined if none has. */
export function completedPlan(db: Database, videoId: string): Promise<TaskPlan | undefined> {
  return findCompletedPlan(db, videoId);
}
