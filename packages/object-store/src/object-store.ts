import type { Hash } from 'node:crypto';
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

/**
 * What a store has of an object that arrives over a long time. It is plain JSON: any process that has the latest checkpoint can continue
 * the object.
 */
export type Checkpoint = {
  /** Identifies the unfinished object to its store. */
  id: string;
  /** The number of bytes, from the beginning of the object, that are stored durably. */
  durableBytes: number;
  /**
   * The last of the durable bytes may not fill a part of the multipart upload yet. They are in these small objects, in order. Empty for
   * files.
   */
  tail: { key: string; bytes: number }[];
  /**
   * Whether bytes that are stored after `durableBytes` may be wrong, for example because their checksum is not verified yet. If so, the
   * object continues at `durableBytes`; otherwise after all stored bytes.
   */
  laterBytesUntrusted: boolean;
};

/** Continues one object. It has one caller, who awaits each call before the next one. */
export interface ResumableWriter {
  /** Bytes the object has so far. The next chunk begins there. */
  readonly offset: number;
  /** `laterBytesUntrusted` of the next checkpoints. Set it before a write of bytes that may turn out to be wrong. */
  laterBytesUntrusted: boolean;
  /**
   * Takes the next bytes. Resolves when it can take more. Rejects when the store fails or the object is complete; then only `close` may
   * follow.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Makes all bytes durable. The caller saves the checkpoint, and calls `prune` once it is saved. */
  settle(): Promise<Checkpoint>;
  /** Removes what only earlier checkpoints need. Never rejects. */
  prune(): Promise<void>;
  /**
   * Creates the object. Call it once `offset` is the length of the object and the last checkpoint is saved. Succeeds if the object exists
   * already. Throws NotResumableError if the stored bytes may be wrong.
   */
  complete(): Promise<void>;
  /** Releases buffers and files. What is stored stays. Never rejects. */
  close(): Promise<void>;
}

/** The stored bytes do not match the checkpoint, so the object cannot be continued. */
export class NotResumableError extends Error {
  override name = 'NotResumableError';
  constructor(key: string, cause?: unknown) {
    super(`The unfinished object at ${key} does not match its checkpoint`, { cause });
  }
}

/** Headers of the response at a presigned URL. */
export type PresignedHeaders = { contentType: string; contentDisposition: string; cacheControl: string };

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
  readonly kind: 's3' | 'files';
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
  /** Begins an object that arrives over a long time. Save the checkpoint before the first byte. */
  beginResumable(key: string, contentType: string): Promise<Checkpoint>;
  /**
   * Continues an object after a checkpoint, where the stored bytes end. `length` is the size of the complete object. A complete object has
   * the offset `length`. Throws NotResumableError. A process that lost the object to another one may still store some bytes; that is
   * harmless if they are the same bytes.
   */
  resume(key: string, checkpoint: Checkpoint, length: number): Promise<ResumableWriter>;
  /** Removes an unfinished object that nobody continues. Succeeds if it does not exist. */
  discardResumable(key: string, checkpoint: Checkpoint): Promise<void>;
  /**
   * Opens an object or a range of it. The metadata is that of the whole object. A range may end beyond the object. Throws
   * ObjectNotFoundError, and a RangeError when the range starts beyond the end.
   */
  get(key: string, range?: ByteRange): Promise<StoredObject>;
  /**
   * A URL at which anyone can read an object until it expires. It does not check that the object exists. `headers` replace those
   * of the response. Absent where a store has no URLs.
   */
  presign?(key: string, expiresInSeconds: number, headers?: PresignedHeaders): Promise<string>;
  /** Metadata of an object, or null if it does not exist. */
  head(key: string): Promise<ObjectInfo | null>;
  /**
   * Copies an object to a local file. The file must not exist before, and must only be read afterwards. Throws
   * ObjectNotFoundError. Adds the bytes to `hash`.
   */
  fetchToFile(key: string, path: string, signal: AbortSignal, hash?: Hash): Promise<void>;
  /**
   * Copies a range of an object to the same place in a local file, which exists. Reports the position up to which it has been
   * written. Throws ObjectNotFoundError, and fails if the object ends before the range does.
   */
  fetchRange(
    key: string,
    range: ByteRange,
    path: string,
    options: { signal: AbortSignal; onWritten: (position: number) => void },
  ): Promise<void>;
  /** Whether `fetchToFile` into a folder takes no disk space, because it makes hard links. Absent where it never does. */
  fetchesAsLinks?(folder: string): Promise<boolean>;
  /** Lists the keys below a prefix, which ends with a slash, in the order of their bytes. A general purpose bucket of AWS S3 lists in this order. */
  list(prefix: string): AsyncIterable<{ key: string; bytes: number; modifiedAt: Date }>;
  /** Deletes objects. Succeeds if they do not exist. */
  delete(keys: readonly string[]): Promise<void>;
  /** Deletes all objects below a prefix, which ends with a slash. Succeeds if no object is there. */
  deletePrefix(prefix: string): Promise<void>;
  /** Removes the unfinished objects below a prefix, except for keys that `isLive` says are still being written. */
  abortUploads(prefix: string, isLive?: (key: string) => Promise<boolean>): Promise<void>;
  /**
   * Removes unfinished objects that were begun before a time, except for keys that `isLive` says are still being
   * written. Resolves with how many it removed. A file store uses the time of the last write. It removes unfinished `putStream`
   * objects without `isLive`: their writers never pause for long.
   */
  abortStaleUploads(before: Date, isLive: (key: string) => Promise<boolean>): Promise<number>;
  /** Space on the disk with the objects. Absent where a store has no disk of its own. */
  diskSpace?(): Promise<DiskSpace>;
  /** Rejects while the store is unavailable. A file store checks that it can write, S3 only that the bucket responds. */
  check(): Promise<void>;
}
