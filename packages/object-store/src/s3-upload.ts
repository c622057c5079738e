import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

/** The size of a part. A stream needs memory for up to five parts: four in transfer and one being filled. */
const PART_BYTES = 8 * 1024 * 1024;
/** The largest stream: S3 accepts 10,000 parts. */
export const LARGEST_STREAM_BYTES = 10_000 * PART_BYTES;

/** Parts of one stream in transfer at the same time. */
const PARALLEL_PARTS = 4;
/**
 * Shared buffers of a store: all that its streams hold in addition to one each. This limits their memory and their
 * connections.
 */
const MAX_SHARED_BUFFERS = 32;

/** How long parts in transfer may take to settle after the upload has failed. */
const SETTLE_MS = 5_000;

/** Buffers kept for later streams when there are no streams. */
const MIN_IDLE_BUFFERS = 10;

/**
 * A pool of buffers, one part each, for all streams of a store. Reusing them saves a third of an upload's time, which new
 * buffers would spend on garbage collection. Every stream may always have one buffer. Further buffers, which it fills
 * while parts are in transfer, come from a shared budget. So parts that hang can slow other streams down, but never stop
 * them.
 */
export class SharedBuffers {
  readonly #idle: Buffer[] = [];
  /** Callbacks of streams that wait for a buffer. */
  readonly #waiting = new Set<() => void>();
  #shared = 0;
  #held = 0;

