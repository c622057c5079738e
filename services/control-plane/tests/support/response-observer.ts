import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { ResponseCheck } from '@framelane/openapi-tools/response-check';
import { contractViolations } from './response-rules.ts';

/** A request that the validator of the control plane has assigned to an operation. */
type DescribedRequest = IncomingMessage & { openapi?: { openApiRoute: string } };

type Created = { request: DescribedRequest; response: ServerResponse };

const CREATED = 'http.server.response.created';

/** It compiles the schemas, so all observers of this process share it. */
const check = new ResponseCheck(readOpenApiDocument());

/** Where the operations of the contract begin. */
const BASE = '/v1';

/** Checks every response of some servers of this process against the contract. */
export class ResponseObserver {
  readonly #ports = new Set<number>();
  readonly #violations = new Set<string>();

  readonly #observe = (message: unknown): void => {
    const { request, response } = message as Created;
    if (!this.#ports.has(request.socket.localPort ?? 0)) return;
    const chunks = copyBody(response);
    response.once('finish', () => this.#examine(request, response, Buffer.concat(chunks)));
  };

  constructor() {
    subscribe(CREATED, this.#observe);
  }

  /** Observes the server on this port as well. */
  add(port: number): void {
    this.#ports.add(port);
  }

  /** Stops observing. Throws if a response violated the contract. */
  close(): void {
    unsubscribe(CREATED, this.#observe);
    if (this.#violations.size > 0)
      throw new Error(`Not as in the contract:\n${[...this.#violations].join('\n')}`);
  }

  #examine({ method = '', openapi }: DescribedRequest, response: ServerResponse, body: Buffer): void {
    const path = openapi?.openApiRoute.slice(BASE.length);
    if (path === undefined) return;
    const headers = response.getHeaders() as Record<string, string | undefined>;
    const received = { status: response.statusCode, headers, body: uncompressed(body, headers) };
    const operation = { path, method: method.toLowerCase() };
    for (const violation of contractViolations(operation, received, check))
      this.#violations.add(`${method} ${path} ${response.statusCode}: ${violation}`);
  }
}

/** A whole body of JSON as it was before the compression. */
function uncompressed(body: Buffer, headers: Record<string, string | undefined>): Buffer {
  if (!headers['content-type']?.includes('json')) return body;
  if (headers['content-encoding'] === 'br') return brotliDecompressSync(body);
  return headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
}

/** The chunks that are written to the response from now on: all of JSON, the first one of others. */
function copyBody(response: ServerResponse): Buffer[] {
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    if (chunks.length === 0 || String(response.getHeader('content-type')).includes('json'))
      chunks.push(Buffer.from(chunk as Uint8Array));
  };
  const { write, end } = response;
  response.write = (...args: unknown[]) => {
    keep(args[0]);
    return write.apply(response, args as Parameters<typeof write>);
  };
  response.end = (...args: unknown[]) => {
    keep(args[0]);
    return end.apply(response, args as Parameters<typeof end>);
  };
  return chunks;
}
