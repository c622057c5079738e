import { type Hash, randomUUID } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  AbortMultipartUploadCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { assertKey, assertPrefix } from './object-keys.ts';
import {
  type ByteRange,
  type Checkpoint,
  ObjectExistsError,
  type ObjectInfo,
  ObjectNotFoundError,
  type ObjectStore,
  type PresignedHeaders,
  type ResumableWriter,
  type StoredObject,
} from './object-store.ts';
import { S3Deletions } from './s3-deletions.ts';
import { readContinuously } from './s3-download.ts';
import { SharedBuffers } from './s3-parts.ts';
import { discardResumable, type ResumableDeps, S3ResumableWriter } from './s3-resumable.ts';
import { S3Retries } from './s3-retries.ts';
import { beginMultipartUpload, S3Upload } from './s3-upload.ts';
import { writeInto, writeNewFile } from './write-new-file.ts';

export type S3Options = {
  /** Base address of the server; unset for AWS itself. */
  endpoint?: string;
  /** Base address of presigned URLs, if clients reach the server at another address. */
  publicEndpoint?: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Puts the bucket name into the path instead of the host name. Most servers other than AWS need it. */
  forcePathStyle: boolean;
};

const CONNECT_TIMEOUT_MS = 5_000;
/** A connection without any traffic for this long is dead. */
const IDLE_TIMEOUT_MS = 60_000;
const MAX_CONNECTIONS = 256;
/** Connections for `get`, and how long each may be idle. */
const MAX_READ_CONNECTIONS = 64;
const READ_IDLE_TIMEOUT_MS = 20_000;
/** Time limit of `check`. Checks run often and must not pile up. */
const CHECK_TIMEOUT_MS = 5_000;

/** Keys of one request for a list or a deletion. */
const PAGE = 1000;

/** Metadata field with the id of the `putStream` that stored an object. */
const WRITE_ID = 'write-id';

/** Objects in one bucket of AWS S3 or a compatible server. The bucket must exist. */
export class S3ObjectStore implements ObjectStore {
  readonly kind = 's3';
  readonly #client: S3Client;
  /** For `get`. It has its own connections: readers, who may be slow, never delay other requests. */
  readonly #readClient: S3Client;
  /** Signs URLs for clients; sends no requests. */
  readonly #presigner: S3Client;
  readonly #bucket: string;
  readonly #buffers = new SharedBuffers();
  readonly #deletions: S3Deletions;

