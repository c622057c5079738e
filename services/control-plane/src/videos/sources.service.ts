import type { Readable } from 'node:stream';
import { type ByteRange, ObjectNotFoundError, type ObjectStore } from '@framelane/object-store/object-store';
import { Problem, unavailable } from '@framelane/service-kit/problem';
import type { Database } from '../db/database.ts';
import { PRESIGNED_SECONDS, type StoredFile } from '../stored-files/stored-file.ts';
import { attachment } from './attachment.ts';
import type { VideoLifecycle } from './video-lifecycle.ts';
import { videoNotFound } from './videos.service.ts';
import { findVideo } from './videos.store.ts';

/** The headers of a response with a source: browsers save it and never interpret it. */
export type SourceHeaders = ReturnType<typeof headersOf>;

/** Returns and deletes the uploaded files of a workspace. */
export class SourcesService {
  readonly #db: Database;
  readonly #objects: ObjectStore;
  readonly #lifecycle: VideoLifecycle;
  readonly #redirects: boolean;

  /** With `redirects`, clients get sources from the object store; it must be able to presign URLs. */
  constructor(deps: { db: Database; objects: ObjectStore; lifecycle: VideoLifecycle; redirects: boolean }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#lifecycle = deps.lifecycle;
    this.#redirects = deps.redirects;
  }

  /** The source of a video in any state. Throws 404 `video_not_found` or `source_not_found`. */
  async find(workspaceId: string, videoId: string): Promise<{ file: StoredFile; headers: SourceHeaders }> {
    const video = await findVideo(this.#db, workspaceId, videoId);
    if (video === undefined) throw videoNotFound(videoId);
    const { source_key: key, size, source_deleted_at: deletedAt } = video;
    if (key === null || size === null || deletedAt !== null) throw sourceNotFound(deletedAt);
    const headers = headersOf(video.filename);
    const presigned = {
      contentType: headers['Content-Type'],
      contentDisposition: headers['Content-Disposition'],
      cacheControl: headers['Cache-Control'],
    };
    const presign = this.#redirects ? this.#objects.presign?.bind(this.#objects) : undefined;
    return {
      headers,
      file: {
        bytes: size,
        // Each transfer has a key of its own, so the ids in the key identify the file.
        etag: `"${key.split('/').slice(2, -1).join('-')}"`,
        open: (range) => this.#read(key, range),
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

  async #read(key: string, range?: ByteRange): Promise<Readable> {
    try {
      return (await this.#objects.get(key, range)).body;
    } catch (error) {
      // It was deleted since its row was read.
      if (error instanceof ObjectNotFoundError) throw sourceNotFound(null);
      throw unavailable('The storage cannot be reached at the moment.', error);
    }
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
