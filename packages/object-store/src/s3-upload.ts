import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { assertConfirmed, PART_BYTES, type Part, S3Parts, type SharedBuffers } from './s3-parts.ts';

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
  #parts = 0;
  #bytes = 0;

  constructor(options: S3UploadOptions) {
    this.#options = options;
  }

  /** Bytes that have been read so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Resolves when the server has confirmed the object. When the stream or the server fails, it waits for the parts in
   * transfer, removes the multipart upload and rejects.
   */
  async run(body: Readable): Promise<void> {
    const { client, place, shared } = this.#options;
    const parts = new S3Parts({ client, place, shared, onFailure: (error) => body.destroy(error) });
    body.once('error', (error) => parts.fail(error));
    try {
      let part = await parts.next();
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        for (let at = 0; at < chunk.byteLength; ) {
          if (part.filled === PART_BYTES) {
            await this.#send(parts, part);
            part = await parts.next();
          }
          const piece = chunk.subarray(at, at + PART_BYTES - part.filled);
          part.buffer.set(piece, part.filled);
          part.filled += piece.byteLength;
          at += piece.byteLength;
          this.#bytes += piece.byteLength;
        }
      }
      if (this.#uploadId === undefined) await this.#storeWhole(parts, part);
      else {
        await this.#send(parts, part);
        await this.#complete(parts, this.#uploadId);
      }
    } catch (error) {
      await parts.end();
      await this.#remove();
      throw error;
    }
    await parts.end();
  }

  async #storeWhole(parts: S3Parts, part: Part): Promise<void> {
    const { client, place, facts } = this.#options;
    const Body = part.buffer.subarray(0, part.filled);
    const { ETag } = await this.#conditionally((condition) =>
      client.send(new PutObjectCommand({ ...place, ...facts, ...condition, Body })),
    );
    assertConfirmed(ETag, place.Key);
    parts.giveBack(part, { reusable: true });
  }

  async #send(parts: S3Parts, part: Part): Promise<void> {
    const { client, place, facts } = this.#options;
    this.#uploadId ??= await beginMultipartUpload(client, { ...place, ...facts });
    this.#parts += 1;
    await parts.send(part, this.#parts, this.#uploadId);
  }

  async #complete(parts: S3Parts, uploadId: string): Promise<void> {
    await parts.confirmed();
    await this.#conditionally((condition) => parts.complete(uploadId, condition));
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
    if (this.#uploadId === undefined) return;
    const { client, place } = this.#options;
    const UploadId = this.#uploadId;
    await client.send(new AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => {});
  }
}

/** Resolves with the id of a new multipart upload. */
export async function beginMultipartUpload(
  client: S3Client,
  object: { Bucket: string; Key: string; ContentType: string; Metadata?: Record<string, string> },
): Promise<string> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(object));
  if (UploadId === undefined) throw new Error(`The server returned no upload id for ${object.Key}`);
  return UploadId;
}
