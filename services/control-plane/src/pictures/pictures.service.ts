import { type PictureFormat, pictureFile } from '@framelane/contracts/outputs/picture';
import { outputPrefix } from '@framelane/object-store/object-keys';
import type { Logger } from '@framelane/service-kit/logger';
import { invalidField, Problem, unavailable } from '@framelane/service-kit/problem';
import { removeArtifacts } from '../artifacts/artifacts.service.ts';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import {
  type MovingRequest,
  type PicturedVideo,
  type PlannedPicture,
  planMoving,
  planStill,
  type StillRequest,
} from '../outputs/picture-plan.ts';
import { picturedVideo, workOf } from '../outputs/pictures.ts';
import { notPlayable } from '../playback/playback-access.service.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import type { StoredFile } from '../stored-files/stored-file.ts';
import type { StoredFiles } from '../stored-files/stored-files.ts';
import { beginDerivations } from '../tasks/derivations.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import type { PictureLimits } from './picture-limits.ts';
import type { PictureWaits } from './picture-waits.ts';
import {
  countPreparing,
  deleteLeastRecentlyUsed,
  findPicture,
  type PictureState,
  type StoredPicture,
  savePreparing,
  saveUse,
  sumUpPictures,
} from './pictures.store.ts';

/** The part of the stored pictures that is kept when there are too many. */
const KEPT = 0.9;
/** A picture that could not be made is tried again after this time. */
const FAILED_SECONDS = 60;
/** A use is stored unless one was stored within this time. */
const USE_SECONDS = 3600;

type Deps = {
  db: Database;
  files: StoredFiles;
  lifecycle: VideoLifecycle;
  quotas: QuotasService;
  waits: PictureWaits;
  logger: Logger;
  limits: PictureLimits;
};

/** A picture that is being made. */
type Making = { workspaceId: string; videoId: string; made: Promise<StoredPicture> };

/** Serves still and moving pictures of ready videos. Engines make those that are not stored. */
export class PicturesService {
  readonly #deps: Deps;
  /** Pictures that requests wait for, by video and name. Requests for the same picture share a wait. */
  readonly #making = new Map<string, Making>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * The frame of a video at a time. Waits until an engine has made it. Throws 400 `validation_failed` for a time beyond the end, 403 `quota_exceeded`,
   * 404 `video_not_found` unless the video is ready and has a picture, 429 `rate_limited` and 503 `unavailable`.
   */
  still(workspaceId: string, videoId: string, request: StillRequest): Promise<StoredFile> {
    return this.#serve(workspaceId, videoId, 'time', (video) => planStill(request, video));
  }

  /** A moving picture of a video. Throws as `still` does. */
  moving(workspaceId: string, videoId: string, request: MovingRequest): Promise<StoredFile> {
    // The validator of the contract accepts "Infinity" as a number below every maximum.
    if (!Number.isFinite(request.duration))
      throw invalidField('query/duration', 'maximum', 'must be a number');
    return this.#serve(workspaceId, videoId, 'start', (video) => planMoving(request, video));
  }

