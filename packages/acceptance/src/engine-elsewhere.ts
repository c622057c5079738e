import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Forwards requests to the control plane, and names another engine in its responses, such as a proxy that injects faults. */
export class EngineElsewhere {
  readonly #server: Server;

  static async start(publicUrl: string, engineUrl: string, otherEngineUrl: string): Promise<EngineElsewhere> {
    const server = createServer(async (req, res) => {
      const { method = 'GET', headers } = req;
      const body = await buffer(req);
      const response = await fetch(`${publicUrl}${req.url}`, {
        method,
        headers: {
          authorization: headers.authorization ?? '',
          'x-svc-workspace': String(headers['x-svc-workspace']),
          'content-type': 'application/json',
        },
        ...(body.length > 0 && { body }),
      });
      const text = (await response.text()).replaceAll(engineUrl, otherEngineUrl);
      res
        .writeHead(response.status, { 'Content-Type': response.headers.get('content-type') ?? '' })
        .end(text);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new EngineElsewhere(server);
  }

  private constructor(server: Server) {
    this.#server = server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
