import type { components } from '@framelane/openapi/types';
import { Problem } from '@framelane/service-kit/problem';
import type { Commit, Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { askForAutoCaptions, existingCaptions, planAutoCaptions } from '../outputs/auto-captions.ts';
import {
  type AutoCaptionsChoice,
  readLanguages,
  requireRecognizer,
} from '../outputs/auto-captions-request.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import { beginDerivations, bytesStored } from '../tasks/derivations.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import { type VideosService, videoFailed, videoNotFound } from '../videos/videos.service.ts';

type AutoCaptions = components['schemas']['AutoCaptions'];

type Deps = {
  lifecycle: VideoLifecycle;
  videos: VideosService;
  quotas: QuotasService;
  /** Whether engines can recognise speech. */
  hasRecognizer: boolean;
};

/** Asks for captions by speech recognition. */
export class AutoCaptionsService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Makes captions of a video: at once if it is ready, else when it becomes ready. Resolves with all that were asked for. Throws 409
   * `auto_captions_not_configured`, `video_failed`, `captions_exist` or `audio_not_available`, 400 for a text that is not a language, 404 `video_not_found`, and
   * 403 `quota_exceeded`.
   */
  generate(workspaceId: string, videoId: string, choice: AutoCaptionsChoice): Commit<AutoCaptions[]> {
    requireRecognizer(this.#deps.hasRecognizer);
    const languages = readLanguages(choice);
    return async (trx) => {
      const video = await this.#deps.lifecycle.lock(trx, videoId);
      if (video?.workspace_id !== workspaceId) throw videoNotFound(videoId);
      if (video.status === 'failed') throw videoFailed();
      const existing = await existingCaptions(trx, videoId, languages);
      if (existing !== undefined) throw new Problem('captions_exist', existing.message);
      const missing = await askForAutoCaptions(trx, videoId, languages);
      if (video.status === 'ready') await this.#begin(trx, video, missing);
      return (await this.#deps.videos.read(trx, workspaceId, videoId)).autoCaptions;
    };
  }

  /** Begins the work at once, after the transaction of `generate` was committed. */
  generateCommitted(): void {
    this.#deps.lifecycle.committed();
  }

  async #begin(trx: Database, video: VideoRow, languages: readonly string[]): Promise<void> {
    const {
      works,
      impossible: [impossible],
    } = await planAutoCaptions(trx, video, languages);
    if (impossible !== undefined) throw new Problem('audio_not_available', impossible.failure.message);
    const bytes = await bytesStored(trx, video, works, video.duration ?? 0);
    if (bytes > 0) await this.#deps.quotas.requireBytes(trx, video.workspace_id, bytes);
    await beginDerivations(trx, video, works);
  }
}
