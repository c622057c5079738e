import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Answer } from '@framelane/openapi/answer-check';

/** A request as it goes over the wire. The path is sent as it is, header values as Latin-1. */
export type WireRequest = {
  method: string;
  path: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
};

/** Longest wait for an answer. */
const LIMIT_MS = 30_000;

class StaleConnectionError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Sends requests one after another over connections that are kept. */
export class HttpExchange {
  readonly #origin: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Resolves with the answer; rejects when there is none in time, or none at all. */
  async send(wanted: WireRequest): Promise<Answer> {
    try {
      return await this.#sendOver(this.#agent, wanted);
    } catch (error) {
      // A kept connection may end while it is idle; a request that ends connections ends a new one, too.
      if (error instanceof StaleConnectionError) return this.#sendOver(new Agent(), wanted);
      throw error;
    }
  }

  #sendOver(agent: Agent, { method, path, headers, body }: WireRequest): Promise<Answer> {
    const { hostname, port } = new URL(this.#origin);
    const length: [string, string] = ['Content-Length', String(body?.byteLength ?? 0)];
    return new Promise((resolve, reject) => {
      const sending = request({
        hostname,
        port,
        method: method.toUpperCase(),
        path,
        agent,
        timeout: LIMIT_MS,
        headers: [...headers, length, ['Host', 'framelane.test']].flat(),
      });
      sending.on('response', (response) => {
        const { statusCode: status = 0, headers: received } = response;
        buffer(response).then(
          (content) => resolve({ status, headers: received as Answer['headers'], body: content }),
          reject,
        );
      });
      // Of no matter once there is an answer: the rest of the body may be unwanted.
      sending.on('error', (error) => reject(sending.reusedSocket ? new StaleConnectionError(error) : error));
      sending.on('timeout', () => sending.destroy(new Error(`No answer within ${LIMIT_MS} ms`)));
      sending.end(body);
    });
  }

  /** The same request as a line for a shell; for people to read and to repeat. */
  toCurl({ method, path, headers, body }: WireRequest): string {
    const options = [
      method === 'head' ? '-I' : `-X ${method.toUpperCase()}`,
      ...headers.map(([name, value]) => `-H ${quoted(Buffer.from(`${name}: ${value}`, 'latin1'))}`),
      ...(body ? [`--data-binary ${quoted(body)}`] : []),
    ];
    return `curl -sS --path-as-is ${options.join(' ')} ${quoted(Buffer.from(this.#origin + path, 'latin1'))}`;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Bytes a reader has no use for beyond this are left out. */
const SHOWN_BYTES = 600;

/** A word for bash; a long one is cut. */
function quoted(bytes: Buffer): string {
  const shown = bytes.subarray(0, SHOWN_BYTES);
  const rest = bytes.byteLength - shown.byteLength;
  const note = rest > 0 ? ` # and ${rest} bytes more` : '';
  const plain = shown.every((byte) => byte >= 0x20 && byte < 0x7f);
  if (plain) return `'${shown.toString().replaceAll("'", `'\\''`)}'${note}`;
  const escaped = [...shown].map((byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return `$'${escaped.join('')}'${note}`;
}
