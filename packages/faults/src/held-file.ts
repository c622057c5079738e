import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A web server with one file. It sends the first half at once, and the rest after `release`. */
export class HeldFile {
  readonly #server = createServer();
  readonly #file: Buffer;
  #released = false;
  #open = new Set<ServerResponse>();
  /** The headers of all requests. */
  readonly requests: IncomingHttpHeaders[] = [];

  private constructor(file: Buffer) {
    this.#file = file;
    this.#server.on('request', (req, res: ServerResponse) => {
      this.requests.push(req.headers);
      res.writeHead(200, { 'Content-Length': file.byteLength, ETag: '"1"' });
      res.write(file.subarray(0, this.#half));
      this.#open.add(res);
      res.once('close', () => this.#open.delete(res));
      if (this.#released) res.end(file.subarray(this.#half));
    });
  }

  static async start(file: Buffer): Promise<HeldFile> {
    const held = new HeldFile(file);
    held.#server.listen(0, '127.0.0.1');
    await once(held.#server, 'listening');
    return held;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/clip.mp4`;
  }

  /** Connections that receive the file now. */
  get connections(): number {
    return this.#open.size;
  }

  get #half(): number {
    return Math.floor(this.#file.byteLength / 2);
  }

  /** Sends the rest of the file, also to later requests. */
  release(): void {
    this.#released = true;
    for (const res of this.#open) res.end(this.#file.subarray(this.#half));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
