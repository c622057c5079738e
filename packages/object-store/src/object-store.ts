import type { Readable } from 'node:stream';

/** What is known of a stored object without reading it. */
export type ObjectInfo = {
  bytes: number;
  /** Strong entity tag, with its quotes. */
  etag: string;
  modifiedAt: Date;
};

/** An object being read. The caller consumes `body` or destroys it. */
export type StoredObject = ObjectInfo & { body: Readable };

/** Inclusive byte positions, as in an HTTP Range. */
export type ByteRange = { start: number; end: number };

/** The disk that a store keeps its objects on, in bytes. */
export type DiskRoom = { freeBytes: number; totalBytes: number };

/** The object named does not exist. Every other failure of a store is some other error and may pass. */
export class ObjectNotFoundError extends Error {
  override name = 'ObjectNotFoundError';
  constructor(key: string) {
    super(`No object at ${key}`);
  }
}

/** There is an object under this key already, from somebody else. */
export class ObjectExistsError extends Error {
  override name = 'ObjectExistsError';
  constructor(key: string) {
    super(`There is an object at ${key} already`);
  }
}

/**
 * Where sources and segments rest. An object is there whole or not at all: no reader ever sees half of one.
 * Keys are those of object-keys.ts; any other is a TypeError. Every adapter passes tests/object-store.contract.ts.
 */
export interface ObjectStore {
  /** Stores a small object whole. */
  put(key: string, body: Uint8Array, contentType: string): Promise<void>;
  /**
   * Stores a stream of unknown length with bounded memory and resolves with its size once it is durable. When the
   * stream fails or `signal` aborts, nothing is stored, nothing is left behind, and the promise rejects. An abort after
   * the last byte has been read may come too late: when the promise resolves, the object is there. `body` is used up
   * or destroyed in every case. With `ifAbsent` it replaces nothing: it throws ObjectExistsError where there is an object
   * already, as far as the store can tell; of two writers at once, some stores let the later one win.
   */
  putStream(
    key: string,
    body: Readable,
    options: { contentType: string; signal: AbortSignal; ifAbsent?: boolean },
  ): Promise<{ bytes: number }>;
  /**
   * Opens an object, or a range of it; the facts are those of the whole object, and a range may end beyond it. Throws
   * ObjectNotFoundError, and a RangeError when the range begins beyond the end.
   */
  get(key: string, range?: ByteRange): Promise<StoredObject>;
  /**
   * An address at which anybody can read an object until it expires; absent where a store has no addresses of its own.
   * Whether there is an object is not looked at.
   */
  presign?(key: string, expiresInSeconds: number): Promise<string>;
  /** Facts of an object, or null when there is none. */
  head(key: string): Promise<ObjectInfo | null>;
  /**
   * Puts an object's bytes into a local file, which must not exist yet and must only be read afterwards. Throws
   * ObjectNotFoundError.
   */
  fetchToFile(key: string, path: string, signal: AbortSignal): Promise<void>;
  /** Whether `fetchToFile` into a folder takes no disk, because it makes hard links; absent where it never does. */
  fetchesAsLinks?(folder: string): Promise<boolean>;
  /** Keys below a prefix, which ends with a slash, in no promised order. */
  list(prefix: string): AsyncIterable<{ key: string; bytes: number; modifiedAt: Date }>;
  /** Removes all objects below a prefix, which ends with a slash; missing ones are no error. */
  deletePrefix(prefix: string): Promise<void>;
  /**
   * Removes what unfinished `putStream`s of keys below a prefix left behind, and breaks off those under way. Absent where
   * what is unfinished has no key yet.
   */
  abortUploads?(prefix: string): Promise<void>;
  /**
   * Removes what unfinished `putStream`s begun before this time left behind, but for those whose key `isLive` says is still
   * being written to; where what is unfinished has no key yet, the time of the last write counts instead. Resolves with
   * how many there were.
   */
  abortStaleUploads(before: Date, isLive: (key: string) => Promise<boolean>): Promise<number>;
  /** The disk that the objects are on; absent where a store has no disk of its own. */
  room?(): Promise<DiskRoom>;
  /** Rejects while the store cannot take objects. */
  check(): Promise<void>;
}
