import { randomUUID } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { tailPrefix } from './object-keys.ts';
import {
  type Checkpoint,
  NotResumableError,
  ObjectNotFoundError,
  type ResumableWriter,
} from './object-store.ts';
import { type Part, S3Parts, type SharedBuffers } from './s3-parts.ts';

/** A client that sends very small bodies must not make the checkpoint grow without limit. */
const MAX_TAIL_OBJECTS = 64;

type StoredPart = CompletedPart & { PartNumber: number; Size: number };

/** The parts of the store that a writer needs. */
export type ResumableDeps = {
  client: S3Client;
  bucket: string;
  shared: SharedBuffers;
  /** Size of an object; null if it does not exist. */
  sizeOf: (key: string) => Promise<number | null>;
  /** The content of a small object. */
  read: (key: string) => Promise<Uint8Array>;
  delete: (keys: string[]) => Promise<void>;
};

/**
 * Continues a multipart upload. Part n has the bytes from (n - 1) × the size of a part, so every process that sends it sends
 * the same bytes. Bytes that do not fill a part become small objects at each checkpoint (the tail): S3 accepts a small part at
 * the end of an upload only.
 */
export class S3ResumableWriter implements ResumableWriter {
  laterBytesUntrusted: boolean;
  readonly #deps: ResumableDeps;
  readonly #key: string;
  readonly #id: string;
  readonly #length: number;
  readonly #parts: S3Parts;
  #offset: number;
  /** The part at `offset`; undefined when `offset` is its first byte. */
  #part: Part | undefined;
  /** The objects that hold the first bytes of that part. */
  #tail: Checkpoint['tail'] = [];
  #obsolete: string[] = [];
  #isComplete: boolean;

  static async resume(
    deps: ResumableDeps,
    key: string,
    checkpoint: Checkpoint,
    length: number,
  ): Promise<S3ResumableWriter> {
    const { id, durableBytes, tail, laterBytesUntrusted } = checkpoint;
    const listed = await listParts(deps, key, id);
    if (listed === null) {
      if ((await deps.sizeOf(key)) !== length) throw new NotResumableError(key);
      return new S3ResumableWriter(deps, key, checkpoint, length, { offset: length, parts: [] });
    }
    const { partBytes } = deps.shared;
    const parts = partsWithoutGap(listed, partBytes, length, laterBytesUntrusted ? durableBytes : length);
    const offset = parts.reduce((bytes, { Size }) => bytes + Size, 0);
    const tailStart = durableBytes - bytesOf(tail);
    if (offset < tailStart) throw new NotResumableError(key);
    const writer = new S3ResumableWriter(deps, key, checkpoint, length, { offset, parts });
    if (offset === tailStart) await writer.#load(tail);
    else writer.#obsolete = tail.map((object) => object.key);
    return writer;
  }

  /** A complete object has no parts. */
  private constructor(
    deps: ResumableDeps,
    key: string,
    { id, laterBytesUntrusted }: Checkpoint,
    length: number,
    stored: { offset: number; parts: StoredPart[] },
  ) {
    this.#deps = deps;
    this.#key = key;
    this.#id = id;
    this.#length = length;
    this.laterBytesUntrusted = laterBytesUntrusted;
    this.#offset = stored.offset;
    this.#isComplete = stored.parts.length === 0 && stored.offset === length;
    const { client, shared } = deps;
    this.#parts = new S3Parts({ client, place: this.#place, shared, confirmed: stored.parts });
  }

