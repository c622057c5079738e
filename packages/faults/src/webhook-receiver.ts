import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One event as it was delivered. */
export type DeliveredEvent = { id: string; type: string; videoId: string };

/** Takes every webhook and remembers what came; an event that came again counts once. */
export class WebhookReceiver {
  readonly events = new Map<string, DeliveredEvent>();
  readonly #server: Server;

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  private constructor() {
    this.#server = createServer(async (req, res) => {
      const { type, data } = JSON.parse(await text(req));
      const id = String(req.headers['webhook-id']);
      this.events.set(id, { id, type, videoId: data.id });
      res.writeHead(204).end();
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
