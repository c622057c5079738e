import { Problem } from '@framelane/service-kit/problem';
import { storedSource } from '../artifacts/artifacts.service.ts';
import type { Database } from '../db/database.ts';
import type { StoredFile } from '../stored-files/stored-file.ts';
import type { FileHeaders, StoredFiles } from '../stored-files/stored-files.ts';
import { attachment } from './attachment.ts';
import type { VideoLifecycle } from './video-lifecycle.ts';
import { videoNotFound } from './videos.service.ts';
import { findVideo } from './videos.store.ts';

/** Returns and deletes the uploaded files of a workspace. */
export class SourcesService {
  readonly #db: Database;
  readonly #files: StoredFiles;
  readonly #lifecycle: VideoLifecycle;

  constructor(deps: {
    db: Database;
    files: StoredFiles;
    lifecycle: VideoLifecycle;
  }) {
    this.#db = deps.db;
    this.#files = deps.files;
    this.#lifecycle = deps.lifecycle;
  }

  /** The source of a video in any state. Throws 404 `video_not_found` or `source_not_found`. */
  async find(workspaceId: string, videoId: string): Promise<{ file: StoredFile; headers: FileHeaders }> {
    const video = await findVideo(this.#db, workspaceId, videoId);
    if (video === undefined) throw videoNotFound(videoId);
    const source = await storedSource(this.#db, video);
    if (source === undefined) throw sourceNotFound(video.source_deleted_at);
    const { key, bytes } = source;
    const headers = headersOf(video.filename);
    // It was deleted since its row was read.
    const missing = () => sourceNotFound(null);
    // Each transfer has a key of its own, so the ids in the key identify the file.
    const etag = `"${key.split('/').slice(2, -1).join('-')}"`;
    return { headers, file: this.#files.open({ key, bytes, shared: false, missing }, etag, headers) };
  }

  /**
   * Deletes the source of a ready or failed video; a source that is already deleted stays deleted. Throws 404 `video_not_found`
   * and, while the source is uploaded or transcoded, 409 `source_in_use`.
   */
  async delete(workspaceId: string, videoId: string): Promise<void> {
    await this.#lifecycle.transaction(async (trx) => {
      const video = await this.#lifecycle.lock(trx, videoId);
      if (video?.workspace_id !== workspaceId) throw videoNotFound(videoId);
      if (video.status === 'uploading' || video.status === 'processing') throw sourceInUse(video.status);
      await this.#lifecycle.deleteSource(trx, videoId, 'now');
    });
  }
}

/** Browsers save a source and never interpret it. */
function headersOf(filename: string): FileHeaders {
  return {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': attachment(filename),
    'Cache-Control': 'private, no-store',
  };
}

function sourceNotFound(deletedAt: Date | null): Problem {
  return new Problem(
    'source_not_found',
    deletedAt === null
      ? 'The uploaded file of this video is not stored.'
      : `The uploaded file of this video was deleted at ${deletedAt.toISOString()}.`,
  );
}

function sourceInUse(status: string): Problem {
  return new Problem(
    'source_in_use',
    `The uploaded file is needed while the video is ${status}. Delete it when the video is ready or failed.`,
  );
}
