import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
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

/** A stream is sent in parts of this many bytes, a few at a time: this times five is what one takes in memory. */
const PART_BYTES = 8 * 1024 * 1024;
/** What a stream may have: S3 takes 10,000 parts. */
export const LARGEST_STREAM_BYTES = 10_000 * PART_BYTES;

const PARTS_AT_ONCE = 4;
/** Buffers of all streams of a store beyond the first of each: what many slow streams take in memory and connections. */
const MOST_SHARED_BUFFERS = 32;

/** How long parts under way may take to settle once the upload has failed. */
const SETTLE_MS = 5_000;

/** A write that conflicts with another is tried so often, with this long between. */
const CONFLICT_TRIES = 4;
const CONFLICT_DELAY_MS = 500;

/** Buffers kept for the next stream when no other is under way. */
const IDLE_AT_REST = 10;

/**
 * What the streams of one store share: buffers of one part each, used again and again. With new ones for each part, a third
 * of the time an upload takes goes into collecting garbage. Every stream may have one; those it has beyond that, to be
 * filled while others are on their way, are counted, and there are only so many. Parts that hang can therefore slow other
 * streams down, and not stop them.
 */
export class SharedBuffers {
  readonly #idle: Buffer[] = [];
  /** How to tell streams that wait for a buffer that they may ask again. */
  readonly #waiting = new Set<() => void>();
  #shared = 0;
  #held = 0;

  /** A buffer for a stream that has so many already; undefined when it has to wait until it is told of one. */
  take(held: number, tell: () => void): Buffer | undefined {
    if (held > 0 && this.#shared >= MOST_SHARED_BUFFERS) {
      this.#waiting.add(tell);
      return undefined;
    }
    if (held > 0) this.#shared += 1;
    this.#held += 1;
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES);
  }

  /** A stream that had so many lets go of one; `reusable` says that nobody looks at it any more. */
  giveBack(buffer: Buffer, held: number, reusable: boolean): void {
    this.#held -= 1;
    if (reusable) this.#idle.push(buffer);
    // Those of many streams that go on side by side come back together, and are wanted again at once.
    const kept = Math.max(IDLE_AT_REST, this.#held);
    if (this.#idle.length > kept) this.#idle.length = kept;
    if (held <= 1) return;
    this.#shared -= 1;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const tell of waiting) tell();
  }
}

type Part = { buffer: Buffer; filled: number };

type S3UploadOptions = {
  client: S3Client;
  place: { Bucket: string; Key: string };
  facts: { ContentType: string; Metadata: Record<string, string> };
  shared: SharedBuffers;
  /** Whether the object must be a new one. */
  ifAbsent: boolean;
};

/** Stores one stream of unknown length: whole if it fits into one part, else as a multipart upload. */
export class S3Upload {
  readonly #options: S3UploadOptions;
  #uploadId: string | undefined;
  /** The buffer being filled, and those of parts on their way. */
  readonly #held = new Set<Buffer>();
  /** Parts on their way; they settle, but never reject. */
  readonly #running = new Set<Promise<void>>();
  /** Resolves at the next event that somebody may wait for. */
  #event = Promise.withResolvers<void>();
  readonly #wake = () => {
    this.#event.resolve();
    this.#event = Promise.withResolvers();
  };
  readonly #stored: CompletedPart[] = [];
  #parts = 0;
  #bytes = 0;
  #failure: Error | undefined;
  readonly #givenUp = new AbortController();

  constructor(options: S3UploadOptions) {
    this.#options = options;
  }

  /** Bytes that have been read so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Resolves when the server has confirmed the object. When the stream or the server fails, the parts under way come to
   * an end first, in a few seconds, and the multipart upload is removed.
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

  /** A part to be filled, once there is a buffer for it. */
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

  /** Waits until a part has settled or a buffer may be had. Throws when the stream has ended before its time. */
  async #nextEvent(body: Readable): Promise<void> {
    await this.#event.promise;
    this.#assertGoingOn(body);
  }

  #assertGoingOn(body: Readable): void {
    const end = this.#failure ?? body.errored;
    if (end) throw end;
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

  /** Sends a part once there are not too many under way. A failure ends the stream. */
  async #send({ buffer, filled }: Part, body: Readable): Promise<void> {
    const { client, place, facts } = this.#options;
    if (this.#uploadId === undefined) {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...place, ...facts }));
      if (UploadId === undefined) throw new Error(`The server began no upload of ${place.Key}`);
      this.#uploadId = UploadId;
    }
    while (this.#running.size >= PARTS_AT_ONCE) await this.#nextEvent(body);
    this.#assertGoingOn(body);
    this.#parts += 1;
    const [PartNumber, UploadId] = [this.#parts, this.#uploadId];
    const sending = client
      .send(new UploadPartCommand({ ...place, UploadId, PartNumber, Body: buffer.subarray(0, filled) }), {
        abortSignal: this.#givenUp.signal,
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

  /** Makes the object appear, on condition that it is new where that is wanted and the server knows how (RFC 9110 §13.1.2). */
  async #conditionally<T>(write: (condition: { IfNoneMatch?: '*' }) => Promise<T>): Promise<T> {
    if (!this.#options.ifAbsent) return write({});
    for (let tries = 1; ; tries += 1) {
      try {
        return await write({ IfNoneMatch: '*' });
      } catch (error) {
        const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
        if (status === 501) return write({});
        // Another write is not decided yet, be it an earlier try of this one whose answer was lost.
        if (status !== 409 || tries === CONFLICT_TRIES) throw error;
        await delay(CONFLICT_DELAY_MS);
      }
    }
  }

  /** What cannot be removed now is left to `abortStaleUploads`. */
  async #remove(): Promise<void> {
    const { client, place } = this.#options;
    // A part that the server takes after the upload was removed would stay there: they had better come to an end.
    const giveUp = setTimeout(() => this.#givenUp.abort(), SETTLE_MS);
    await Promise.all(this.#running);
    clearTimeout(giveUp);
    if (this.#uploadId === undefined) return;
    const UploadId = this.#uploadId;
    await client.send(new AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => {});
  }

  /** A server may answer 200 and tell of a failure in the body. */
  #assertConfirmed(etag: string | undefined): void {
    if (etag === undefined) {
      throw new Error(`The server did not confirm that ${this.#options.place.Key} is stored`);
    }
  }
}
