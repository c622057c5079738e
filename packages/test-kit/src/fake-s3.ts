import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { until } from './until.ts';

/** As on AWS. */
const MIN_PART_BYTES = 5 * 1024 * 1024;

export type Operation =
  | 'HeadBucket'
  | 'ListObjects'
  | 'DeleteObjects'
  | 'DeleteObject'
  | 'ListUploads'
  | 'PutObject'
  | 'GetObject'
  | 'HeadObject'
  | 'CreateUpload'
  | 'UploadPart'
  | 'ListParts'
  | 'CompleteUpload'
  | 'AbortUpload';

/**
 * - `error`, `bad-request`, `forbidden`, `conflict`: responds with 500, 400, 403, 409.
 * - `error-in-200`: responds with 200 and an error in the body. The SDK overlooks `quiet-error-in-200`.
 * - `cut`: drops the connection before the operation, `cut-after` after it, `cut-halfway` after half of an object.
 * - `hang`: sends no response, `hang-halfway` half of an object.
 */
export type Fault =
  | 'error'
  | 'error-in-200'
  | 'quiet-error-in-200'
  | 'bad-request'
  | 'forbidden'
  | 'conflict'
  | 'cut'
  | 'cut-after'
  | 'cut-halfway'
  | 'hang'
  | 'hang-halfway';

/** Bytes on disk, so that tests can measure the memory of this process. */
type Blob = { path: string; bytes: number; md5: string };
type StoredObject = { blobs: Blob[]; etag: string; headers: Record<string, string>; modifiedAt: Date };
type UnfinishedUpload = {
  id: string;
  key: string;
  headers: Record<string, string>;
  parts: Map<number, Blob>;
  startedAt: Date;
};
type Request = { key: string; query: URLSearchParams; message: IncomingMessage };
type Reply = { status: number; headers?: Record<string, string>; body?: AsyncIterable<Buffer> };

/**
 * An S3 server with one bucket and the operations that the object store needs. It checks parts and deletions like AWS and
 * injects errors.
 */
