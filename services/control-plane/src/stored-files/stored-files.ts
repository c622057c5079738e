import type { ObjectStore } from '@framelane/object-store/object-store';
import { SettingsError } from '@framelane/service-kit/settings';
import { PRESIGNED_SECONDS, type StoredFile } from './stored-file.ts';
import type { ReadableObject, StoredReads } from './stored-reads.ts';

/** The headers of a response with a file that is saved. */
export type FileHeaders = {
  'Content-Type': string;
  'Content-Disposition': string;
  'Cache-Control': string;
};

/** Opens stored objects for clients: they are sent from here, or clients are redirected to the object store. */
export class StoredFiles {
  readonly #reads: StoredReads;
  readonly #presign: ObjectStore['presign'];

  /** Throws a SettingsError when clients are to be redirected and the object store cannot presign URLs. */
  constructor({
    reads,
    objects,
    redirects,
  }: {
    reads: StoredReads;
    objects: ObjectStore;
    redirects: boolean;
  }) {
    if (redirects && objects.presign === undefined) {
      throw new SettingsError(
        'SEGMENT_SERVING: redirect needs objects in S3, and this installation stores files. Use proxy.',
      );
    }
    this.#reads = reads;
    this.#presign = redirects ? objects.presign?.bind(objects) : undefined;
  }

  /** An object as a file. `headers` are also those of a response of the object store. */
  open(object: ReadableObject, etag: string, headers?: FileHeaders): StoredFile {
    const presign = this.#presign;
    const presigned = headers && {
      contentType: headers['Content-Type'],
      contentDisposition: headers['Content-Disposition'],
      cacheControl: headers['Cache-Control'],
    };
    return {
      bytes: object.bytes,
      etag,
      read: (range) => this.#reads.read(object, range),
      presign: presign && (() => presign(object.key, PRESIGNED_SECONDS, presigned)),
    };
  }

  /** A small object. Throws as `StoredReads.read` does. */
  readWhole(object: ReadableObject): Promise<Buffer> {
    return this.#reads.readWhole(object);
  }

  /** A URL of the object store to which clients are redirected; undefined if they are not. */
  async urlAtStore(): Promise<string | undefined> {
    return this.#presign?.('origin', PRESIGNED_SECONDS);
  }
}
