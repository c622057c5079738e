import { frameSeconds, planClip, secondsOf, windowOf } from '@framelane/contracts/clip-plan';
import { newId } from '@framelane/contracts/ids';
import { isShorter, MIN_DURATION_SECONDS } from '@framelane/contracts/shortest-duration';
import type { TaskPlan } from '@framelane/contracts/transcode-plan';
import type { components } from '@framelane/openapi/types';
import { invalidField, Problem } from '@framelane/service-kit/problem';
import { completedPlan } from '../attempts/attempts.service.ts';
import type { CaptionsService } from '../captions/captions.service.ts';
import type { ChaptersService } from '../chapters/chapters.service.ts';
import type { Commit, Database } from '../db/database.ts';
import type { Environment, VideoRow } from '../db/schema.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import { rateLimited } from '../rate-limits/window-counter.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import type { VideoRecord } from '../videos/video-record.ts';
import { type VideosService, videoFailed, videoNotFound } from '../videos/videos.service.ts';
import { bytesOf } from './clip-work.ts';
import { countUnfinished, findParentRenditions, insertClip } from './clips.store.ts';

/** Clips of one video that may wait or be made at the same time. The deletion of the video ends them in one transaction. */
const MAX_UNFINISHED = 100;

type ClipRequest = components['schemas']['ClipRequest'];

type Owner = { workspaceId: string; environment: Environment };

type Deps = {
  db: Database;
  lifecycle: VideoLifecycle;
  videos: VideosService;
  captions: CaptionsService;
  chapters: ChaptersService;
  quotas: QuotasService;
  testVideoHours: number;
};

/** Makes new videos from parts of others. An engine makes each in an attempt with one task. */
export class ClipsService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Creates a clip of a ready video, and begins its first attempt. Throws 404 `video_not_found`, 409 `video_not_ready` or `video_failed`, 400
   * `validation_failed` if the video has no such part, 403 `quota_exceeded`, and 429 if too many clips of the video are unfinished, or too many
   * captions of the workspace wait to be read.
   */
  async create(owner: Owner, parentId: string, request: ClipRequest): Promise<Commit<VideoRecord>> {
    const { db } = this.#deps;
    const { workspaceId } = owner;
    const { status } = await this.#deps.videos.get(workspaceId, parentId);
    if (status === 'failed') throw videoFailed();
    if (status !== 'ready') throw notReady(status);
    // Refused before its captions are cut: a flood of requests costs little.
    await requireFewUnfinished(db, parentId);
    const planned = await partOf(db, parentId, request);
    const times = { from: Math.round(planned.start * 1000), to: Math.round(planned.end * 1000) };
    const captions = await this.#deps.captions.cut(workspaceId, parentId, times);
    return async (trx) => {
      const parent = await this.#deps.lifecycle.lock(trx, parentId);
      if (parent?.workspace_id !== workspaceId) throw videoNotFound(parentId);
      await requireFewUnfinished(trx, parentId);
      const bytesOfCaptions = captions.reduce((sum, { cues }) => sum + cues.bytes, 0);
      await this.#deps.quotas.requireRoomForClip(trx, workspaceId, planned.bytes.stored + bytesOfCaptions);
      const videoId = newId('vid');
      await this.#insert(trx, { videoId, owner, parent, request });
      await insertClip(trx, {
        video_id: videoId,
        parent_id: parentId,
        first_frame: planned.firstFrame,
        frames: planned.frames,
        starts_at: planned.start,
        ends_at: planned.end,
        stored_bytes: planned.bytes.stored,
        disk_bytes: planned.bytes.onDisk,
      });
      await this.#deps.captions.storeCut(trx, videoId, captions);
      await this.#deps.chapters.storeCut(trx, { id: videoId, parent }, times);
      await this.#deps.lifecycle.beginClip(trx, videoId);
      return this.#deps.videos.read(trx, workspaceId, videoId);
    };
  }

  /** Begins the work at once, after the transaction of `create` was committed. */
  createCommitted(): void {
    this.#deps.lifecycle.committed();
  }

  async #insert(
    trx: Database,
    {
      videoId,
      owner: { workspaceId, environment },
      parent,
      request: { start: _start, end: _end, ...own },
    }: { videoId: string; owner: Owner; parent: VideoRow; request: ClipRequest },
  ): Promise<void> {
    await this.#deps.videos.create(trx, {
      // Who may play a video may play its clips, and nobody else, unless the request says so.
      playbackPolicy: parent.playback_policy,
      allowedOrigins: parent.allowed_origins,
      ...own,
      id: videoId,
      workspaceId,
      environment,
      status: 'processing',
      title: own.title ?? parent.title,
      filename: parent.filename,
      audioOnly: parent.variants?.length === 0,
      // Its segments are those of the parent.
      packaging: parent.packaging,
      codecs: [],
      // It is part of the pictures.
      watermark: parent.watermark ?? undefined,
      removeInSeconds: environment === 'test' ? this.#deps.testVideoHours * 3600 : null,
    });
  }
}

/** The part of a ready video that a request asks for. Throws 400 `validation_failed` if it has no such part. */
async function partOf(db: Database, parentId: string, request: ClipRequest) {
  const plan = await completedPlan(db, parentId);
  if (plan === undefined) throw new Error(`Video ${parentId} has no plan`);
  const window = requestedWindow(plan, request);
  const renditions = await findParentRenditions(db, parentId);
  const { work } = planClip(plan, renditions, window);
  return { ...window, ...secondsOf(plan, window), bytes: bytesOf(work, renditions) };
}

/** The frames of a request. Throws 400 `validation_failed` if the video does not have them. */
function requestedWindow(plan: TaskPlan, { start, end }: Pick<ClipRequest, 'start' | 'end'>) {
  const { duration, frames } = plan.encode;
  const length = Number(duration.toFixed(3));
  const shortest = Math.max(MIN_DURATION_SECONDS, frameSeconds(plan));
  if (end <= start) throw invalidField('body/end', 'out_of_range', 'must be after start');
  const window = windowOf(plan, { start, end });
  if (start >= duration)
    throw invalidField(
      'body/start',
      'out_of_range',
      `must be before the end of the video, at ${length} seconds`,
    );
  // The request counts, not the frames nearest to its times: a clip of the shortest length can have one frame fewer.
  if (isShorter(end - start, shortest))
    throw invalidField(
      'body/end',
      'out_of_range',
      `must be at least ${Number(shortest.toFixed(3))} seconds after start`,
    );
  if (window.firstFrame + window.frames > frames)
    throw invalidField(
      'body/end',
      'out_of_range',
      `must be at most ${length}, the duration of the video in seconds`,
    );
  return window;
}

/** Throws 429 `rate_limited` if too many clips of a video are unfinished. */
async function requireFewUnfinished(db: Database, parentId: string): Promise<void> {
  if ((await countUnfinished(db, parentId)) < MAX_UNFINISHED) return;
  throw rateLimited(`${MAX_UNFINISHED} clips of this video are not ready yet: no more at a time.`, 10);
}

function notReady(status: string): Problem {
  return new Problem('video_not_ready', `Clips can be made of a video that is ready; this one is ${status}.`);
}
