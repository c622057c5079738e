import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';

/** A request that the endpoint received. */
export type Received = { path: string; headers: Record<string, string>; body: string };

/** Responds to the `nth` request, counted from 1. */
export type Respond = (res: ServerResponse, nth: number, req: IncomingMessage) => void;

/** An HTTP server that records the requests of deliveries. It responds with 204 by default. */
export class TestEndpoint {
  readonly received: Received[] = [];
  /** Can be replaced at any time. */
  respond: Respond;
  readonly #server: Server;

  static async start(respond: Respond = (res) => res.writeHead(204).end()): Promise<TestEndpoint> {
    const endpoint = new TestEndpoint(respond);
    await new Promise<void>((resolve) => endpoint.#server.listen(0, '127.0.0.1', resolve));
    return endpoint;
  }

  private constructor(respond: Respond) {
    this.respond = respond;
    this.#server = createServer((req, res) => void this.#receive(req, res));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks`;
  }

  /** The received requests of one type of event. */
  ofType(type: string): Received[] {
    return this.received.filter(({ body }) => JSON.parse(body).type === type);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    this.received.push({ path: req.url ?? '', headers: req.headers as Record<string, string>, body });
    this.respond(res, this.received.length, req);
  }
}

/** A closed port of 127.0.0.1. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
