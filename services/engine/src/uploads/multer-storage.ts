import { createHash } from 'node:crypto';
import { finished, Transform, type TransformCallback } from 'node:stream';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { StorageEngine } from 'multer';
import { storageFailed } from './upload-problems.ts';

/** Longest file name or content type kept of what a client declares. */
const DECLARED_LENGTH = 255;

/** A file that has arrived and that the store has taken. */
export type StoredSource = {
  /** As counted on the way. */
  bytes: number;
  /** Lower-case hex. */
  sha256: string;
  /** As the client declared them, made harmless. */
  contentType: string | null;
  fileName: string | null;
};

type IncomingFile = Parameters<StorageEngine['_handleFile']>[1];

/**
 * Where multer puts the file of one upload: straight into the object store, with its size and SHA-256 taken on the
 * way. When the part breaks off, the store fails or `signal` aborts, the store keeps nothing of it. A file that is
 * stored although the form turns out to be faulty later is for the caller to remove.
 */
export class MulterStorage implements StorageEngine {
  readonly #objects: ObjectStore;
  readonly #key: string;
  readonly #signal: AbortSignal;
  readonly #meter: Meter;
  #storing: Promise<StoredSource | null> = Promise.resolve(null);

  /** `onBytes` is called with how many more have come in, before they are stored; the file fails when it rejects. */
  constructor(options: {
    objects: ObjectStore;
    key: string;
    signal: AbortSignal;
    onBytes: (bytes: number) => Promise<void>;
  }) {
    this.#objects = options.objects;
    this.#key = options.key;
    this.#signal = options.signal;
    this.#meter = new Meter(options.onBytes);
  }

  /** Bytes of the file that have come in so far. */
  get bytes(): number {
    return this.#meter.bytes;
  }

  /** Waits until the store is done with the file, one way or the other; null when it keeps none. */
  async settled(): Promise<StoredSource | null> {
    return this.#storing.catch(() => null);
  }

  _handleFile(_req: unknown, file: IncomingFile, callback: (error?: unknown) => void): void {
    this.#storing = this.#store(file);
    this.#storing.then(() => callback(null), callback);
  }

  /** Multer does not get here when a client goes away, so removing is not left to it. */
  _removeFile(_req: unknown, _file: unknown, callback: (error: null) => void): void {
    callback(null);
  }

  async #store({ stream, originalname, mimetype }: IncomingFile): Promise<StoredSource> {
    const meter = this.#meter;
    // Both are reported by multer itself, before the store has noticed.
    stream.once('limit', () => meter.destroy(new Error('The file is too large')));
    finished(stream, { writable: false }, (error) => error && meter.destroy(error));
    stream.pipe(meter);
    try {
      await this.#objects.putStream(this.#key, meter, {
        contentType: 'application/octet-stream',
        signal: this.#signal,
        // Every transfer has a key of its own; whatever goes wrong with that must cost nobody his file.
        ifAbsent: true,
      });
    } catch (error) {
      throw storageFailed(error);
    }
    return {
      bytes: meter.bytes,
      sha256: meter.sha256(),
      contentType: declared(mimetype),
      fileName: declared(originalname),
    };
  }
}

/** Counts and hashes what passes through. */
class Meter extends Transform {
  bytes = 0;
  readonly #hash = createHash('sha256');

  readonly #onBytes: (bytes: number) => Promise<void>;

  constructor(onBytes: (bytes: number) => Promise<void>) {
    super();
    this.#onBytes = onBytes;
    // Whoever reads from it reports the failure; one that comes before it is read must not end the process.
    this.on('error', () => {});
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.bytes += chunk.byteLength;
    this.#onBytes(chunk.byteLength).then(
      () => {
        this.#hash.update(chunk);
        callback(null, chunk);
      },
      (error) => callback(error),
    );
  }

  /** Call once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex');
  }
}

/** A text from a client, fit to be kept and shown: without control characters, cut to a bounded length. */
function declared(text: string): string | null {
  return (
    text
      .replace(/\p{Cc}/gu, '')
      .slice(0, DECLARED_LENGTH)
      .toWellFormed() || null
  );
}
