import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';

/** A port on the loopback interface that counts connections. */
export class WatchedPort {
  connections = 0;
  readonly #server: Server;

  static async open(): Promise<WatchedPort> {
    const port = new WatchedPort();
    port.#server.listen(0, '127.0.0.1');
    await once(port.#server, 'listening');
    return port;
  }

  private constructor() {
    this.#server = createServer((socket) => {
      this.connections += 1;
      socket.destroy();
    });
  }

  get number(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }
}