export class FakeS3 {
  readonly bucket = 'bucket';
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, UnfinishedUpload>();
  /** All requested operations, in order. */
  readonly log: Operation[] = [];
  /** Keys that DeleteObjects cannot delete. */
  readonly undeletable = new Set<string>();
  /** Entries on one page of a list. */
  pageSize = 1000;
  /** The size of the smallest part that is not the last one. */
  minPartBytes = MIN_PART_BYTES;
  /** Whether it supports conditional writes (If-None-Match). */
  knowsConditions = true;
  /** The checksums that it accepts with DeleteObjects. With `none`, it does not support DeleteObjects. */
  deletions: 'any' | 'md5' | 'none' = 'any';
  /** Bytes of objects sent. */
  bytesSent = 0;
  /** Reads of objects that are in progress. */
  downloads = 0;
  readonly #directory: string;
  readonly #server: Server;
  #faults: { operation: Operation; fault: Fault; times: number }[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
    this.#server = createServer((message, response) => {
      this.#handle(message, response).catch(() => message.socket.destroy());
    });
  }

  static async start(): Promise<FakeS3> {
    const fake = new FakeS3(await mkdtemp(join(tmpdir(), 'fake-s3-')));
    fake.#server.listen(0, '127.0.0.1');
    await once(fake.#server, 'listening');
    return fake;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Makes the next `times` requests for an operation fail. */
  inject(operation: Operation, fault: Fault, times = Number.POSITIVE_INFINITY): void {
    this.#faults.push({ operation, fault, times });
  }

  /** Ends all faults. */
  heal(): void {
    this.#faults = [];
  }

  /** Closes all connections. */
  hangUp(): void {
    this.#server.closeAllConnections();
  }

  /** Resolves once an operation was requested. */
  async waitFor(operation: Operation): Promise<void> {
    await until(() => this.log.includes(operation));
  }

  /** Removes all objects, unfinished uploads and faults, and restores the settings. */
  reset(): void {
    this.objects.clear();
    this.uploads.clear();
    this.undeletable.clear();
    this.log.length = 0;
    this.pageSize = 1000;
    this.minPartBytes = MIN_PART_BYTES;
    this.knowsConditions = true;
    this.deletions = 'any';
    this.bytesSent = 0;
    this.heal();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await rm(this.#directory, { recursive: true });
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url ?? '/', 'http://fake');
    const [, bucket, ...rest] = url.pathname.split('/');
    const key = rest.map(decodeURIComponent).join('/');
    const query = url.searchParams;
    const operation = operationOf(message.method ?? '', key, query);
    this.log.push(operation);
    const fault = this.#nextFault(operation);

    if (fault === 'cut') {
      message.socket.destroy();
      return;
    }
    if (fault === 'hang') return;
    let reply: Reply;
    if (fault === 'error') reply = failure(500, 'InternalError');
    else if (fault === 'bad-request') reply = failure(400, 'IncompleteBody');
    else if (fault === 'forbidden') reply = failure(403, 'AccessDenied');
    else if (fault === 'conflict') reply = failure(409, 'ConditionalRequestConflict');
    else if (fault === 'error-in-200') reply = { ...failure(500, 'InternalError'), status: 200 };
    else if (fault === 'quiet-error-in-200') reply = xml('<Error><Code>InternalError</Code></Error>\n');
    else if (bucket !== this.bucket) reply = failure(404, 'NoSuchBucket');
    else reply = await this.#perform(operation, { key, query, message });

    message.resume();
    if (operation === 'GetObject') {
      this.downloads += 1;
      response.once('close', () => {
        this.downloads -= 1;
      });
    }
    if (fault === 'cut-after') message.socket.destroy();
    else await send(reply, message, response, fault);
  }

  #nextFault(operation: Operation): Fault | undefined {
    const next = this.#faults.find((fault) => fault.operation === operation && fault.times > 0);
    if (next) next.times -= 1;
    return next?.fault;
  }

  async #perform(operation: Operation, request: Request): Promise<Reply> {
    switch (operation) {
      case 'HeadBucket':
        return { status: 200 };
      case 'ListObjects':
        return this.#listObjects(request);
      case 'DeleteObjects':
        return this.#deleteObjects(request);
      case 'DeleteObject':
        this.objects.delete(request.key);
        return { status: 204 };
      case 'ListUploads':
        return this.#listUploads(request);
      case 'PutObject':
        return this.#putObject(request);
      case 'GetObject':
      case 'HeadObject':
        return this.#getObject(request);
      case 'CreateUpload':
        return this.#createUpload(request);
      case 'UploadPart':
        return this.#uploadPart(request);
      case 'ListParts':
        return this.#listParts(request);
      case 'CompleteUpload':
        return this.#completeUpload(request);
      case 'AbortUpload':
        return this.uploads.delete(request.query.get('uploadId') ?? '')
          ? { status: 204 }
          : failure(404, 'NoSuchUpload');
    }
  }

  async #putObject({ key, message }: Request): Promise<Reply> {
    const blob = await this.#save(message);
    const refusal = this.#refusalToReplace(key, message);
    if (refusal) return refusal;
    const etag = `"${blob.md5}"`;
    this.objects.set(key, { blobs: [blob], etag, headers: factsOf(message), modifiedAt: new Date() });
    return { status: 200, headers: { ETag: etag } };
  }

  #getObject({ key, message, query }: Request): Reply {
    const object = this.objects.get(key);
    if (!object) return failure(404, 'NoSuchKey');
    const { 'if-match': wanted = object.etag } = message.headers;
    if (wanted !== object.etag) return failure(412, 'PreconditionFailed');
    const size = sizeOf(object);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(message.headers.range ?? '') ?? [];
    const start = Number(from ?? 0);
    const end = Math.min(Number(to ?? size - 1), size - 1);
    if (from !== undefined && start >= size) return failure(416, 'InvalidRange');
    return {
      status: from === undefined ? 200 : 206,
      headers: {
        ...object.headers,
        ...replacedHeaders(query),
        // The CORS rule that redirected players need.
        'Access-Control-Allow-Origin': '*',
        ETag: object.etag,
        'Last-Modified': object.modifiedAt.toUTCString(),
        'Content-Length': String(end - start + 1),
        ...(from !== undefined && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
      },
      body: this.#counted(read(object.blobs, start, end)),
    };
  }

  async *#counted(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      this.bytesSent += piece.byteLength;
      yield piece;
    }
  }

  #listObjects({ query }: Request): Reply {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? '';
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, this.pageSize);
    const contents = page.map((key) => {
      const object = this.objects.get(key) as StoredObject;
      const modifiedAt = object.modifiedAt.toISOString();
      return `<Contents><Key>${key}</Key><Size>${sizeOf(object)}</Size><LastModified>${modifiedAt}</LastModified></Contents>`;
    });
    const more = keys.length > page.length;
    const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    return xml(
      `<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    );
  }

  async #deleteObjects({ message }: Request): Promise<Reply> {
    const body = await text(message);
    const keys = [...body.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key = '']) => key);
    if (this.deletions === 'none') return failure(501, 'NotImplemented');
    const { 'content-md5': md5, 'x-amz-checksum-crc32': crc32 } = message.headers;
    if (md5 === undefined && this.deletions === 'md5') return failure(400, 'InvalidRequest');
    if (md5 !== undefined && md5 !== createHash('md5').update(body).digest('base64'))
      return failure(400, 'BadDigest');
    const proof = md5 ?? crc32;
    if (proof === undefined) return failure(400, 'InvalidRequest');
    if (keys.length === 0 || keys.length > 1000) return failure(400, 'MalformedXML');
    const errors = keys.map((key) => {
      if (this.undeletable.has(key)) return `<Error><Key>${key}</Key><Code>AccessDenied</Code></Error>`;
      this.objects.delete(key);
      return '';
    });
    return xml(`<DeleteResult>${errors.join('')}</DeleteResult>`);
  }

  #createUpload({ key, message }: Request): Reply {
    const id = randomUUID();
    this.uploads.set(id, { id, key, headers: factsOf(message), parts: new Map(), startedAt: new Date() });
    return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  async #uploadPart({ query, message }: Request): Promise<Reply> {
    const blob = await this.#save(message);
    const upload = this.uploads.get(query.get('uploadId') ?? '');
    if (!upload) return failure(404, 'NoSuchUpload');
    upload.parts.set(Number(query.get('partNumber')), blob);
    return { status: 200, headers: { ETag: `"${blob.md5}"` } };
  }

  #listParts({ query }: Request): Reply {
    const upload = this.uploads.get(query.get('uploadId') ?? '');
    if (!upload) return failure(404, 'NoSuchUpload');
    const after = Number(query.get('part-number-marker') ?? 0);
    const remaining = [...upload.parts].filter(([number]) => number > after).sort(([a], [b]) => a - b);
    const page = remaining.slice(0, this.pageSize);
    const parts = page.map(
      ([number, { bytes, md5 }]) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>"${md5}"</ETag><Size>${bytes}</Size></Part>`,
    );
    const more = remaining.length > page.length;
    const next = more ? `<NextPartNumberMarker>${page.at(-1)?.[0]}</NextPartNumberMarker>` : '';
    return xml(
      `<ListPartsResult><IsTruncated>${more}</IsTruncated>${next}${parts.join('')}</ListPartsResult>`,
    );
  }

  async #completeUpload({ key, query, message }: Request): Promise<Reply> {
    const body = (await text(message)).replaceAll('&quot;', '"');
    const upload = this.uploads.get(query.get('uploadId') ?? '');
    if (!upload) return failure(404, 'NoSuchUpload');
    const refusal = this.#refusalToReplace(key, message);
    if (refusal) return refusal;
    const blobs: Blob[] = [];
    let last = 0;
    for (const [part] of body.matchAll(/<Part>.*?<\/Part>/g)) {
      const number = Number(/<PartNumber>(\d+)</.exec(part)?.[1]);
      const blob = upload.parts.get(number);
      if (!blob || !part.includes(`"${blob.md5}"`)) return failure(400, 'InvalidPart');
      if (number <= last) return failure(400, 'InvalidPartOrder');
      last = number;
      blobs.push(blob);
    }
    if (blobs.slice(0, -1).some(({ bytes }) => bytes < this.minPartBytes))
      return failure(400, 'EntityTooSmall');
    const digest = createHash('md5');
    for (const { md5 } of blobs) digest.update(md5, 'hex');
    const etag = `"${digest.digest('hex')}-${blobs.length}"`;
    this.objects.set(key, { blobs, etag, headers: upload.headers, modifiedAt: new Date() });
    this.uploads.delete(upload.id);
    return xml(
      `<CompleteMultipartUploadResult><Key>${key}</Key><ETag>${etag}</ETag></CompleteMultipartUploadResult>`,
    );
  }

  #refusalToReplace(key: string, { headers }: IncomingMessage): Reply | undefined {
    if (headers['if-none-match'] === undefined) return undefined;
    if (!this.knowsConditions) return failure(501, 'NotImplemented');
    return this.objects.has(key) ? failure(412, 'PreconditionFailed') : undefined;
  }

  #listUploads({ query }: Request): Reply {
    const place = ({ key, id }: { key: string; id: string }) => `${key} ${id}`;
    const after = place({ key: query.get('key-marker') ?? '', id: query.get('upload-id-marker') ?? '' });
    const all = [...this.uploads.values()].sort((a, b) => (place(a) < place(b) ? -1 : 1));
    const remaining = all.filter((upload) => place(upload) > after);
    const page = remaining.slice(0, this.pageSize);
    const uploads = page.map(
      ({ key, id, startedAt }) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${startedAt.toISOString()}</Initiated></Upload>`,
    );
    const more = remaining.length > page.length;
    const { key = '', id = '' } = page.at(-1) ?? {};
    const next = more
      ? `<NextKeyMarker>${key}</NextKeyMarker><NextUploadIdMarker>${id}</NextUploadIdMarker>`
      : '';
    return xml(
      `<ListMultipartUploadsResult><IsTruncated>${more}</IsTruncated>${next}${uploads.join('')}</ListMultipartUploadsResult>`,
    );
  }

  async #save(message: IncomingMessage): Promise<Blob> {
    const path = join(this.#directory, randomUUID());
    const hash = createHash('md5');
    let bytes = 0;
    message.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.byteLength;
    });
    await pipeline(message, createWriteStream(path));
    return { path, bytes, md5: hash.digest('hex') };
  }
}

function operationOf(method: string, key: string, query: URLSearchParams): Operation {
  const onBucket = key === '';
  const kinds: Record<string, Operation | undefined> = {
    HEAD: onBucket ? 'HeadBucket' : 'HeadObject',
    GET: onBucket
      ? query.has('uploads')
        ? 'ListUploads'
        : 'ListObjects'
      : query.has('uploadId')
        ? 'ListParts'
        : 'GetObject',
    PUT: query.has('partNumber') ? 'UploadPart' : 'PutObject',
    POST: onBucket ? 'DeleteObjects' : query.has('uploads') ? 'CreateUpload' : 'CompleteUpload',
    DELETE: query.has('uploadId') ? 'AbortUpload' : 'DeleteObject',
  };
  const operation = kinds[method];
  if (!operation) throw new Error(`The fake does not support ${method} ${key}?${query}`);
  return operation;
}

function failure(status: number, code: string): Reply {
  return { ...xml(`<Error><Code>${code}</Code></Error>`), status };
}

function xml(body: string): Reply {
  const document = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`);
  return { status: 200, headers: { 'Content-Type': 'application/xml' }, body: Readable.from([document]) };
}

