import { PACKAGINGS } from '@framelane/contracts/packaging';
import { isAudioRendition, type RenditionName, RUNGS, rungsOf } from '@framelane/contracts/renditions';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { segmentKey, taskFolder } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import { LRUCache } from 'lru-cache';
import pTimeout from 'p-timeout';
import type { Database } from '../db/database.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RenditionFacts } from './master-playlist.ts';
import type { RenditionSegments } from './media-playlist.ts';
import {
  type PlannedVideo,
  plannedRenditions,
  plannedSegments,
  plannedVideo,
  taskOf,
} from './planned-renditions.ts';
import { hasAudioStarted, playableRungs } from './playable-rungs.ts';
import type { RenditionAddress, SegmentAddress, StoredSegment } from './playback.store.ts';
import { type Lookup, PreviewWaits } from './preview-waits.ts';
import {
  findLatestTry,
  findOffer,
  findPlan,
  findPreview,
  findPreviewedAttempt,
  findStartedInitialization,
  storePreview,
  withdrawPreview,
} from './previews.store.ts';

/** Time limit for a response of the object store. */
const LOOKUP_TIMEOUT_MS = 5000;
/** Segments of this many earlier tries of a task are served until the latest try has stored its own. */
const EARLIER_TRIES = 2;
/** Plans that are kept in memory. */
const MAX_PLANS = 50;

type Attempt = { videoId: string; attempt: number };

/** The task, and its attempt, that produces a segment. */
type Place = { attempt: number; task: number };

type Deps = {
  db: Database;
  objects: Pick<ObjectStore, 'head'>;
  logger: Logger;
  metrics: Metrics;
  waitMs?: number;
  maxWaits?: number;
};

/**
 * Serves videos while engines transcode them. The plan lists all segments, so the playlists are complete from the start. A request
 * for a segment waits until it is stored.
 */
