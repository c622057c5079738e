import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (req: IncomingMessage, res: ServerResponse) => unknown;

/** A server on loopback with the handler of a test. */
export class TestServer {
  readonly url: string;
  readonly #server: Server;

  /** `onExpect` handles requests with `Expect: 100-continue`. By default they get `100 Continue`. */
  static async start(onRequest: Handler, onExpect?: Handler): Promise<TestServer> {
    const server = createServer(onRequest);
    if (onExpect) server.on('checkContinue', onExpect);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestServer(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export function respondJson(
  res: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  res.writeHead(status, { 'Content-Type': type, ...headers }).end(JSON.stringify(body));
}

export function problem(status: number, code: string): object {
  return {
    type: `https://video.example.com/docs/errors/${code}`,
    title: 'Refused',
    status,
    detail: `This is ${code}.`,
    instance: '/',
    code,
    requestId: 'req_of_the_problem',
  };
}
