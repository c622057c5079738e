import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Responds to the nth request for a path, from 1. */
export type RespondTo = (res: ServerResponse, req: IncomingMessage, nth: number) => void;

/** A web server on one loopback address, whose responses the tests define. */
export class RemoteServer {
  readonly #responders = new Map<string, RespondTo>();
  readonly #server = createServer();
  /** The headers of all requests, by path. */
  readonly requests = new Map<string, IncomingMessage['headers'][]>();
  readonly #address: string;

  constructor(address = '127.0.0.1') {
    this.#address = address;
    this.#server.on('request', this.listener);
  }

  static async start(address?: string): Promise<RemoteServer> {
    const server = new RemoteServer(address);
    server.#server.listen(0, server.#address);
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://${this.#address}:${this.port}`;
  }

  /** Serves another path. Returns its URL. */
  serve(respond: RespondTo): string {
    const path = `/${this.#responders.size}.mp4`;
    this.#responders.set(path, respond);
    this.requests.set(path, []);
    return `${this.origin}${path}`;
  }

  /** The headers of the requests for a URL. */
  requestsFor(url: string): IncomingMessage['headers'][] {
    return this.requests.get(new URL(url).pathname) ?? [];
  }

  readonly listener: RequestListener = (req, res) => {
    const path = new URL(req.url ?? '', 'http://server').pathname;
    const requests = this.requests.get(path);
    requests?.push(req.headers);
    const respond = this.#responders.get(path);
    if (respond === undefined) res.writeHead(404).end();
    else respond(res, req, requests?.length ?? 0);
  };

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
