import { createHash } from 'node:crypto';
import { finished, Transform, type TransformCallback } from 'node:stream';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { StorageEngine } from 'multer';
import { storageFailed } from './upload-problems.ts';

/** A complete file in the object store. */
export type StoredSource = {
  /** Counted while the file arrived. */
  bytes: number;
  /** Lower-case hex. */
  sha256: string;
};

type IncomingFile = Parameters<StorageEngine['_handleFile']>[1];

/**
 * The multer storage engine of one upload: streams the file into the object store and computes its size and SHA-256. When the
 * part is incomplete, the store fails or `signal` aborts, the store holds nothing of the file. If the form turns out to be invalid after
 * the file was stored, the caller deletes the file.
 */
export class MulterStorage implements StorageEngine {
  readonly #objects: ObjectStore;
  readonly #key: string;
  readonly #signal: AbortSignal;
  readonly #meter: Meter;
  #storing: Promise<StoredSource | null> = Promise.resolve(null);

  /** `onBytes` is called with the size of each chunk before it is stored. The upload fails when it rejects. */
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

  /** Bytes of the file received so far. */
  get bytes(): number {
    return this.#meter.bytes;
  }

  /** Resolves when the object store is done: with the stored file, or null when it holds none. Never rejects. */
  async settled(): Promise<StoredSource | null> {
    return this.#storing.catch(() => null);
  }

  _handleFile(_req: unknown, file: IncomingFile, callback: (error?: unknown) => void): void {
    this.#storing = this.#store(file);
    this.#storing.then(() => callback(null), callback);
  }

  /** Does nothing: the caller deletes the file, for whatever reason the upload fails. */
  _removeFile(_req: unknown, _file: unknown, callback: (error: null) => void): void {
    callback(null);
  }

  async #store({ stream }: IncomingFile): Promise<StoredSource> {
    const meter = this.#meter;
    // Multer reports a file that is too large or incomplete. These errors only stop the object store.
    stream.once('limit', () => meter.destroy(new Error('The file is too large')));
    finished(stream, { writable: false }, (error) => error && meter.destroy(error));
    stream.pipe(meter);
    try {
      await this.#objects.putStream(this.#key, meter, {
        contentType: 'application/octet-stream',
        signal: this.#signal,
        // Each transfer has its own key. If two ever shared one, the first file must survive.
        ifAbsent: true,
      });
    } catch (error) {
      throw storageFailed(error);
    }
    return { bytes: meter.bytes, sha256: meter.sha256() };
  }
}

/** Counts and hashes the bytes that pass through. */
class Meter extends Transform {
  bytes = 0;
  readonly #hash = createHash('sha256');

  readonly #onBytes: (bytes: number) => Promise<void>;

  constructor(onBytes: (bytes: number) => Promise<void>) {
    super();
    this.#onBytes = onBytes;
    // The reader reports a failure. A failure before anyone reads must not end the process.
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
