import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

/** A stream is sent in parts of this many bytes, a few at a time: this times five is what one takes in memory. */
const PART_BYTES = 8 * 1024 * 1024;
/** What a stream may have: S3 takes 10,000 parts. */
export const LARGEST_STREAM_BYTES = 10_000 * PART_BYTES;

const PARTS_AT_ONCE = 4;
/** Parts on their way of all streams of a store: what many slow streams take in memory and connections. */
const MOST_PARTS_AT_ONCE = 32;

/** How long parts under way may take to settle once the upload has failed. */
const SETTLE_MS = 5_000;

/** Buffers kept for the next stream. */
const MOST_IDLE = 10;

/**
 * What the streams of one store share: parts on their way, and buffers of one part each, used again and again. With new
 * ones for each part, a third of the time an upload takes goes into collecting garbage.
 */
export class SharedParts {
  /** They settle, but never reject. */
  readonly underWay = new Set<Promise<void>>();
  readonly #idle: Buffer[] = [];

  take(): Buffer {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES);
  }

  giveBack(buffer: Buffer): void {
    if (this.#idle.length < MOST_IDLE) this.#idle.push(buffer);
  }
}

type Part = { buffer: Buffer; filled: number };

type S3UploadOptions = {
  client: S3Client;
  place: { Bucket: string; Key: string };
  facts: { ContentType: string; Metadata: Record<string, string> };
  shared: SharedParts;
};

/** Stores one stream of unknown length: whole if it fits into one part, else as a multipart upload. */
export class S3Upload {
  readonly #options: S3UploadOptions;
  #uploadId: string | undefined;
  /** Parts on their way; they settle, but never reject. */
  readonly #running = new Set<Promise<void>>();
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
    const { shared } = this.#options;
    let part: Part = { buffer: shared.take(), filled: 0 };
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        for (let at = 0; at < chunk.byteLength; ) {
          if (part.filled === PART_BYTES) {
            await this.#send(part, body);
            part = { buffer: shared.take(), filled: 0 };
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
    }
  }

  async #storeWhole({ buffer, filled }: Part): Promise<void> {
    const { client, place, facts, shared } = this.#options;
    const Body = buffer.subarray(0, filled);
    const { ETag } = await client.send(new PutObjectCommand({ ...place, ...facts, Body }));
    shared.giveBack(buffer);
    this.#assertConfirmed(ETag);
  }

  /** Sends a part once there are not too many under way. A failure ends the stream. */
  async #send({ buffer, filled }: Part, body: Readable): Promise<void> {
    const { client, place, facts, shared } = this.#options;
    if (this.#uploadId === undefined) {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...place, ...facts }));
      if (UploadId === undefined) throw new Error(`The server began no upload of ${place.Key}`);
      this.#uploadId = UploadId;
    }
    while (this.#running.size >= PARTS_AT_ONCE) await Promise.race(this.#running);
    while (shared.underWay.size >= MOST_PARTS_AT_ONCE) await Promise.race(shared.underWay);
    const end = this.#failure ?? body.errored;
    if (end) throw end;
    this.#parts += 1;
    const [PartNumber, UploadId] = [this.#parts, this.#uploadId];
    const sending = client
      .send(new UploadPartCommand({ ...place, UploadId, PartNumber, Body: buffer.subarray(0, filled) }), {
        abortSignal: this.#givenUp.signal,
      })
      .then(({ ETag }) => {
        this.#assertConfirmed(ETag);
        this.#stored.push({ ETag, PartNumber });
        shared.giveBack(buffer);
      })
      .catch((error: Error) => {
        this.#failure ??= error;
        body.destroy(error);
      })
      .finally(() => {
        this.#running.delete(sending);
        shared.underWay.delete(sending);
      });
    this.#running.add(sending);
    shared.underWay.add(sending);
  }

  async #complete(UploadId: string): Promise<void> {
    const { client, place } = this.#options;
    await Promise.all(this.#running);
    if (this.#failure) throw this.#failure;
    const Parts = this.#stored.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
    const { ETag } = await client.send(
      new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload: { Parts } }),
    );
    this.#assertConfirmed(ETag);
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
