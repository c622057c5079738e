import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { ReceivedResponse } from '@framelane/openapi-tools/response-check';

/** A raw request. The path is sent unchanged, header values as Latin-1. */
export type WireRequest = {
  method: string;
  path: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
};

/** The time limit of a response. */
const LIMIT_MS = 30_000;

class StaleConnectionError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Sends requests one after another over persistent connections. */
export class HttpExchange {
  readonly #origin: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Resolves with the response; rejects after the timeout. */
  async send(wire: WireRequest): Promise<ReceivedResponse> {
    try {
      return await this.#sendOver(this.#agent, wire);
    } catch (error) {
      // A persistent connection can end while idle. A request that breaks connections also breaks a new one.
      if (error instanceof StaleConnectionError) return this.#sendOver(new Agent(), wire);
      throw error;
    }
  }

  #sendOver(agent: Agent, { method, path, headers, body }: WireRequest): Promise<ReceivedResponse> {
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
          (content) => resolve({ status, headers: received as ReceivedResponse['headers'], body: content }),
          reject,
        );
      });
      // Ignored after the response: the server may not read the rest of the body.
      sending.on('error', (error) => reject(sending.reusedSocket ? new StaleConnectionError(error) : error));
      sending.on('timeout', () => sending.destroy(new Error(`No response within ${LIMIT_MS} ms`)));
      sending.end(body);
    });
  }

  /** The request as a curl command, to read and to repeat. */
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

/** Longer values are truncated. */
const SHOWN_BYTES = 600;

/** A quoted word for bash; a long one is truncated. */
function quoted(bytes: Buffer): string {
  const shown = bytes.subarray(0, SHOWN_BYTES);
  const rest = bytes.byteLength - shown.byteLength;
  const comment = rest > 0 ? ` # and ${rest} bytes more` : '';
  const plain = shown.every((byte) => byte >= 0x20 && byte < 0x7f);
  if (plain) return `'${shown.toString().replaceAll("'", `'\\''`)}'${comment}`;
  const escaped = [...shown].map((byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return `$'${escaped.join('')}'${comment}`;
}
