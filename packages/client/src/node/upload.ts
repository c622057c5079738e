import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { UploadReceipt } from '../contract.ts';
import { ConnectionError, FramelaneError } from '../framelane-error.ts';
import { readReceipt, type UploadOptions, type UploadPermit } from '../upload.ts';
import { type Form, formAround } from './form.ts';
import { bytesOf, nameOf, PIECE_BYTES, sizeOf, type UploadSource } from './upload-source.ts';

/** Some proxies do not support `Expect`, so the client does not wait longer for `100 Continue` (RFC 9110 §10.1.1). */
const CONTINUE_TIMEOUT_MS = 2_000;

/** The engine can wait ten minutes for its storage. A connection without data for longer is dead. */
const IDLE_TIMEOUT_MS = 11 * 60_000;

/**
 * Sends a file to the engine, in constant memory. Resolves when it is stored. Framelane checks later whether it is a video.
 * Throws a FramelaneError if the engine responds with an error, which it can at any time, or the connection fails. The ticket
 * stays valid unless the code is `upload_token_…`.
 */
export async function upload(
  source: UploadSource,
  permit: UploadPermit,
  { onProgress, signal }: UploadOptions = {},
): Promise<UploadReceipt> {
  const size = await sizeOf(source);
  signal?.throwIfAborted();
  const form = formAround(nameOf(source) ?? 'file');
  const bytes = bytesOf(source, size);
  const request = begin(permit, form, size);
  const abort = () => request.destroy();
  signal?.addEventListener('abort', abort);
  try {
    const response = responseTo(request, permit.uploadUrl);
    // A response during the file is an error.
    await Promise.race([response, send(request, form, { bytes, size, onProgress })]);
    const { status, requestId, body } = await response;
    return readReceipt(status, requestId, body);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    bytes.destroy();
    request.destroy();
  }
}

/** Sends the head of the request. The engine checks it before it sends `100 Continue`. */
function begin({ uploadUrl, uploadToken }: UploadPermit, form: Form, size: number | null): ClientRequest {
  const { request } = uploadUrl.startsWith('https:') ? https : http;
  const upload = request(uploadUrl, {
    method: 'POST',
    // A new connection: the server may be closing an idle one.
    agent: false,
    headers: {
      'X-Upload-Token': uploadToken,
      'Content-Type': form.contentType,
      ...(size !== null && { 'Content-Length': form.head.length + size + form.tail.length }),
      Expect: '100-continue',
    },
  });
  upload.flushHeaders();
  return upload;
}

async function send(
  request: ClientRequest,
  { head, tail }: Form,
  { bytes, size, onProgress }: { bytes: Readable; size: number | null } & Pick<UploadOptions, 'onProgress'>,
): Promise<void> {
  await once(request, 'continue', { signal: AbortSignal.timeout(CONTINUE_TIMEOUT_MS) }).catch(() => {});
  await write(request, head);
  let sent = 0;
  for await (const chunk of bytes) {
    for (const piece of piecesOf(chunk)) {
      await write(request, piece);
      sent += piece.byteLength;
      onProgress?.({ sent, total: size });
    }
  }
  if (size !== null && sent < size) {
    throw new FramelaneError('The file became shorter during the upload.', { code: 'source_changed' });
  }
  request.end(tail);
}

/** Splits chunks, because a Blob in memory is one chunk of any size. Throws if a stream yields something other than bytes. */
function* piecesOf(chunk: unknown): Generator<Uint8Array> {
  if (!(chunk instanceof Uint8Array)) throw new TypeError('The source must be a stream of bytes.');
  for (let start = 0; start < chunk.byteLength; start += PIECE_BYTES) {
    yield chunk.subarray(start, start + PIECE_BYTES);
  }
}

/** Resolves when the connection accepts more. */
async function write(request: ClientRequest, chunk: Uint8Array): Promise<void> {
  // Read received data first: a write to a reset connection would lose the response.
  await setImmediate();
  if (!request.write(chunk)) await once(request, 'drain');
}

type UploadResponse = { status: number; requestId: string | null; body: string };

/** The whole response. Rejects if the connection ends without one. */
async function responseTo(request: ClientRequest, url: string): Promise<UploadResponse> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve);
      // After a response, this handler ignores errors of the rest of the file.
      request.on('error', reject);
      request.setTimeout(IDLE_TIMEOUT_MS, () => request.destroy());
    });
    const { statusCode: status = 0, headers } = response;
    return { status, requestId: headers['x-request-id']?.toString() ?? null, body: await text(response) };
  } catch (cause) {
    throw new ConnectionError(url, cause);
  }
}
