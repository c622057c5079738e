import type { ObjectStore } from '@framelane/object-store/object-store';
import { Problem } from '@framelane/service-kit/problem';
import { storedSource } from '../artifacts/artifacts.service.ts';
import type { Database } from '../db/database.ts';
import { PRESIGNED_SECONDS, type StoredFile } from '../stored-files/stored-file.ts';
import type { StoredReads } from '../stored-files/stored-reads.ts';
import { attachment } from './attachment.ts';
import type { VideoLifecycle } from './video-lifecycle.ts';
import { videoNotFound } from './videos.service.ts';
import { findVideo } from './videos.store.ts';

/** The headers of a response with a source: browsers save it and never interpret it. */
export type SourceHeaders = ReturnType<typeof headersOf>;

/** Returns and deletes the uploaded files of a workspace. */
export class SourcesService {
  readonly #db: Database;
  readonly #reads: StoredReads;
  readonly #lifecycle: VideoLifecycle;
  readonly #presign: ObjectStore['presign'];

  /** With `redirects`, clients get sources from the object store; it must be able to presign URLs. */
  constructor(deps: {
    db: Database;
    objects: ObjectStore;
    reads: StoredReads;
    lifecycle: VideoLifecycle;
    redirects: boolean;
  }) {
    this.#db = deps.db;
    this.#reads = deps.reads;
    this.#lifecycle = deps.lifecycle;
    this.#presign = deps.redirects ? deps.objects.presign?.bind(deps.objects) : undefined;
  }

  /** The source of a video in any state. Throws 404 `video_not_found` or `source_not_found`. */
  async find(workspaceId: string, videoId: string): Promise<{ file: StoredFile; headers: SourceHeaders }> {
    const video = await findVideo(this.#db, workspaceId, videoId);
    if (video === undefined) throw videoNotFound(videoId);
    const source = await storedSource(this.#db, video);
    if (source === undefined) throw sourceNotFound(video.source_deleted_at);
    const { key, bytes } = source;
    const headers = headersOf(video.filename);
    const presigned = {
      contentType: headers['Content-Type'],
      contentDisposition: headers['Content-Disposition'],
      cacheControl: headers['Cache-Control'],
    };
    const presign = this.#presign;
    // It was deleted since its row was read.
    const missing = () => sourceNotFound(null);
    return {
      headers,
      file: {
        bytes,
        // Each transfer has a key of its own, so the ids in the key identify the file.
        etag: `"${key.split('/').slice(2, -1).join('-')}"`,
        read: (range) => this.#reads.read({ key, bytes, shared: false, missing }, range),
        presign: presign && (() => presign(key, PRESIGNED_SECONDS, presigned)),
      },
    };
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

function headersOf(filename: string) {
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
