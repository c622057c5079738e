import { setTimeout as delay } from 'node:timers/promises';
import {
  isAudioRendition,
  type RenditionName,
  VIDEO_RENDITIONS,
  type VideoRendition,
} from '@framelane/contracts/renditions';
import { segmentKey, taskFolder } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import { type Problem, unavailable } from '@framelane/service-kit/problem';
import { LRUCache } from 'lru-cache';
import type { Database } from '../db/database.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RenditionFacts } from './master-playlist.ts';
import type { SegmentDurations } from './media-playlist.ts';
import { type PlannedVideo, plannedRenditions, plannedSegments, taskOf } from './planned-renditions.ts';
import type { SegmentAddress, StoredSegment } from './playback.store.ts';
import { previewVariants } from './preview-variants.ts';
import {
  findLatestTry,
  findPlan,
  findPreview,
  findPreviewedAttempt,
  findProgressOfTasks,
  storePreview,
} from './previews.store.ts';

/** How long a request waits for a segment that is planned and not stored. Players wait about as long for a response. */
const WAIT_MS = 15_000;
const POLL_MS = 400;
/** Segments that requests wait for at the same time. Each costs two queries and a request to the object store every `POLL_MS`. */
const MAX_WAITS = 200;
/** Plans that are kept in memory. */
const MAX_PLANS = 50;

type Attempt = { videoId: string; attempt: number };

/**
 * Plays long videos while engines make them. The plan knows all segments, so the playlists are complete from the start. A request for a
 * segment waits until it is stored.
 */
export class PreviewsService {
  readonly #db: Database;
  readonly #objects: Pick<ObjectStore, 'head'>;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #waitMs: number;
  readonly #maxWaits: number;
  /** By video and attempt. */
  readonly #plans = new LRUCache<string, PlannedVideo>({ max: MAX_PLANS });
  /** By segment. Requests for one segment share a wait. */
  readonly #waits = new Map<string, Promise<StoredSegment | undefined>>();

  constructor(deps: {
    db: Database;
    objects: Pick<ObjectStore, 'head'>;
    logger: Logger;
    metrics: Metrics;
    waitMs?: number;
    maxWaits?: number;
  }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#waitMs = deps.waitMs ?? WAIT_MS;
    this.#maxWaits = deps.maxWaits ?? MAX_WAITS;
  }

  /** Offers the renditions of an open attempt that viewers can play now. Call it when its tasks have progressed. What is offered remains. */
  async offer(attempt: Attempt): Promise<void> {
    const state = await findProgressOfTasks(this.#db, attempt);
    const plan = state && (await this.#plan(attempt));
    if (state === undefined || plan === undefined) return;
    const playable: readonly VideoRendition[] = [
      ...(state.offered ?? []),
      ...previewVariants(plan, state.tasks),
    ];
    const variants = VIDEO_RENDITIONS.filter((name) => playable.includes(name));
    if (variants.length === (state.offered?.length ?? 0)) return;
    if (!(await storePreview(this.#db, attempt, { offered: state.offered, variants }))) return;
    this.#logger.info('video.preview_offered', { ...attempt, variants });
    if (state.offered !== null || state.uploadedAt === null) return;
    this.#metrics.previewOffered((Date.now() - state.uploadedAt.getTime()) / 1000);
  }

  /** The renditions that the master playlist of a preview offers; undefined if the video has no preview. */
  async renditions(workspaceId: string, videoId: string): Promise<RenditionFacts[] | undefined> {
    const preview = await findPreview(this.#db, workspaceId, videoId);
    const plan = preview && (await this.#plan({ videoId, attempt: preview.attempt }));
    if (preview === undefined || plan === undefined) return undefined;
    return plannedRenditions(plan, preview.begun).filter(
      ({ name }) => isAudioRendition(name) || (preview.variants as RenditionName[]).includes(name),
    );
  }

  /** All segments of one rendition of a preview; undefined if the video has no preview, or the plan has no such rendition. */
  async segments(
    workspaceId: string,
    videoId: string,
    rendition: RenditionName,
  ): Promise<SegmentDurations | undefined> {
    const attempt = await findPreviewedAttempt(this.#db, workspaceId, videoId);
    const plan = attempt === undefined ? undefined : await this.#plan({ videoId, attempt });
    return plan && plannedSegments(plan, rendition);
  }

  /**
   * A segment of a preview. Waits until it is stored. Undefined if the video has no preview or no longer, or the plan has no such segment. Throws 503
   * `unavailable` if it is not stored within the time limit, or too many requests wait.
   */
  segment(address: SegmentAddress): Promise<StoredSegment | undefined> {
    const { workspaceId, videoId, rendition, sequence } = address;
    const key = [workspaceId, videoId, rendition, sequence].join('/');
    const waiting = this.#waits.get(key);
    if (waiting !== undefined) return waiting;
    if (this.#waits.size >= this.#maxWaits) throw notYetStored();
    const wait = this.#wait(address).finally(() => this.#waits.delete(key));
    this.#waits.set(key, wait);
    return wait;
  }

  async #wait(address: SegmentAddress): Promise<StoredSegment | undefined> {
    const { workspaceId, videoId, rendition, sequence } = address;
    for (const end = Date.now() + this.#waitMs; ; ) {
      const attempt = await findPreviewedAttempt(this.#db, workspaceId, videoId);
      const plan = attempt === undefined ? undefined : await this.#plan({ videoId, attempt });
      const task = plan && taskOf(plan, rendition, sequence);
      if (attempt === undefined || task === undefined) return undefined;
      const tryNumber = await findLatestTry(this.#db, { videoId, attempt, task });
      if (tryNumber === undefined) return undefined;
      const folder = taskFolder(task, tryNumber);
      const stored = await this.#objects
        .head(segmentKey({ ...address, attempt, folder }, rendition, sequence))
        // The next look may succeed.
        .catch(() => null);
      if (stored !== null) return { attempt, folder, bytes: stored.bytes };
      if (Date.now() >= end) throw notYetStored();
      await delay(POLL_MS);
    }
  }

  async #plan(attempt: Attempt): Promise<PlannedVideo | undefined> {
    const key = `${attempt.videoId}/${attempt.attempt}`;
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    const plan = await findPlan(this.#db, attempt);
    if (plan !== undefined) this.#plans.set(key, plan);
    return plan;
  }
}

function notYetStored(): Problem {
  return unavailable('This part of the video is not ready yet. Retry in a few seconds.');
}
