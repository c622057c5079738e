import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Address = { host: string; port: number };

/** From the client to the target, and back. */
type Direction = 'there' | 'back';

/**
 * A TCP proxy that simulates network faults. It connects each client to the first of its targets that accepts. Its own
 * port never changes.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #targets: () => Address[];
  readonly #pairs = new Set<{ near: Socket; far: Socket }>();
  #isCut = false;
  #silent: readonly Direction[] = [];
  /** Of closed connections. */
  #bytesBack = 0;
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
    this.#server = createServer((near) => void this.#accept(near));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes received from the targets so far. */
  get bytesBack(): number {
    return [...this.#pairs].reduce((sum, { far }) => sum + far.bytesRead, this.#bytesBack);
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

  /** Drops packets: connections stay open, but no data passes in these directions. */
  silence(directions: readonly Direction[] = ['there', 'back']): void {
    this.#silent = directions;
    for (const { near, far } of this.#pairs) {
      if (directions.includes('there')) near.unpipe(far).pause();
      if (directions.includes('back')) far.unpipe(near).pause();
    }
  }

  /** Ends a silence: data sent meanwhile arrives late, on the same connections. */
  resume(): void {
    for (const { near, far } of this.#pairs) {
      if (this.#silent.includes('there')) near.pipe(far);
      if (this.#silent.includes('back')) far.pipe(near);
    }
    this.#silent = [];
  }

  /** Ends every fault and resets the connections made during it. */
  heal(): void {
    this.#isCut = false;
    this.#silent = [];
    this.#disconnectAll();
  }

  async stop(): Promise<void> {
    this.#disconnectAll();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #accept(near: Socket): Promise<void> {
    near.on('error', () => {});
    if (this.#isCut) {
      near.resetAndDestroy();
      return;
    }
    const far = await this.#connectToTarget();
    if (far === undefined || near.destroyed) {
      near.resetAndDestroy();
      far?.destroy();
      return;
    }
    const pair = { near, far };
    this.#pairs.add(pair);
    far.on('error', () => {});
    near.on('close', () => far.destroy());
    far.on('close', () => {
      near.destroy();
      this.#pairs.delete(pair);
      this.#bytesBack += far.bytesRead;
    });
    if (!this.#silent.includes('there')) near.pipe(far);
    if (!this.#silent.includes('back')) far.pipe(near);
  }

  /** Connects to one of the targets, round robin. */
  async #connectToTarget(): Promise<Socket | undefined> {
    const targets = this.#targets();
    const first = this.#next++;
    for (const tries of targets.keys()) {
      const target = targets[(first + tries) % targets.length] as Address;
      const socket = connect(target.port, target.host);
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
    for (const { near, far } of this.#pairs) {
      reset(near);
      reset(far);
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
