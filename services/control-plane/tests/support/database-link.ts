import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to PostgreSQL that can be cut, and fall silent. */
export class DatabaseLink {
  readonly #target: URL;
  readonly #server: Server;
  readonly #pairs = new Set<{ near: Socket; far: Socket }>();
  #port = 0;
  #silent = false;

  /** Opens a way to the server of this address. */
  static async open(databaseUrl: string): Promise<DatabaseLink> {
    const link = new DatabaseLink(databaseUrl);
    await link.mend();
    return link;
  }

  private constructor(databaseUrl: string) {
    this.#target = new URL(databaseUrl);
    this.#server = createServer((near) => {
      const far = connect(Number(this.#target.port), this.#target.hostname);
      const pair = { near, far };
      this.#pairs.add(pair);
      for (const socket of [near, far]) {
        // A cut is felt at both ends, which is what it is for.
        socket.on('error', () => {});
        socket.on('close', () => {
          if (near.destroyed && far.destroyed) this.#pairs.delete(pair);
        });
      }
      if (!this.#silent) near.pipe(far).pipe(near);
    });
  }

  /** The address of a database on this server that leads through here. */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** From now on nothing gets through, and nobody is told to wait. */
  async cut(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
    await closed;
  }

  /** From now on connections stay, and can be made, and nothing comes through. */
  silence(): void {
    this.#silent = true;
    for (const { near, far } of this.#pairs) {
      near.unpipe(far);
      far.unpipe(near);
      near.pause();
      far.pause();
    }
  }

  /** Everything that was sent meanwhile gets through. */
  resume(): void {
    this.#silent = false;
    for (const { near, far } of this.#pairs) near.pipe(far).pipe(near);
  }

  async mend(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }
}
