import type { Readable } from 'node:stream';

/** Metadata of a stored object. */
export type ObjectInfo = {
  bytes: number;
  /** Strong entity tag, with its quotes. */
  etag: string;
  modifiedAt: Date;
};

/** An open object. The caller consumes `body` or destroys it. */
export type StoredObject = ObjectInfo & { body: Readable };

/** Inclusive byte positions, as in an HTTP Range. */
export type ByteRange = { start: number; end: number };

/** Space on the disk that holds the objects, in bytes. */
export type DiskSpace = { freeBytes: number; totalBytes: number };

/** The object does not exist. Stores throw other errors for all other failures, which may be temporary. */
export class ObjectNotFoundError extends Error {
  override name = 'ObjectNotFoundError';
  constructor(key: string) {
    super(`No object at ${key}`);
  }
}

/** Another writer has already stored an object under this key. */
export class ObjectExistsError extends Error {
  override name = 'ObjectExistsError';
  constructor(key: string) {
    super(`An object already exists at ${key}`);
  }
}

/**
 * Stores sources, segments and images. Writes are atomic: a reader sees a whole object or none. Keys are those of
 * object-keys.ts; any other key is a TypeError. Every adapter passes tests/object-store.contract.ts.
 */
export interface ObjectStore {
  /** Stores a small object. */
  put(key: string, body: Uint8Array, contentType: string): Promise<void>;
  /**
   * Stores a stream of unknown length with bounded memory. Resolves with its size once it is durable. When the stream
   * fails or `signal` aborts, it rejects and stores nothing. An abort after the last byte was read may come too late: if
   * the promise resolves, the object exists. `body` is always consumed or destroyed.
   *
   * With `ifAbsent` it throws ObjectExistsError instead of replacing an object. Not every store can guarantee that: of
   * two concurrent writers, the later one may win.
   */
  putStream(
    key: string,
    body: Readable,
    options: { contentType: string; signal: AbortSignal; ifAbsent?: boolean },
  ): Promise<{ bytes: number }>;
  /**
   * Opens an object or a range of it. The metadata is that of the whole object. A range may end beyond the object. Throws
   * ObjectNotFoundError, and a RangeError when the range starts beyond the end.
   */
  get(key: string, range?: ByteRange): Promise<StoredObject>;
  /**
   * A URL at which anyone can read an object until it expires. It does not check that the object exists. Absent where a
   * store has no URLs.
   */
  presign?(key: string, expiresInSeconds: number): Promise<string>;
  /** Metadata of an object, or null if it does not exist. */
  head(key: string): Promise<ObjectInfo | null>;
  /**
   * Copies an object to a local file. The file must not exist before, and must only be read afterwards. Throws
   * ObjectNotFoundError.
   */
  fetchToFile(key: string, path: string, signal: AbortSignal): Promise<void>;
  /** Whether `fetchToFile` into a folder takes no disk space, because it makes hard links. Absent where it never does. */
  fetchesAsLinks?(folder: string): Promise<boolean>;
  /** Lists the keys below a prefix, which ends with a slash. The order is undefined. */
  list(prefix: string): AsyncIterable<{ key: string; bytes: number; modifiedAt: Date }>;
  /** Deletes all objects below a prefix, which ends with a slash. Succeeds if there are none. */
  deletePrefix(prefix: string): Promise<void>;
  /**
   * Aborts unfinished `putStream`s below a prefix and removes their parts. Absent where unfinished objects have no key.
   */
  abortUploads?(prefix: string): Promise<void>;
  /**
   * Removes the parts of `putStream`s that started before a time, except for keys that `isLive` says are still being
   * written. Where unfinished objects have no key, the time of the last write decides. Resolves with how many it removed.
   */
  abortStaleUploads(before: Date, isLive: (key: string) => Promise<boolean>): Promise<number>;
  /** Space on the disk with the objects. Absent where a store has no disk of its own. */
  diskSpace?(): Promise<DiskSpace>;
  /** Rejects while the store cannot store objects. */
  check(): Promise<void>;
}
