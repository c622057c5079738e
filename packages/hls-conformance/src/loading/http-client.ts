import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A response whose body is not yet read. */
export type OpenResponse = {
  status: number;
  headers: Readonly<Record<string, string>>;
  redirects: string[];
  /** As sent. */
  body: IncomingMessage;
};

export type HttpClientOptions = {
  /** Sent to the origin of the presentation, and to no other. */
  headers?: Readonly<Record<string, string>>;
  origin: string;
  /** Milliseconds until a server that sends nothing has timed out. */
  timeoutMs: number;
};

/** As in browsers. */
const MAX_REDIRECTS = 20;
/** The origin of a web page with a player. */
export const PLAYER_ORIGIN = 'https://player.example';

/**
 * Sends requests as a player in a web page does, and returns the raw responses: bodies as sent, and the list of redirects.
 * It does not use fetch, which decodes bodies and adds headers to conditional requests.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true }),
    'https:': new https.Agent({ keepAlive: true }),
  };

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** Follows redirects. Rejects if there is no response. */
  async request(
    url: string,
    method = 'GET',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<OpenResponse> {
    const redirects: string[] = [];
    for (let address = url; ; ) {
      const response = await this.#sendWithRetry(address, method, headers);
      const location = response.headers.location;
      const status = response.statusCode ?? 0;
      const next = status >= 300 && status < 400 && location !== undefined && URL.canParse(location, address);
      if (!next) return { status, headers: flat(response.headers), redirects, body: response };
      response.resume();
      address = new URL(location, address).href;
      redirects.push(address);
      if (redirects.length > MAX_REDIRECTS) throw new Error('too many redirects');
    }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /** Retries once if the server closes an idle connection at the moment of its reuse. */
  async #sendWithRetry(...request: Parameters<HttpClient['request']>): Promise<IncomingMessage> {
    try {
      return await this.#send(...request);
    } catch (error) {
      if (!(error instanceof StaleConnectionError)) throw error;
      return this.#send(...request);
    }
  }

  #send(
    url: string,
    method = 'GET',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<IncomingMessage> {
    const { protocol, origin } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:')
      throw new Error(`${protocol} is neither http nor https`);
    const request = (protocol === 'http:' ? http : https).request(url, {
      method,
      agent: this.#agents[protocol],
      headers: {
        Origin: PLAYER_ORIGIN,
        'Accept-Encoding': 'gzip',
        ...(origin === this.#options.origin ? this.#options.headers : {}),
        ...headers,
      },
    });
    const { timeoutMs } = this.#options;
    request.setTimeout(timeoutMs, () => {
      request.destroy(new Error(`the server was silent for ${timeoutMs / 1000} s`));
    });
    return new Promise((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = request.reusedSocket && error.code === 'ECONNRESET';
        reject(isStale ? new StaleConnectionError(error.message) : error);
      });
      request.end();
    });
  }
}

class StaleConnectionError extends Error {}

/** The body of a response, decoded if it is gzip. */
export function decodedBody({ headers, body }: Pick<OpenResponse, 'headers' | 'body'>): Readable {
  // `pipeline` passes errors of the body on to the stream that is read.
  return headers['content-encoding'] === 'gzip' ? pipeline(body, createGunzip(), () => {}) : body;
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}
