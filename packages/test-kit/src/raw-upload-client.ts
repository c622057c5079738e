import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { BOUNDARY } from './multipart.ts';
import { until } from './until.ts';

/** A response as it was received. */
export type RawResponse = { status: number; headers: Map<string, string>; body: Record<string, unknown> };

/** An HTTP client on a plain socket: the test controls every byte of the upload. */
export class RawClient {
  readonly socket: Socket;
  #received = '';
  closed = false;

  static async connect(port: number): Promise<RawClient> {
    const client = new RawClient(connect(port, '127.0.0.1'));
    await once(client.socket, 'connect');
    return client;
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.#received += chunk.toString('utf8');
    });
    socket.on('close', () => {
      this.closed = true;
    });
    // The server may reset the connection while the client writes.
    socket.on('error', () => {});
  }

  get received(): string {
    return this.#received;
  }

  /** Sends the head of an upload. `length` null sends a chunked body. */
  sendHead(options: { token?: string; length: number | null; headers?: Record<string, string> }): void {
    const headers: Record<string, string> = {
      Host: 'engine',
      'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
      ...(options.token !== undefined && { 'X-Upload-Token': options.token }),
      ...(options.length === null
        ? { 'Transfer-Encoding': 'chunked' }
        : { 'Content-Length': String(options.length) }),
      ...options.headers,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`POST /upload HTTP/1.1\r\n${lines.join('')}\r\n`);
  }

  send(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  /** Sends bytes, and waits while the server does not read. Throws with the response if the server closes the connection. */
  async sendWithBackpressure(bytes: Buffer): Promise<void> {
    if (this.socket.write(bytes)) return;
    await new Promise<void>((resolve, reject) => {
      const fail = () => reject(new Error(`The server closed the connection: ${this.#received}`));
      if (this.closed) fail();
      this.socket.once('close', fail).once('drain', () => {
        this.socket.off('close', fail);
        resolve();
      });
    });
  }

  /** Sends one chunk of a chunked body. */
  sendChunk(bytes: Buffer | string): void {
    this.socket.write(`${Buffer.byteLength(bytes).toString(16)}\r\n`);
    this.socket.write(bytes);
    this.socket.write('\r\n');
  }

  /** Waits for the final response. */
  response(seconds?: number): Promise<RawResponse> {
    return until(() => parseResponse(this.#received.replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, '')), {
      what: 'a response',
      ...(seconds !== undefined && { seconds }),
    });
  }

  async closedByServer(): Promise<void> {
    await until(() => this.closed, { what: 'the server closes the connection' });
  }

  /** Resets the connection instead of closing it, like a client that crashes. */
  disconnect(): void {
    // Node never frees a socket that is reset while it is ending.
    if (this.socket.writableEnded) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }
}

function parseResponse(text: string): RawResponse | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = Buffer.from(text.slice(end + 4));
  if (body.byteLength < Number(headers.get('content-length') ?? 0)) return undefined;
  return { status: Number(statusLine.split(' ')[1]), headers, body: JSON.parse(body.toString() || '{}') };
}
