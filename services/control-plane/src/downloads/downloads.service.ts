import { type DownloadName, downloadExtension } from '@framelane/contracts/outputs/download';
import { outputPrefix } from '@framelane/object-store/object-keys';
import type { components } from '@framelane/openapi/types';
import { Problem } from '@framelane/service-kit/problem';
import { removeArtifact } from '../artifacts/artifacts.service.ts';
import type { Commit, Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { askForDownloads, planDownloads } from '../outputs/downloads.ts';
import { notPlayable } from '../playback/playback-access.service.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import type { StoredFile } from '../stored-files/stored-file.ts';
import type { FileHeaders, StoredFiles } from '../stored-files/stored-files.ts';
import { beginDerivations, bytesStored, endDerivations } from '../tasks/derivations.ts';
import { attachment } from '../videos/attachment.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';
import { type VideosService, videoFailed, videoNotFound } from '../videos/videos.service.ts';
import { findDownload, removeDownload } from './downloads.store.ts';

type Download = components['schemas']['Download'];

type Deps = {
  db: Database;
  files: StoredFiles;
  lifecycle: VideoLifecycle;
  videos: VideosService;
  quotas: QuotasService;
};

/** Prepares, lists, sends and deletes the files of videos that people can save. */
export class DownloadsService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** All downloads of a video. Throws 404 `video_not_found`. */
  async list(workspaceId: string, videoId: string): Promise<Download[]> {
    return (await this.#deps.videos.get(workspaceId, videoId)).downloads;
  }

  /**
   * Prepares files of a video: at once if it is ready, else when it becomes ready. Resolves with all downloads of the video. Throws 404
   * `video_not_found`, 409 `video_failed` or `rendition_not_available`, and 403 `quota_exceeded`.
   */
  prepare(workspaceId: string, videoId: string, names: readonly DownloadName[]): Commit<Download[]> {
    return async (trx) => {
      const video = await this.#lock(trx, workspaceId, videoId);
      if (video.status === 'failed') throw videoFailed();
      const missing = await askForDownloads(trx, videoId, names);
      if (video.status === 'ready') await this.#begin(trx, video, missing);
      return (await this.#deps.videos.read(trx, workspaceId, videoId)).downloads;
    };
  }

  /** Begins the work at once, after the transaction of `prepare` was committed. */
  prepareCommitted(): void {
    this.#deps.lifecycle.committed();
  }

  /** Deletes a download, or ends its preparation. Throws 404 `video_not_found` or `download_not_found`. */
  async delete(workspaceId: string, videoId: string, name: DownloadName): Promise<void> {
    await this.#deps.lifecycle.transaction(async (trx) => {
      const video = await this.#lock(trx, workspaceId, videoId);
      if (!(await removeDownload(trx, videoId, name))) throw downloadNotFound(name);
      await endDerivations(trx, video, { kind: 'download', name });
      await removeArtifact(trx, videoId, { kind: 'download', name });
      await this.#deps.lifecycle.requestPurge(trx, videoId);
    });
  }

  /** The file of a download that is ready. Throws 404 `video_not_found`. */
  async file(
    workspaceId: string,
    videoId: string,
    name: DownloadName,
  ): Promise<{ file: StoredFile; headers: FileHeaders }> {
    const found = await findDownload(this.#deps.db, workspaceId, videoId, name);
    if (found === undefined) throw notPlayable();
    const { title, bytes, attempt, folder } = found;
    const extension = downloadExtension(name);
    const key = `${outputPrefix({ workspaceId, videoId, attempt, folder })}download.${extension}`;
    const headers = {
      'Content-Type': name === 'audio' ? 'audio/mp4' : 'video/mp4',
      'Content-Disposition': attachment(`${fileNameOf(title)}.${extension}`),
      // The URL can get another file.
      'Cache-Control': 'private, no-cache',
    };
    // Each try of a task has a folder of its own.
    const etag = `"${videoId}-${attempt}-${folder.slice(0, -1)}"`;
    const object = { key, bytes, shared: false, missing: notPlayable };
    return { headers, file: this.#deps.files.open(object, etag, headers) };
  }

  async #begin(trx: Database, video: VideoRow, names: readonly DownloadName[]): Promise<void> {
    const {
      works,
      impossible: [impossible],
    } = await planDownloads(trx, video, names);
    if (impossible !== undefined) throw new Problem('rendition_not_available', impossible.message);
    const bytes = await bytesStored(trx, video, works, video.duration ?? 0);
    await this.#deps.quotas.requireBytes(trx, video.workspace_id, bytes);
    await beginDerivations(trx, video, works);
  }

  async #lock(trx: Database, workspaceId: string, videoId: string): Promise<VideoRow> {
    const video = await this.#deps.lifecycle.lock(trx, videoId);
    if (video?.workspace_id !== workspaceId) throw videoNotFound(videoId);
    return video;
  }
}

/** A title as the name of a file: without characters that a file system refuses, and not so long that it refuses the name. */
function fileNameOf(title: string): string {
  const name = title
    .replaceAll(/[/\\:*?"<>|]/g, '_')
    .replace(/^[. ]+/, '')
    .trimEnd();
  return name === '' ? 'video' : [...name].slice(0, MAX_NAME_LENGTH).join('');
}

/** In characters; file systems limit names to 255 bytes, and one character has up to 4. */
const MAX_NAME_LENGTH = 60;

function downloadNotFound(name: DownloadName): Problem {
  return new Problem(
    'download_not_found',
    `This video has no download ${name}. POST /videos/{id}/downloads prepares it.`,
  );
}
