import { Problem } from '@framelane/service-kit/problem';
import { addArtifacts, chosenPosterBytes, removeArtifact } from '../artifacts/artifacts.service.ts';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import type { VideoRecord } from '../videos/video-record.ts';
import { type VideosService, videoNotFound } from '../videos/videos.service.ts';
import { pickPoster } from './picked-poster.ts';
import { readPoster } from './poster-image.ts';
import { removePoster, savePoster } from './posters.store.ts';

/** Stores the posters that clients set. Each takes the place of the frame that the engine has chosen. */
export class PostersService {
  readonly #lifecycle: VideoLifecycle;
  readonly #videos: VideosService;
  readonly #quotas: QuotasService;

  constructor(deps: { lifecycle: VideoLifecycle; videos: VideosService; quotas: QuotasService }) {
    this.#lifecycle = deps.lifecycle;
    this.#videos = deps.videos;
    this.#quotas = deps.quotas;
  }

  /**
   * Sets or replaces the poster of a video in any state with a JPEG image, whose metadata is removed. Throws 400 `invalid_poster`, 403 `quota_exceeded`
   * and 404 `video_not_found`.
   */
  async set(workspaceId: string, videoId: string, sent: Buffer): Promise<VideoRecord> {
    const { image, facts } = readPoster(sent);
    const { bytes, ...size } = facts;
    await this.#change(workspaceId, videoId, async (trx, video) => {
      if (video.poster_time !== null) await pickPoster(trx, video, null, { lifecycle: this.#lifecycle });
      const growth = bytes - (await chosenPosterBytes(trx, videoId));
      if (growth > 0) await this.#quotas.requireBytes(trx, workspaceId, growth);
      await savePoster(trx, videoId, { image, size });
      await addArtifacts(trx, videoId, [{ kind: 'chosen_poster', bytes }]);
    });
    return this.#videos.get(workspaceId, videoId);
  }

  /** Deletes the poster that a client has set. Throws 404 `video_not_found` or `poster_not_found`. */
  async delete(workspaceId: string, videoId: string): Promise<void> {
    await this.#change(workspaceId, videoId, async (trx, { chosen_poster: poster }) => {
      if (poster === null) throw posterNotFound();
      await removePoster(trx, videoId);
      await removeArtifact(trx, videoId, { kind: 'chosen_poster' });
    });
  }

  #change(
    workspaceId: string,
    videoId: string,
    change: (trx: Database, video: VideoRow) => Promise<void>,
  ): Promise<void> {
    return this.#lifecycle.transaction(async (trx) => {
      const video = await this.#lifecycle.lock(trx, videoId);
      if (video?.workspace_id !== workspaceId) throw videoNotFound(videoId);
      await change(trx, video);
    });
  }
}

function posterNotFound(): Problem {
  return new Problem(
    'poster_not_found',
    'No image was set as the poster of this video. Its poster is a frame of it; `posterTime` says which.',
  );
}
