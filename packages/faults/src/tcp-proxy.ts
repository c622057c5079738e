import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Address = { host: string; port: number };

/** From who connects to who is connected to, and back. */
type Way = 'there' | 'back';

/**
 * A door between two programs: it hands every connection on to the first of its targets that takes it, and can be shut
 * in more than one way. Its own port stays, whatever happens behind it.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #targets: () => Address[];
  readonly #pairs = new Set<{ near: Socket; far: Socket }>();
  #isCut = false;
  #silent: readonly Way[] = [];
  /** Of connections that are over. */
  #bytesBack = 0;
  #next = 0;

  static async start(targets: () => Address[]): Promise<TcpProxy> {
    const proxy = new TcpProxy(targets);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(targets: () => Address[]) {
    this.#targets = targets;
    this.#server = createServer((near) => void this.#accept(near));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes that came from the targets so far. */
  get bytesBack(): number {
    return [...this.#pairs].reduce((sum, { far }) => sum + far.bytesRead, this.#bytesBack);
  }

  /** As when a cable is pulled and the switch says so: everybody is disconnected, nobody gets in. */
  cut(): void {
    this.#isCut = true;
    this.#disconnectAll();
  }

  /** As when packets get lost on the way: connections stay and nothing comes through, or nothing in one direction. */
  silence(ways: readonly Way[] = ['there', 'back']): void {
    this.#silent = ways;
    for (const { near, far } of this.#pairs) {
      if (ways.includes('there')) near.unpipe(far).pause();
      if (ways.includes('back')) far.unpipe(near).pause();
    }
  }

  /** What is connected then is disconnected; from now on all is well. */
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
    // A peer that goes away is what this is about.
    near.on('error', () => {});
    if (this.#isCut) {
      near.resetAndDestroy();
      return;
    }
    const far = await this.#reach();
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

  /** A connection to one of the targets, taken in turn. */
  async #reach(): Promise<Socket | undefined> {
    const targets = this.#targets();
    const first = this.#next++;
    for (const tries of targets.keys()) {
      const target = targets[(first + tries) % targets.length] as Address;
      const socket = connect(target.port, target.host);
      try {
        await once(socket, 'connect');
        return socket;
      } catch {
        // The next one.
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

/** One that is just being ended cannot be reset: Node would keep it, and not exit for it, for ever. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