  get offset(): number {
    return this.#offset;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#isComplete) throw new Error('The object is complete');
    for (let at = 0; at < chunk.byteLength; ) {
      this.#part ??= await this.#parts.next();
      const part = this.#part;
      const bytes = chunk.subarray(at, at + this.#partBytes - part.filled);
      part.buffer.set(bytes, part.filled);
      part.filled += bytes.byteLength;
      at += bytes.byteLength;
      this.#offset += bytes.byteLength;
      if (part.filled === this.#partBytes) await this.#send(part);
    }
  }

  async settle(): Promise<Checkpoint> {
    const part = this.#part;
    if (part !== undefined && this.#offset === this.#length) await this.#send(part);
    await this.#parts.confirmed();
    if (this.#part !== undefined) await this.#storeTail(this.#part);
    return {
      id: this.#id,
      durableBytes: this.#offset,
      tail: [...this.#tail],
      laterBytesUntrusted: this.laterBytesUntrusted,
    };
  }

  async prune(): Promise<void> {
    const keys = this.#obsolete.splice(0);
    // The purge of the video's orphaned objects finds what remains.
    if (keys.length > 0) await this.#deps.delete(keys).catch(() => {});
  }

  async complete(): Promise<void> {
    if (this.#isComplete) return;
    try {
      await this.#parts.complete(this.#id);
    } catch (error) {
      if (!(await this.#completeListed(error))) throw error;
    }
    this.#isComplete = true;
  }

  async close(): Promise<void> {
    await this.#parts.end();
  }

  /**
   * Completes the object after a failed attempt, if that is possible. Another process may have completed it, or may have sent a part again:
   * on a server that encrypts, the part then has a new entity tag.
   */
  async #completeListed(failure: unknown): Promise<boolean> {
    const listed = await listParts(this.#deps, this.#key, this.#id);
    if (listed === null) return (await this.#deps.sizeOf(this.#key)) === this.#length;
    if (!(failure instanceof S3ServiceException && failure.name === 'InvalidPart')) return false;
    // A hanging process may have replaced a part with wrong bytes.
    if (this.laterBytesUntrusted) throw new NotResumableError(this.#key, failure);
    const confirmed = partsWithoutGap(listed, this.#partBytes, this.#length, this.#length);
    if (confirmed.reduce((bytes, { Size }) => bytes + Size, 0) !== this.#length) return false;
    await this.#parts.complete(this.#id, {}, confirmed);
    return true;
  }

  get #partBytes(): number {
    return this.#deps.shared.partBytes;
  }

  get #place(): { Bucket: string; Key: string } {
    return { Bucket: this.#deps.bucket, Key: this.#key };
  }

  /** Reads the first bytes of the current part back from the objects of the tail. */
  async #load(tail: Checkpoint['tail']): Promise<void> {
    try {
      for (const object of tail) {
        const content = await this.#deps.read(object.key);
        if (content.byteLength !== object.bytes) throw new NotResumableError(this.#key);
        await this.write(content);
      }
    } catch (error) {
      await this.close();
      throw error instanceof ObjectNotFoundError ? new NotResumableError(this.#key, error) : error;
    }
    this.#tail = [...tail];
  }

  async #send(part: Part): Promise<void> {
    const number = Math.ceil(this.#offset / this.#partBytes);
    this.#part = undefined;
    this.#obsolete.push(...this.#tail.map((object) => object.key));
    this.#tail = [];
    await this.#parts.send(part, number, this.#id);
  }

  /** Stores the bytes that no object of the tail has yet. If the tail has many objects, stores all its bytes in a new one. */
  async #storeTail({ buffer, filled }: Part): Promise<void> {
    if (filled === bytesOf(this.#tail)) return;
    if (this.#tail.length >= MAX_TAIL_OBJECTS) {
      this.#obsolete.push(...this.#tail.map((object) => object.key));
      this.#tail = [];
    }
    const stored = bytesOf(this.#tail);
    const key = `${tailPrefix(this.#key)}${this.#offset}-${randomUUID()}`;
    const Body = buffer.subarray(stored, filled);
    await this.#deps.client.send(new PutObjectCommand({ Bucket: this.#deps.bucket, Key: key, Body }));
    this.#tail.push({ key, bytes: filled - stored });
  }
}

/** Removes a multipart upload and the objects of its tail. */
export async function discardResumable(
  deps: Pick<ResumableDeps, 'client' | 'bucket' | 'delete'>,
  key: string,
  { id, tail }: Checkpoint,
): Promise<void> {
  const place = { Bucket: deps.bucket, Key: key };
  await deps.client
    .send(new AbortMultipartUploadCommand({ ...place, UploadId: id }))
    .catch((error: unknown) => {
      if (!isNoSuchUpload(error)) throw error;
    });
  if (tail.length > 0) await deps.delete(tail.map((object) => object.key));
}

/** The stored parts by number; null if the multipart upload does not exist. */
async function listParts(
  { client, bucket }: ResumableDeps,
  key: string,
  id: string,
): Promise<Map<number, StoredPart> | null> {
  const listed = new Map<number, StoredPart>();
  let from: string | undefined;
  // The paginator of the SDK never ends if a server returns a marker with its last page.
  do {
    const page = await client
      .send(new ListPartsCommand({ Bucket: bucket, Key: key, UploadId: id, PartNumberMarker: from }))
      .catch((error: unknown) => {
        if (isNoSuchUpload(error)) return null;
        throw error;
      });
    if (page === null) return null;
    for (const { ETag, PartNumber = 0, Size = 0 } of page.Parts ?? []) {
      listed.set(PartNumber, { ...(ETag !== undefined && { ETag }), PartNumber, Size });
    }
    from = page.IsTruncated ? page.NextPartNumberMarker : undefined;
  } while (from !== undefined);
  return listed;
}

/** The parts before the first gap that have their full size and end at or before `limit`. */
function partsWithoutGap(
  listed: Map<number, StoredPart>,
  partBytes: number,
  length: number,
  limit: number,
): StoredPart[] {
  const parts: StoredPart[] = [];
  for (let start = 0; start < limit; start += partBytes) {
    const part = listed.get(parts.length + 1);
    const size = Math.min(partBytes, length - start);
    if (part?.Size !== size || start + size > limit) break;
    parts.push(part);
  }
  return parts;
}

function bytesOf(tail: Checkpoint['tail']): number {
  return tail.reduce((sum, { bytes }) => sum + bytes, 0);
}

function isNoSuchUpload(error: unknown): boolean {
  return error instanceof S3ServiceException && ['NoSuchUpload', 'NotFound'].includes(error.name);
}
