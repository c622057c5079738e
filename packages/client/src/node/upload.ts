import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { UploadReceipt } from '../contract.ts';
import { connectionFailed, FramelaneError } from '../framelane-error.ts';
import { readReceipt, type UploadOptions, type UploadPermit } from '../upload.ts';
import { type Form, formAround } from './form.ts';
import { bytesOf, nameOf, PIECE_BYTES, sizeOf, type UploadSource } from './upload-source.ts';

/** Not everything between us and the engine knows `Expect`: a client is not to wait for ever (RFC 9110 §10.1.1). */
const GO_AHEAD_LIMIT_MS = 2_000;

/** The engine may wait for its storage for ten minutes. A connection that is silent for longer is dead. */
const SILENCE_LIMIT_MS = 11 * 60_000;

/**
 * Sends a file to the engine, in constant memory. Resolves when it is safe there; whether it is a video turns out later,
 * in its record. Throws a FramelaneError if the engine refuses it, which it may at any time, or the connection is lost;
 * the ticket can be used again unless the code is `upload_token_…`.
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
    const answer = answerTo(request, permit.uploadUrl);
    // An answer in the middle of the file is a refusal.
    await Promise.race([answer, send(request, form, { bytes, size, onProgress })]);
    const { status, requestId, body } = await answer;
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

/** Sends the head of the request. The engine judges it before it lets the file come. */
function begin({ uploadUrl, uploadToken }: UploadPermit, form: Form, size: number | null): ClientRequest {
  const { request } = uploadUrl.startsWith('https:') ? https : http;
  const upload = request(uploadUrl, {
    method: 'POST',
    // A connection of its own: one that was used before may just be closing.
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
  await once(request, 'continue', { signal: AbortSignal.timeout(GO_AHEAD_LIMIT_MS) }).catch(() => {});
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
    throw new FramelaneError('The file became shorter while it was sent.', { code: 'source_changed' });
  }
  request.end(tail);
}

/** A Blob in memory comes as one chunk, however large. Throws when a stream yields something else than bytes. */
function* piecesOf(chunk: unknown): Generator<Uint8Array> {
  if (!(chunk instanceof Uint8Array)) throw new TypeError('What is uploaded has to be a stream of bytes.');
  for (let start = 0; start < chunk.byteLength; start += PIECE_BYTES) {
    yield chunk.subarray(start, start + PIECE_BYTES);
  }
}

/** Resolves when there is room for more. */
async function write(request: ClientRequest, chunk: Uint8Array): Promise<void> {
  // First all that has come in is read: a write that finds the connection reset would take an answer with it.
  await setImmediate();
  if (!request.write(chunk)) await once(request, 'drain');
}

type Answer = { status: number; requestId: string | null; body: string };

/** The whole answer, whenever it comes. Rejects when the connection ends without one. */
async function answerTo(request: ClientRequest, url: string): Promise<Answer> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve);
      // That the rest of the file finds no taker is no news once there is an answer.
      request.on('error', reject);
      request.setTimeout(SILENCE_LIMIT_MS, () => request.destroy());
    });
    const { statusCode: status = 0, headers } = response;
    return { status, requestId: headers['x-request-id']?.toString() ?? null, body: await text(response) };
  } catch (cause) {
    throw connectionFailed(url, cause);
  }
}
