import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A delivered event. */
export type DeliveredEvent = { id: string; type: string; videoId: string };

/** Responds to a request, or does not, instead of accepting the event. */
export type Misbehaviour = (response: ServerResponse) => void;

/** A webhook endpoint. Accepts every event, or misbehaves, and records events by id. */
export class WebhookEndpoint {
  readonly events = new Map<string, DeliveredEvent>();
  /** Event ids that came with different bodies. */
  readonly reusedIds = new Set<string>();
  /** Paths of all requests, accepted or not. */
  readonly requests: string[] = [];
  /** Bodies of all requests, accepted or not. */
  readonly bodies: string[] = [];
  readonly #bodyOf = new Map<string, string>();
  readonly #server: Server;
  #misbehaviour: Misbehaviour | undefined;

  static async start(misbehaviour?: Misbehaviour): Promise<WebhookEndpoint> {
    const endpoint = new WebhookEndpoint();
    endpoint.#misbehaviour = misbehaviour;
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    return endpoint;
  }

  private constructor() {
    this.#server = createServer(async (req, res) => {
      this.requests.push(req.url ?? '');
      // The control plane was killed before it had sent the whole request.
      const body = await text(req).catch(() => undefined);
      if (body === undefined) return;
      this.bodies.push(body);
      const id = String(req.headers['webhook-id']);
      if ((this.#bodyOf.get(id) ?? body) !== body) this.reusedIds.add(id);
      this.#bodyOf.set(id, body);
      if (this.#misbehaviour !== undefined) {
        this.#misbehaviour(res);
        return;
      }
      const { type, data } = JSON.parse(body);
      this.events.set(id, { id, type, videoId: data.id });
      res.writeHead(204).end();
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events`;
  }

  /** Accepts events from now on, and closes requests without a response. */
  recover(): void {
    this.#misbehaviour = undefined;
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