export class PreviewsService {
  readonly #deps: Deps;
  readonly #waits: PreviewWaits;
  /** By video and attempt. */
  readonly #plans = new LRUCache<string, PlannedVideo>({ max: MAX_PLANS });
  /** Attempts, by video and number, that have nothing left to offer. */
  readonly #offered = new LRUCache<string, true>({ max: MAX_PLANS });

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#waits = new PreviewWaits(deps);
  }

  /**
   * Offers the renditions of an open attempt that viewers can play now. Call it when its tasks have progressed. Renditions that
   * were offered stay offered.
   */
  async offer(attempt: Attempt): Promise<void> {
    const key = keyOf(attempt);
    if (this.#offered.has(key)) return;
    const state = await findOffer(this.#deps.db, attempt);
    const plan = state && (await this.#plan(attempt));
    if (state === undefined || plan === undefined) return;
    const offered = state.offered ?? [];
    const rungs = rungsOf(plan.encode.videoRenditions.map(({ name }) => name)).length;
    if (state.offered !== null && offered.length === rungs) {
      this.#offered.set(key, true);
      return;
    }
    const playable = [...offered, ...playableRungs(plan, state.tasks)];
    const variants = RUNGS.filter((rung) => playable.includes(rung));
    // Sound alone can be played as soon as it has begun: encoding audio is many times faster than playback.
    const isNew = rungs === 0 ? hasAudioStarted(plan, state.tasks) : variants.length > offered.length;
    if (!isNew) return;
    // Another control plane was first, or the attempt has ended.
    if (!(await storePreview(this.#deps.db, attempt, { offered: state.offered, variants }))) return;
    if (variants.length === rungs) this.#offered.set(key, true);
    this.#deps.logger.info('video.preview_offered', { ...attempt, title: state.title, variants });
    // The metric is the time until the first preview of a first attempt.
    if (state.offered !== null || state.uploadedAt === null || attempt.attempt > 1) return;
    this.#deps.metrics.previewOffered((Date.now() - state.uploadedAt.getTime()) / 1000);
  }

  /** Keeps the plan of an attempt, which is stored by now, so that its first offer need not read it. */
  planned(attempt: Attempt, plan: TranscodePlan): void {
    if (plan.revision === 0) this.#plans.set(keyOf(attempt), plannedVideo(plan));
  }

  /** Ends the preview of a video because another plan replaces that of its attempt. */
  async withdraw(trx: Database, videoId: string): Promise<void> {
    await withdrawPreview(trx, videoId);
  }

  /** The renditions that the master playlist of a preview offers; undefined if the video has no preview. */
  async renditions(workspaceId: string, videoId: string): Promise<RenditionFacts[] | undefined> {
    const preview = await findPreview(this.#deps.db, workspaceId, videoId);
    const plan = preview && (await this.#plan({ videoId, attempt: preview.attempt }));
    if (preview === undefined || plan === undefined) return undefined;
    return plannedRenditions(plan, preview.startedRenditions).filter(
      ({ name }) => isAudioRendition(name) || rungsOf([name]).some((rung) => preview.variants.includes(rung)),
    );
  }

  /** All segments of one rendition of a preview; undefined if the video has no preview, or the plan has no such rendition. */
  async segments(
    workspaceId: string,
    videoId: string,
    rendition: RenditionName,
  ): Promise<RenditionSegments | undefined> {
    const preview = await this.#preview(workspaceId, videoId);
    return preview && plannedSegments(preview.plan, rendition);
  }

  /**
   * A segment of a preview. Waits until it is stored. Undefined if the video has no preview or another packaging, its preview ends, or the
   * plan has no such segment. Throws 503 `unavailable` if it is not stored within the time limit, or too many requests wait.
   */
  async segment(address: SegmentAddress): Promise<StoredSegment | undefined> {
    const { workspaceId, videoId, rendition, sequence, packaging } = address;
    const preview = await this.#preview(workspaceId, videoId);
    if (preview?.plan.encode.packaging !== packaging) return undefined;
    const { attempt, plan } = preview;
    const task = taskOf(plan, rendition, sequence);
    if (task === undefined) return undefined;
    return this.#waits.find({ workspaceId, videoId, name: `${rendition}/${sequence}` }, (isFirst) =>
      this.#lookUp(address, { attempt, task }, isFirst ? EARLIER_TRIES : 0),
    );
  }

  /**
   * The initialization section of a rendition of a preview. Waits until the first segment of the rendition is stored. Undefined if the video
   * has no preview, its preview ends, or the plan has no such rendition or no initialization sections. Throws 503 like `segment`.
   */
  async initialization({ workspaceId, videoId, rendition }: RenditionAddress): Promise<Buffer | undefined> {
    const preview = await this.#preview(workspaceId, videoId);
    if (preview === undefined) return undefined;
    const { attempt, plan } = preview;
    const { initialization: name } = PACKAGINGS[plan.encode.packaging];
    if (name === null || taskOf(plan, rendition, 0) === undefined) return undefined;
    return this.#waits.find({ workspaceId, videoId, name: `${rendition}/${name}` }, async () => {
      const found = await findStartedInitialization(this.#deps.db, { videoId, attempt }, rendition);
      if (found === undefined) return { attemptHasEnded: true };
      return { attemptHasEnded: false, found: found === null ? undefined : Buffer.from(found, 'base64') };
    });
  }

  /** The open attempt at a video with a preview, and its plan. */
  async #preview(
    workspaceId: string,
    videoId: string,
  ): Promise<{ attempt: number; plan: PlannedVideo } | undefined> {
    const attempt = await findPreviewedAttempt(this.#deps.db, workspaceId, videoId);
    const plan = attempt === undefined ? undefined : await this.#plan({ videoId, attempt });
    return attempt === undefined || plan === undefined ? undefined : { attempt, plan };
  }

  /** Looks up a segment in the folder of the latest try of the task, and then in those of `earlierTries` earlier ones. */
  async #lookUp(
    address: SegmentAddress,
    { attempt, task }: Place,
    earlierTries: number,
  ): Promise<Lookup<StoredSegment>> {
    const { videoId, rendition, sequence, packaging } = address;
    const latest = await findLatestTry(this.#deps.db, { videoId, attempt, task });
    if (latest === undefined) return { attemptHasEnded: true };
    const earliest = Math.max(1, latest - earlierTries);
    for (let tryNumber = latest; tryNumber >= earliest; tryNumber -= 1) {
      const folder = taskFolder(task, tryNumber);
      const key = segmentKey({ ...address, attempt, folder }, rendition, sequence, packaging);
      try {
        const stored = await pTimeout(this.#deps.objects.head(key), { milliseconds: LOOKUP_TIMEOUT_MS });
        if (stored !== null)
          return { attemptHasEnded: false, found: { attempt, folder, bytes: stored.bytes } };
      } catch (error) {
        return { attemptHasEnded: false, error };
      }
    }
    return { attemptHasEnded: false };
  }

  async #plan(attempt: Attempt): Promise<PlannedVideo | undefined> {
    const key = keyOf(attempt);
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    const plan = await findPlan(this.#deps.db, attempt);
    // A plan that replaces another one has no preview.
    if (plan === undefined || plan.revision > 0) return undefined;
    const planned = plannedVideo(plan);
    this.#plans.set(key, planned);
    return planned;
  }
}

function keyOf({ videoId, attempt }: Attempt): string {
  return `${videoId}/${attempt}`;
}
