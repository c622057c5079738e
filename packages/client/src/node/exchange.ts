import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { ConnectionError, FramelaneError } from '../framelane-error.ts';
import type { EngineResponse } from '../resumable-upload.ts';
import { PIECE_BYTES } from './upload-source.ts';

/** Some proxies do not support `Expect`, so the client does not wait longer for `100 Continue` (RFC 9110 §10.1.1). */
const CONTINUE_TIMEOUT_MS = 2_000;

export type Body = {
  bytes: Readable;
  /** The size of `bytes`; null if unknown. */
  size: number | null;
  /** Sent before and after `bytes`. */
  head?: Buffer;
  tail?: Buffer;
  /** Called with the part of `bytes` that was sent so far. */
  onSent?: ((bytes: number) => void) | undefined;
};

/**
 * Sends a request, in constant memory, and resolves with the response, which may come during the body. Rejects with a
 * ConnectionError without a complete response, or with the reason of `signal`.
 */
export async function exchange(
  {
    url,
    method,
    headers,
    idleMs,
  }: { url: string; method: string; headers: OutgoingHttpHeaders; idleMs: number },
  body: Body | undefined,
  signal: AbortSignal | undefined,
): Promise<EngineResponse> {
  const request = begin(url, method, { ...headers, ...(body && bodyHeaders(body)) });
  const abort = () => request.destroy();
  signal?.addEventListener('abort', abort);
  try {
    const response = responseTo(request, url, idleMs);
    if (body) await Promise.race([response, send(request, body)]);
    else request.end();
    return await response;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    body?.bytes.destroy();
    request.destroy();
  }
}

/** The engine checks the head of a request before it sends `100 Continue`. */
function bodyHeaders({ size, head, tail }: Body): OutgoingHttpHeaders {
  const around = (head?.length ?? 0) + (tail?.length ?? 0);
  return { ...(size !== null && { 'Content-Length': around + size }), Expect: '100-continue' };
}

function begin(url: string, method: string, headers: OutgoingHttpHeaders): ClientRequest {
  const { request } = url.startsWith('https:') ? https : http;
  // A new connection: the server may be closing an idle one.
  return request(url, { method, agent: false, headers });
}

async function send(request: ClientRequest, { bytes, size, head, tail, onSent }: Body): Promise<void> {
  request.flushHeaders();
  await once(request, 'continue', { signal: AbortSignal.timeout(CONTINUE_TIMEOUT_MS) }).catch(() => {});
  if (head) await write(request, head);
  let sent = 0;
  for await (const chunk of bytes) {
    for (const piece of piecesOf(chunk)) {
      await write(request, piece);
      sent += piece.byteLength;
      onSent?.(sent);
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

/** The whole response. Rejects if the connection ends without one. */
async function responseTo(request: ClientRequest, url: string, idleMs: number): Promise<EngineResponse> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve);
      // After a response, this handler ignores errors of the rest of the file.
      request.on('error', reject);
      request.setTimeout(idleMs, () => request.destroy());
    });
    const { statusCode: status = 0, headers } = response;
    return { status, header: (name) => headers[name]?.toString() ?? null, body: await text(response) };
  } catch (cause) {
    throw new ConnectionError(url, cause);
  }
}
