import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A status in place of the response; or the response is lost; or the connection breaks after some bytes of the body. */
export type Fault = number | 'lost' | { afterBytes: number };

/** Stands between a client and the engine. It injects faults and serves pages of the test. */
export class FaultyProxy {
  readonly #engineUrl: string;
  readonly #server: Server;
  readonly #faults: { method: string; fault: Fault }[] = [];
  /** Paths of this server, with their HTML or JavaScript. */
  readonly pages = new Map<string, string>();

  static async start(engineUrl: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(engineUrl);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(engineUrl: string) {
    this.#engineUrl = engineUrl;
    this.#server = createServer((req, res) => this.#handle(req, res));
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next request with this method has this fault. */
  inject(method: string, fault: Fault): void {
    this.#faults.push({ method, fault });
  }

  /** The number of faults that have not happened yet. */
  get pending(): number {
    return this.#faults.length;
  }

  clearFaults(): void {
    this.#faults.length = 0;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #handle(req: IncomingMessage, res: ServerResponse): void {
    const page = this.pages.get(req.url ?? '');
    if (page !== undefined) {
      const type = req.url?.endsWith('.js') ? 'text/javascript' : 'text/html';
      res.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` }).end(page);
      return;
    }
    const index = this.#faults.findIndex(({ method }) => method === req.method);
    const fault = this.#faults.splice(index, index < 0 ? 0 : 1)[0]?.fault;
    if (typeof fault !== 'number') this.#forward(req, res, fault);
    else {
      req.resume();
      res.writeHead(fault, { 'Access-Control-Allow-Origin': '*', Connection: 'close' }).end();
    }
  }

  #forward(req: IncomingMessage, res: ServerResponse, fault: Exclude<Fault, number> | undefined): void {
    const { method, headers } = req;
    const upstream = request(
      `${this.#engineUrl}${req.url}`,
      { method, headers, agent: false },
      (response) => {
        if (fault === 'lost') {
          response.resume().once('end', () => req.socket.destroy());
          return;
        }
        const { location } = response.headers;
        const moved = location && { location: location.replace(this.#engineUrl, this.url) };
        res.writeHead(response.statusCode ?? 502, { ...response.headers, ...moved });
        response.pipe(res);
      },
    );
    upstream.on('error', () => req.socket.destroy());
    req.once('close', () => {
      if (!req.complete) upstream.destroy();
    });
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (typeof fault === 'object' && bytes >= fault.afterBytes) req.socket.destroy();
    });
    req.pipe(upstream);
  }
}
