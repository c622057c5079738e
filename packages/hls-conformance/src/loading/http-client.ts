import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A response whose body is not yet read. */
export type OpenAnswer = {
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

/** Browsers follow as many. */
const MAX_REDIRECTS = 20;
/** A page of another origin, as players in browsers are. */
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

  /** Rejects without a response. */
  async ask(
    url: string,
    method = 'GET',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<OpenAnswer> {
    const redirects: string[] = [];
    for (let address = url; ; ) {
      const answer = await this.#sendAgain(address, method, headers);
      const location = answer.headers.location;
      const status = answer.statusCode ?? 0;
      const next = status >= 300 && status < 400 && location !== undefined && URL.canParse(location, address);
      if (!next) return { status, headers: flat(answer.headers), redirects, body: answer };
      answer.resume();
      address = new URL(location, address).href;
      redirects.push(address);
      if (redirects.length > MAX_REDIRECTS) throw new Error('too many redirects');
    }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /** A connection that was kept may be closed by the server just when it is used again; that is nobody's fault. */
  async #sendAgain(...request: Parameters<HttpClient['ask']>): Promise<IncomingMessage> {
    try {
      return await this.#send(...request);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
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
        reject(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection() : error);
      });
      request.end();
    });
  }
}

class StaleConnection extends Error {}

/** The body of an answer without its content coding; unknown codings are left as they are. */
export function decodedBody({ headers, body }: Pick<OpenAnswer, 'headers' | 'body'>): Readable {
  // An error of the body becomes one of the result, which is what is read.
  return headers['content-encoding'] === 'gzip' ? pipeline(body, createGunzip(), () => {}) : body;
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}