  constructor(options: S3Options) {
    const { endpoint, publicEndpoint = endpoint, region, forcePathStyle } = options;
    const { accessKeyId, secretAccessKey } = options;
    const common = { region, forcePathStyle, credentials: { accessKeyId, secretAccessKey } };
    this.#bucket = options.bucket;
    this.#presigner = new S3Client({
      ...common,
      ...(publicEndpoint !== undefined && { endpoint: publicEndpoint }),
    });
    const connect = (maxSockets: number, socketTimeout: number) =>
      new S3Client({
        ...common,
        ...(endpoint !== undefined && { endpoint }),
        // Not every server supports these checksums.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        // With it, the SDK would open a new connection for every part.
        expectContinueHeader: false,
        retryStrategy: new S3Retries(),
        requestHandler: {
          connectionTimeout: CONNECT_TIMEOUT_MS,
          socketTimeout,
          httpAgent: { maxSockets },
          httpsAgent: { maxSockets },
        },
      });
    this.#client = connect(MAX_CONNECTIONS, IDLE_TIMEOUT_MS);
    this.#readClient = connect(MAX_READ_CONNECTIONS, READ_IDLE_TIMEOUT_MS);
    this.#deletions = new S3Deletions(this.#client, this.#bucket);
  }

  async put(key: string, body: Uint8Array, contentType: string): Promise<void> {
    assertKey(key);
    await this.#client.send(new PutObjectCommand({ ...this.#at(key), Body: body, ContentType: contentType }));
  }

  /**
   * An abort destroys the stream, so it has no effect after the last byte was read. `ifAbsent` is a conditional write; a
   * server without conditional writes replaces the object.
   */
  async putStream(
    key: string,
    body: Readable,
    {
      contentType,
      signal,
      ifAbsent = false,
    }: { contentType: string; signal: AbortSignal; ifAbsent?: boolean },
  ): Promise<{ bytes: number }> {
    assertKey(key);
    // Until the stream is read, its error would be an uncaught exception. Reading reports it.
    body.once('error', () => {});
    addAbortSignal(signal, body);
    const writeId = randomUUID();
    const upload = new S3Upload({
      client: this.#client,
      place: this.#at(key),
      facts: { ContentType: contentType, Metadata: { [WRITE_ID]: writeId } },
      shared: this.#buffers,
      ifAbsent,
    });
    try {
      await upload.run(body);
    } catch (error) {
      const onlyTheResponseWasLost = body.readableEnded && (await this.#isFrom(writeId, key));
      if (!onlyTheResponseWasLost)
        throw isError(error, 'PreconditionFailed') ? new ObjectExistsError(key) : error;
    } finally {
      body.destroy();
    }
    return { bytes: upload.bytes };
  }

  async beginResumable(key: string, contentType: string): Promise<Checkpoint> {
    assertKey(key);
    const id = await beginMultipartUpload(this.#client, { ...this.#at(key), ContentType: contentType });
    return { id, durableBytes: 0, tail: [], laterBytesUntrusted: false };
  }

  resume(key: string, checkpoint: Checkpoint, length: number): Promise<ResumableWriter> {
    assertKey(key);
    return S3ResumableWriter.resume(this.#resumableDeps(), key, checkpoint, length);
  }

  async discardResumable(key: string, checkpoint: Checkpoint): Promise<void> {
    assertKey(key);
    await discardResumable(this.#resumableDeps(), key, checkpoint);
  }

  async get(key: string, range?: ByteRange): Promise<StoredObject> {
    assertKey(key);
    return this.#open(key, { client: this.#readClient, ...(range && { range }) });
  }

  async presign(key: string, expiresInSeconds: number, headers?: PresignedHeaders): Promise<string> {
    assertKey(key);
    const command = new GetObjectCommand({
      ...this.#at(key),
      ResponseContentType: headers?.contentType,
      ResponseContentDisposition: headers?.contentDisposition,
      ResponseCacheControl: headers?.cacheControl,
    });
    // The clock as other requests have corrected it.
    const signingDate = new Date(Date.now() + this.#client.config.systemClockOffset);
    return getSignedUrl(this.#presigner, command, { expiresIn: expiresInSeconds, signingDate });
  }

  async head(key: string): Promise<ObjectInfo | null> {
    assertKey(key);
    try {
      const found = await this.#client.send(new HeadObjectCommand(this.#at(key)));
      return infoOf(key, found, found.ContentLength);
    } catch (error) {
      if (isError(error, 'NotFound', 'NoSuchKey')) return null;
      throw error;
    }
  }

  async fetchToFile(key: string, path: string, signal: AbortSignal, hash?: Hash): Promise<void> {
    const first = await this.#open(key, { signal });
    const range = { start: 0, end: first.bytes - 1 };
    try {
      const body = this.#readOn(key, first, range, signal);
      await writeNewFile(hash ? hashing(body, hash) : body, path, { signal });
    } catch (error) {
      // The signal also aborts the connection. That error may come first.
      signal.throwIfAborted();
      throw error;
    } finally {
      first.body.destroy();
    }
  }

  async fetchRange(
    key: string,
    range: ByteRange,
    path: string,
    { signal, onWritten }: { signal: AbortSignal; onWritten: (position: number) => void },
  ): Promise<void> {
    const first = await this.#open(key, { range, signal });
    try {
      const body = this.#readOn(key, first, range, signal);
      await writeInto(body, path, { start: range.start, signal, onWritten });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      first.body.destroy();
    }
  }

  /** Reads an open range, also after its connection breaks. */
  #readOn(key: string, first: StoredObject, range: ByteRange, signal: AbortSignal): Readable {
    const reopen = (start: number) =>
      this.#open(key, { range: { start, end: range.end }, etag: first.etag, signal });
    return readContinuously(first, reopen, range, signal);
  }

  async *list(prefix: string): AsyncIterable<{ key: string; bytes: number; modifiedAt: Date }> {
    for await (const page of this.#pages(prefix)) yield* page;
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) assertKey(key);
    for (let first = 0; first < keys.length; first += PAGE) {
      await this.#deletions.delete(keys.slice(first, first + PAGE));
    }
  }

  async deletePrefix(prefix: string): Promise<void> {
    for await (const page of this.#pages(prefix)) {
      if (page.length === 0) continue;
      await this.#deletions.delete(page.map(({ key }) => key));
    }
  }

  /** Lists all unfinished uploads, which are never many. MinIO matches the prefix of this list with whole keys only. */
  async abortUploads(prefix: string, isLive = async (_key: string) => false): Promise<void> {
    assertPrefix(prefix);
    for await (const { key, id } of this.#unfinishedUploads()) {
      if (key.startsWith(prefix) && !(await isLive(key))) await this.#abortUpload(key, id);
    }
  }

  async abortStaleUploads(before: Date, isLive: (key: string) => Promise<boolean>): Promise<number> {
    let aborted = 0;
    for await (const { key, id, startedAt } of this.#unfinishedUploads()) {
      if (startedAt >= before || (await isLive(key))) continue;
      await this.#abortUpload(key, id);
      aborted += 1;
    }
    return aborted;
  }

  async check(): Promise<void> {
    const abortSignal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    await this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }), { abortSignal });
  }

  /** Closes the connections. The store cannot be used afterwards. */
  close(): void {
    this.#client.destroy();
    this.#readClient.destroy();
    this.#presigner.destroy();
  }

  #resumableDeps(): ResumableDeps {
    return {
      client: this.#client,
      bucket: this.#bucket,
      shared: this.#buffers,
      sizeOf: async (key) => (await this.head(key))?.bytes ?? null,
      read: async (key) => buffer((await this.#open(key, {})).body),
      delete: (keys) => this.#deletions.delete(keys),
    };
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: key };
  }

  /** With `etag` it rejects when the object has another one. */
  async #open(
    key: string,
    {
      range,
      etag,
      signal,
      client = this.#client,
    }: { range?: ByteRange; etag?: string; signal?: AbortSignal; client?: S3Client },
  ): Promise<StoredObject> {
    assertKey(key);
    const command = new GetObjectCommand({
      ...this.#at(key),
      ...(range && { Range: `bytes=${range.start}-${range.end}` }),
      ...(etag !== undefined && { IfMatch: etag }),
    });
    try {
      return storedObject(key, await client.send(command, signal && { abortSignal: signal }), range);
    } catch (error) {
      if (isError(error, 'NoSuchKey', 'NotFound')) throw new ObjectNotFoundError(key);
      if (isError(error, 'InvalidRange')) throw new RangeError(`${key} ends before byte ${range?.start}`);
      throw error;
    }
  }

  /** The objects below a prefix, in pages of at most 1000. */
  async *#pages(prefix: string) {
    assertPrefix(prefix);
    const pages = paginateListObjectsV2({ client: this.#client }, { Bucket: this.#bucket, Prefix: prefix });
    for await (const { Contents = [] } of pages) {
      yield Contents.flatMap(({ Key, Size = 0, LastModified = new Date(0) }) =>
        Key === undefined ? [] : [{ key: Key, bytes: Size, modifiedAt: LastModified }],
      );
    }
  }

  async *#unfinishedUploads(): AsyncIterable<{ key: string; id: string; startedAt: Date }> {
    let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (;;) {
      const page = await this.#client.send(
        new ListMultipartUploadsCommand({ Bucket: this.#bucket, ...from }),
      );
      for (const { Key: key, UploadId: id, Initiated: startedAt } of page.Uploads ?? []) {
        if (key !== undefined && id !== undefined && startedAt !== undefined) yield { key, id, startedAt };
      }
      if (!page.IsTruncated) return;
      from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  async #abortUpload(key: string, uploadId: string): Promise<void> {
    try {
      await this.#client.send(new AbortMultipartUploadCommand({ ...this.#at(key), UploadId: uploadId }));
    } catch (error) {
      if (!isError(error, 'NoSuchUpload')) throw error;
    }
  }

  /** Whether this write stored the object. False when that is unknown. */
  async #isFrom(writeId: string, key: string): Promise<boolean> {
    try {
      const { Metadata } = await this.#client.send(new HeadObjectCommand(this.#at(key)));
      return Metadata?.[WRITE_ID] === writeId;
    } catch {
      return false;
    }
  }
}

/** The response to a request for an object or a range of it. Throws when it lacks something or is another range. */
function storedObject(key: string, found: GetObjectCommandOutput, range?: ByteRange): StoredObject {
  const { Body: body } = found;
  if (!(body instanceof Readable)) throw new Error(`The server sent no body for ${key}`);
  // bytes 0-9/1000
  const [from, wholeSize] = found.ContentRange?.replace(/^bytes /, '').split(/-\d+\//) ?? [];
  try {
    if (range && Number(from) !== range.start) throw new Error(`The server ignored the range of ${key}`);
    return { ...infoOf(key, found, wholeSize === undefined ? found.ContentLength : Number(wholeSize)), body };
  } catch (error) {
    body.destroy();
    throw error;
  }
}

function infoOf(
  key: string,
  { ETag, LastModified }: { ETag?: string | undefined; LastModified?: Date | undefined },
  bytes: number | undefined,
): ObjectInfo {
  if (ETag === undefined || LastModified === undefined || bytes === undefined) {
    throw new Error(`The server's response for ${key} lacks the size, the date or the entity tag`);
  }
  return { bytes, etag: ETag, modifiedAt: LastModified };
}

function isError(error: unknown, ...names: string[]): boolean {
  return error instanceof S3ServiceException && names.includes(error.name);
}

/** The stream, whose bytes are added to `hash` as they are read. */
function hashing(body: Readable, hash: Hash): Readable {
  return Readable.from(
    (async function* () {
      for await (const chunk of body) {
        hash.update(chunk);
        yield chunk;
      }
    })(),
    { objectMode: false },
  );
}