  /**
   * A buffer for a stream that holds `held` others. When no shared buffer is available, returns undefined and later calls
   * `retry` once.
   */
  take(held: number, retry: () => void): Buffer | undefined {
    if (held > 0 && this.#shared >= MAX_SHARED_BUFFERS) {
      this.#waiting.add(retry);
      return undefined;
    }
    if (held > 0) this.#shared += 1;
    this.#held += 1;
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES);
  }

  /** Takes a buffer back from a stream that holds `held`. `reusable` if no request reads from it any more. */
  giveBack(buffer: Buffer, held: number, reusable: boolean): void {
    this.#held -= 1;
    if (reusable) this.#idle.push(buffer);
    // Parallel streams return their buffers at about the same time and soon take new ones.
    const kept = Math.max(MIN_IDLE_BUFFERS, this.#held);
    if (this.#idle.length > kept) this.#idle.length = kept;
    if (held <= 1) return;
    this.#shared -= 1;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const retry of waiting) retry();
  }
}

type Part = { buffer: Buffer; filled: number };

type S3UploadOptions = {
  client: S3Client;
  place: { Bucket: string; Key: string };
  facts: { ContentType: string; Metadata: Record<string, string> };
  shared: SharedBuffers;
  /** Fail when an object exists under the key. */
  ifAbsent: boolean;
};

/** Stores one stream of unknown length: in one request if it fits into one part, else as a multipart upload. */
export class S3Upload {
  readonly #options: S3UploadOptions;
  #uploadId: string | undefined;
  /** The buffer being filled and those of parts in transfer. */
  readonly #held = new Set<Buffer>();
  /** Parts in transfer; they never reject. */
  readonly #running = new Set<Promise<void>>();
  /** Resolves when a part settles, a buffer becomes available or the stream fails. */
  #event = Promise.withResolvers<void>();
  readonly #wake = () => {
    this.#event.resolve();
    this.#event = Promise.withResolvers();
  };
  readonly #stored: CompletedPart[] = [];
  #parts = 0;
  #bytes = 0;
  #failure: Error | undefined;
  readonly #abandoned = new AbortController();

  constructor(options: S3UploadOptions) {
    this.#options = options;
  }

  /** Bytes that have been read so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Resolves when the server has confirmed the object. When the stream or the server fails, it waits up to `SETTLE_MS`
   * for the parts in transfer, removes the multipart upload and rejects.
   */
  async run(body: Readable): Promise<void> {
    body.once('error', this.#wake);
    try {
      let part = await this.#nextPart(body);
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        for (let at = 0; at < chunk.byteLength; ) {
          if (part.filled === PART_BYTES) {
            await this.#send(part, body);
            part = await this.#nextPart(body);
          }
          const piece = chunk.subarray(at, at + PART_BYTES - part.filled);
          part.buffer.set(piece, part.filled);
          part.filled += piece.byteLength;
          at += piece.byteLength;
          this.#bytes += piece.byteLength;
        }
      }
      if (this.#uploadId === undefined) await this.#storeWhole(part);
      else {
        await this.#send(part, body);
        await this.#complete(this.#uploadId);
      }
    } catch (error) {
      await this.#remove();
      throw error;
    } finally {
      for (const buffer of this.#held) this.#giveBack(buffer, { reusable: false });
    }
  }

  /** An empty part. Waits for a buffer. */
  async #nextPart(body: Readable): Promise<Part> {
    const { shared } = this.#options;
    for (;;) {
      const buffer = shared.take(this.#held.size, this.#wake);
      if (buffer !== undefined) {
        this.#held.add(buffer);
        return { buffer, filled: 0 };
      }
      await this.#nextEvent(body);
    }
  }

  #giveBack(buffer: Buffer, { reusable }: { reusable: boolean }): void {
    this.#options.shared.giveBack(buffer, this.#held.size, reusable);
    this.#held.delete(buffer);
  }

  /** Waits for the next event. Throws when the stream or a part has failed. */
  async #nextEvent(body: Readable): Promise<void> {
    await this.#event.promise;
    this.#assertNotFailed(body);
  }

  #assertNotFailed(body: Readable): void {
    const failure = this.#failure ?? body.errored;
    if (failure) throw failure;
  }

  async #storeWhole({ buffer, filled }: Part): Promise<void> {
    const { client, place, facts } = this.#options;
    const Body = buffer.subarray(0, filled);
    const { ETag } = await this.#conditionally((condition) =>
      client.send(new PutObjectCommand({ ...place, ...facts, ...condition, Body })),
    );
    this.#assertConfirmed(ETag);
    this.#giveBack(buffer, { reusable: true });
  }

  /** Starts to send a part, once fewer than `PARALLEL_PARTS` are in transfer. If it fails, the stream is destroyed. */
  async #send({ buffer, filled }: Part, body: Readable): Promise<void> {
    const { client, place, facts } = this.#options;
    if (this.#uploadId === undefined) {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...place, ...facts }));
      if (UploadId === undefined) throw new Error(`The server returned no upload id for ${place.Key}`);
      this.#uploadId = UploadId;
    }
    while (this.#running.size >= PARALLEL_PARTS) await this.#nextEvent(body);
    this.#assertNotFailed(body);
    this.#parts += 1;
    const [PartNumber, UploadId] = [this.#parts, this.#uploadId];
    const sending = client
      .send(new UploadPartCommand({ ...place, UploadId, PartNumber, Body: buffer.subarray(0, filled) }), {
        abortSignal: this.#abandoned.signal,
      })
      .then(({ ETag }) => {
        this.#assertConfirmed(ETag);
        this.#stored.push({ ETag, PartNumber });
        this.#giveBack(buffer, { reusable: true });
      })
      .catch((error: Error) => {
        this.#giveBack(buffer, { reusable: false });
        this.#failure ??= error;
        body.destroy(error);
      })
      .finally(() => {
        this.#running.delete(sending);
        this.#wake();
      });
    this.#running.add(sending);
  }

  async #complete(UploadId: string): Promise<void> {
    const { client, place } = this.#options;
    await Promise.all(this.#running);
    if (this.#failure) throw this.#failure;
    const Parts = this.#stored.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
    const { ETag } = await this.#conditionally((condition) =>
      client.send(
        new CompleteMultipartUploadCommand({ ...place, ...condition, UploadId, MultipartUpload: { Parts } }),
      ),
    );
    this.#assertConfirmed(ETag);
  }

  /**
   * Runs the request that creates the object. With `ifAbsent` it is conditional (RFC 9110 §13.1.2), if the server
   * supports that.
   */
  async #conditionally<T>(write: (condition: { IfNoneMatch?: '*' }) => Promise<T>): Promise<T> {
    if (!this.#options.ifAbsent) return write({});
    try {
      return await write({ IfNoneMatch: '*' });
    } catch (error) {
      const isUnsupported = error instanceof S3ServiceException && error.$metadata.httpStatusCode === 501;
      if (isUnsupported) return write({});
      throw error;
    }
  }

  /** Removes the multipart upload. If that fails, `abortStaleUploads` removes it later. */
  async #remove(): Promise<void> {
    const { client, place } = this.#options;
    // A part that the server stores after the upload was removed would stay forever, so the parts settle first.
    const abandon = setTimeout(() => this.#abandoned.abort(), SETTLE_MS);
    await Promise.all(this.#running);
    clearTimeout(abandon);
    if (this.#uploadId === undefined) return;
    const UploadId = this.#uploadId;
    await client.send(new AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => {});
  }

  /** A server may respond with 200 and report a failure in the body. */
  #assertConfirmed(etag: string | undefined): void {
    if (etag === undefined) {
      throw new Error(`The server did not confirm that ${this.#options.place.Key} is stored`);
    }
  }
}
