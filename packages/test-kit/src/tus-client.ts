import { type ClientRequest, request } from 'node:http';

type Headers = Record<string, string>;

export type TusResponse = { status: number; headers: Headers; code: string | undefined };

/** A client of the tus protocol that sends what a test says. It never retries. */
export class TusClient {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  /** Sends a request to an engine. Resolves with undefined if the connection closes without a response. */
  send(
    method: string,
    url: string,
    headers: Headers = {},
    body: Buffer = Buffer.alloc(0),
  ): Promise<TusResponse | undefined> {
    const held = this.hold(method, url, { 'Content-Length': String(body.byteLength), ...headers });
    held.request.end(body);
    return held.response;
  }

  /** Sends the head of a request. The test sends the body. */
  hold(
    method: string,
    url: string,
    headers: Headers,
  ): { request: ClientRequest; response: Promise<TusResponse | undefined> } {
    const sent = request(url, {
      method,
      agent: false,
      headers: { 'Tus-Resumable': '1.0.0', 'X-Upload-Token': this.#token, ...headers },
    });
    sent.flushHeaders();
    const { promise: response, resolve } = Promise.withResolvers<TusResponse | undefined>();
    sent.on('response', (message) => {
      let text = '';
      message.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      message.on('close', () => {
        const { code } = text === '' ? {} : (JSON.parse(text) as { code?: string });
        resolve({ status: message.statusCode ?? 0, headers: message.headers as Headers, code });
      });
    });
    sent.on('error', () => resolve(undefined));
    sent.on('close', () => resolve(undefined));
    return { request: sent, response };
  }

  /** Creates an upload at an engine and resolves with its path. */
  async create(engineUrl: string, length: number, headers: Headers = {}): Promise<string> {
    const response = await this.send('POST', `${engineUrl}/files`, {
      'Upload-Length': String(length),
      ...headers,
    });
    if (response?.status !== 201) throw new Error(`No upload was created: ${JSON.stringify(response)}`);
    return new URL(response.headers.location ?? '', engineUrl).pathname;
  }

  head(url: string): Promise<TusResponse | undefined> {
    return this.send('HEAD', url);
  }

  /** Sends the bytes from `start` to `end` of a file. */
  patch(url: string, file: Buffer, start: number, end = file.byteLength, headers: Headers = {}) {
    return this.send('PATCH', url, { ...part(start), ...headers }, file.subarray(start, end));
  }

  /** Sends the head of a PATCH with `length` bytes from `start`. */
  holdPatch(url: string, start: number, length: number, headers: Headers = {}) {
    return this.hold('PATCH', url, { ...part(start), 'Content-Length': String(length), ...headers });
  }
}

function part(start: number): Headers {
  return { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(start) };
}