  async #serve(
    workspaceId: string,
    videoId: string,
    timeField: string,
    plan: (video: PicturedVideo) => PlannedPicture | undefined,
  ): Promise<StoredFile> {
    const video = await picturedVideo(this.#deps.db, workspaceId, videoId);
    if (video === undefined || video.renditions.length === 0) throw notPlayable();
    const picture = plan(video);
    if (picture === undefined) throw beyondTheEnd(timeField, video.duration);
    const place =
      (await this.#stored(workspaceId, videoId, picture)) ??
      (await this.#make(workspaceId, videoId, picture));
    return this.#open(workspaceId, videoId, picture.format, place);
  }

  /** The place of a picture that exists. */
  async #stored(
    workspaceId: string,
    videoId: string,
    { name }: PlannedPicture,
  ): Promise<StoredPicture | undefined> {
    const key = { videoId, name };
    const state = await findPicture(this.#deps.db, workspaceId, key);
    if (state === undefined || state.status === 'preparing') return undefined;
    const place = placeOf(state);
    if (place !== undefined && state.ageSeconds > USE_SECONDS) {
      // The response does not wait for it.
      saveUse(this.#deps.db, key, USE_SECONDS).catch((error: unknown) =>
        this.#deps.logger.debug('pictures.use_not_stored', { videoId, error }),
      );
    }
    return place;
  }

  /** Lets an engine make a picture, and waits for it. */
  #make(workspaceId: string, videoId: string, picture: PlannedPicture): Promise<StoredPicture> {
    const key = `${videoId}/${picture.name}`;
    const making = this.#making.get(key);
    if (making !== undefined) return making.made;
    this.#requireShare(workspaceId, videoId);
    const made = this.#begin(workspaceId, videoId, picture)
      .then(() => this.#deps.waits.end({ videoId, name: picture.name }, this.#deps.limits.waitMs))
      .then((state) => {
        // The video was deleted.
        if (state === undefined) throw notPlayable();
        const place = placeOf(state);
        if (place === undefined) throw notMade();
        return place;
      })
      .finally(() => this.#making.delete(key));
    this.#making.set(key, { workspaceId, videoId, made });
    return made;
  }

  /** Throws 429 for a video or a workspace that has its share of the waits, and 503 if there is no wait left. Takes no lock, so that a flood costs others little. */
  #requireShare(workspaceId: string, videoId: string): void {
    const { limits } = this.#deps;
    const making = [...this.#making.values()];
    const count = (isOfSame: (each: Making) => boolean) => making.filter(isOfSame).length;
    if (count((each) => each.videoId === videoId) >= limits.preparingOfVideo) throw tooMany('video');
    if (count((each) => each.workspaceId === workspaceId) >= limits.preparingOfWorkspace)
      throw tooMany('workspace');
    if (making.length >= limits.waits) throw notMade();
  }

  /** Begins the work on a picture, unless another request has begun it. */
  async #begin(workspaceId: string, videoId: string, picture: PlannedPicture): Promise<void> {
    const { lifecycle, quotas, limits } = this.#deps;
    const key = { videoId, name: picture.name };
    const isBegun = (state: PictureState | undefined) =>
      state?.status === 'preparing' || (state !== undefined && placeOf(state) !== undefined);
    if (isBegun(await findPicture(this.#deps.db, workspaceId, key))) return;
    // Without the lock, so that requests that are refused do not wait for each other.
    await requireFewPreparing(this.#deps.db, { id: videoId, workspace_id: workspaceId }, limits);
    await lifecycle.transaction(async (trx) => {
      const video = await lifecycle.lock(trx, videoId);
      if (video?.workspace_id !== workspaceId || video.status !== 'ready') throw notPlayable();
      if (isBegun(await findPicture(trx, workspaceId, key))) return;
      await requireFewPreparing(trx, video, limits);
      await quotas.requireBytes(trx, workspaceId, estimatedBytes(picture));
      await this.#makeRoom(trx, video);
      await savePreparing(trx, workspaceId, key);
      await beginDerivations(trx, video, [await workOf(trx, video, picture)]);
    });
  }

  /** Deletes the least recently used pictures of a locked video that has the maximum. */
  async #makeRoom(trx: Database, { id }: VideoRow): Promise<void> {
    const { count, bytes } = await sumUpPictures(trx, id);
    const { stored, storedBytes } = this.#deps.limits;
    if (count < stored && bytes < storedBytes) return;
    const kept = { count: Math.floor(KEPT * stored), bytes: KEPT * storedBytes };
    const names = await deleteLeastRecentlyUsed(trx, id, kept);
    await removeArtifacts(trx, id, 'picture', names);
    await this.#deps.lifecycle.requestPurge(trx, id);
  }

  #open(
    workspaceId: string,
    videoId: string,
    format: PictureFormat,
    { attempt, folder, bytes }: StoredPicture,
  ): StoredFile {
    const key = `${outputPrefix({ workspaceId, videoId, attempt, folder })}${pictureFile(format)}`;
    // It was deleted since it was found. The next request finds that out.
    const missing = (error: Error) =>
      unavailable('The picture is made again. Retry in a few seconds.', error);
    // Each try of a task has a folder of its own.
    const etag = `"${videoId}-${attempt}-${folder.slice(0, -1)}"`;
    return this.#deps.files.open({ key, bytes, shared: true, missing }, etag);
  }
}

/** The place of a picture that is ready; undefined if it must be made. Throws 503 if it could not be made a short time ago. */
function placeOf({ status, ageSeconds, place }: PictureState): StoredPicture | undefined {
  if (status === 'failed' && ageSeconds < FAILED_SECONDS) throw couldNotBeMade(FAILED_SECONDS - ageSeconds);
  return place ?? undefined;
}

async function requireFewPreparing(
  db: Database,
  { id, workspace_id: workspaceId }: Pick<VideoRow, 'id' | 'workspace_id'>,
  limits: PictureLimits,
): Promise<void> {
  const { ofVideo, ofWorkspace } = await countPreparing(db, workspaceId, id);
  if (ofVideo >= limits.preparingOfVideo) throw tooMany('video');
  if (ofWorkspace >= limits.preparingOfWorkspace) throw tooMany('workspace');
}

/** Bytes that a picture is likely to have: an eighth of a byte for each pixel. */
function estimatedBytes({ width, height, motion }: PlannedPicture): number {
  return Math.ceil((width * height * (motion?.frames ?? 1)) / 8);
}

function beyondTheEnd(field: string, duration: number): Problem {
  return invalidField(
    `query/${field}`,
    'exclusiveMaximum',
    `must be less than the duration of the video, ${duration} seconds`,
  );
}

const RETRY_SECONDS = 2;

function tooMany(of: 'video' | 'workspace'): Problem {
  return new Problem(
    'rate_limited',
    `Too many pictures of this ${of} are being made at the moment. Retry in a few seconds.`,
    { headers: { 'Retry-After': String(RETRY_SECONDS) } },
  );
}

function notMade(): Problem {
  return unavailable('The picture is not ready yet. Retry in a few seconds.', undefined, RETRY_SECONDS);
}

function couldNotBeMade(seconds: number): Problem {
  return unavailable('The picture could not be made. Retry later.', undefined, Math.ceil(seconds));
}
