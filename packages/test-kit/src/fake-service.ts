import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type ServiceRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
};

/** An object is sent as JSON. */
export type ServiceReply = {
  status?: number;
  headers?: Record<string, string>;
  body?: object | string | Buffer;
};

/** A reply, how it depends on the request, or a function that writes the response itself. */
export type ServiceRoute =
  | ServiceReply
  | ((request: ServiceRequest, response: ServerResponse) => ServiceReply | undefined);

/** A web server that replies as the documentation of a service says. Routes are keyed by method and path, such as `GET /videos`. */
export class FakeService implements AsyncDisposable {
  readonly requests: ServiceRequest[] = [];
  readonly #routes: Record<string, ServiceRoute>;
  readonly #server: Server;

  private constructor(routes: Record<string, ServiceRoute>) {
    this.#routes = routes;
    this.#server = createServer(async (message, response) => {
      const { pathname: path, searchParams: query } = new URL(message.url ?? '/', 'http://localhost');
      const { method = '', headers } = message;
      const request = { method, path, query, headers, body: await text(message) };
      this.requests.push(request);
      const route = this.#routes[`${method} ${path}`] ?? { status: 404, body: { message: 'Not found' } };
      try {
        const reply = typeof route === 'function' ? route(request, response) : route;
        if (reply !== undefined) send(response, reply);
      } catch (error) {
        // A mistake in a test must not look like a slow server.
        send(response, { status: 500, body: String(error) });
      }
    });
  }

  static async start(routes: Record<string, ServiceRoute>): Promise<FakeService> {
    const service = new FakeService(routes);
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds or replaces a route. */
  on(key: string, route: ServiceRoute): void {
    this.#routes[key] = route;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, body = '' }: ServiceReply): void {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  response.writeHead(status, { ...(isJson && { 'Content-Type': 'application/json' }), ...headers });
  response.end(isJson ? JSON.stringify(body) : body);
}