/** The headers of a write that every read returns. */
function factsOf({ headers }: IncomingMessage): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => name === 'content-type' || name.startsWith('x-amz-meta-'),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

/** The headers that a presigned URL asks for, e.g. `response-content-type`. */
function replacedHeaders(query: URLSearchParams): Record<string, string> {
  const replaced = [...query].filter(([name]) => name.startsWith('response-'));
  return Object.fromEntries(replaced.map(([name, value]) => [name.slice('response-'.length), value]));
}

function sizeOf({ blobs }: StoredObject): number {
  return blobs.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Bytes `start` to `end`, inclusive, of concatenated blobs. */
async function* read(blobs: Blob[], start: number, end: number): AsyncGenerator<Buffer> {
  let offset = 0;
  for (const { path, bytes } of blobs) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, bytes - 1);
    if (from <= to) yield* createReadStream(path, { start: from, end: to });
    offset += bytes;
  }
}

async function send(
  { status, headers = {}, body = Readable.from([]) }: Reply,
  { method, socket }: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<void> {
  response.writeHead(status, headers);
  if (method === 'HEAD') {
    response.end();
  } else if (fault === 'cut-halfway' || fault === 'hang-halfway') {
    await pipeline(firstBytes(body, Number(headers['Content-Length']) / 2), response, { end: false });
    if (fault === 'cut-halfway') socket.destroy();
  } else {
    await pipeline(body, response);
  }
}

async function* firstBytes(body: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const chunk of body) {
    yield chunk.subarray(0, left);
    left -= chunk.byteLength;
    if (left <= 0) return;
  }
}
