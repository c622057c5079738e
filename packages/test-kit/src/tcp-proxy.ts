import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Address = { host: string; port: number };

/** A direction of a connection. */
type Direction = 'to-target' | 'to-client';

/**
 * A TCP proxy that simulates network faults. It connects clients to its targets in turn, and skips a target that does not
 * accept. Its own port never changes.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #targets: () => Address[];
  readonly #pairs = new Set<{ client: Socket; target: Socket }>();
  #isCut = false;
  #silent: readonly Direction[] = [];
  /** Bytes sent to the clients of closed connections. */
  #bytesToClients = 0;
  #next = 0;

  /** @param targets is called for every connection, so that targets may move. */
  static async start(targets: () => Address[]): Promise<TcpProxy> {
    const proxy = new TcpProxy(targets);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** Starts a proxy to the host and port of a URL. */
  static startFor(url: string): Promise<TcpProxy> {
    return TcpProxy.start(() => [addressOf(url)]);
  }

  private constructor(targets: () => Address[]) {
    this.#targets = targets;
    this.#server = createServer((client) => void this.#accept(client));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes sent to clients so far. */
  get bytesToClients(): number {
    return [...this.#pairs].reduce((sum, { target }) => sum + target.bytesRead, this.#bytesToClients);
  }

  /** A URL with the host and port of this proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.hostname = '127.0.0.1';
    changed.port = String(this.port);
    return changed.href;
  }

  /** Resets all connections and refuses new ones. */
  cut(): void {
    this.#isCut = true;
    this.#disconnectAll();
  }

  /** Holds data back: connections stay open, but nothing passes in these directions. */
  silence(directions: readonly Direction[] = ['to-target', 'to-client']): void {
    this.#silent = directions;
    for (const { client, target } of this.#pairs) {
      if (directions.includes('to-target')) client.unpipe(target).pause();
      if (directions.includes('to-client')) target.unpipe(client).pause();
    }
  }

  /** Ends a silence: data sent meanwhile arrives late, on the same connections. */
  resume(): void {
    for (const { client, target } of this.#pairs) {
      if (this.#silent.includes('to-target')) client.pipe(target);
      if (this.#silent.includes('to-client')) target.pipe(client);
    }
    this.#silent = [];
  }

  /** Ends every fault. If there was one, resets all connections. */
  heal(): void {
    if (!this.#isCut && this.#silent.length === 0) return;
    this.#isCut = false;
    this.#silent = [];
    this.#disconnectAll();
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #accept(client: Socket): Promise<void> {
    client.on('error', () => {});
    if (this.#isCut) {
      client.resetAndDestroy();
      return;
    }
    const target = await this.#connectToTarget();
    // The proxy may have been cut in the meantime.
    if (target === undefined || client.destroyed || this.#isCut) {
      client.resetAndDestroy();
      target?.destroy();
      return;
    }
    const pair = { client, target };
    this.#pairs.add(pair);
    target.on('error', () => {});
    client.on('close', () => target.destroy());
    target.on('close', () => {
      client.destroy();
      this.#pairs.delete(pair);
      this.#bytesToClients += target.bytesRead;
    });
    if (!this.#silent.includes('to-target')) client.pipe(target);
    if (!this.#silent.includes('to-client')) target.pipe(client);
  }

  /** Connects to one of the targets, round robin. */
  async #connectToTarget(): Promise<Socket | undefined> {
    const targets = this.#targets();
    const first = this.#next++;
    for (const attempt of targets.keys()) {
      const { host, port } = targets[(first + attempt) % targets.length] as Address;
      const socket = connect(port, host);
      try {
        await once(socket, 'connect');
        return socket;
      } catch {
        // The next target may accept.
      }
    }
    return undefined;
  }

  #disconnectAll(): void {
    for (const { client, target } of this.#pairs) {
      reset(client);
      reset(target);
    }
    this.#pairs.clear();
  }
}

function addressOf(url: string): Address {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

/** Node never frees a socket that is reset while it is ending, and then does not exit. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
