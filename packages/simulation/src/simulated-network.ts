import http from 'node:http';
import type net from 'node:net';
import { Duplex } from 'node:stream';
import { currentProcess, type SimulatedProcess } from './simulated-process.ts';
import { latency, type World } from './world.ts';

/** Carries bytes to the other end of a connection. */
type Carry = (deliver: () => void) => Promise<void>;

/** How long the connection of a repeated request is open, in virtual milliseconds. */
const REPEATED_MS = 60_000;

type Listener = { server: net.Server; process: SimulatedProcess | undefined };

/** One end of a connection. It has the methods of a socket that Node's HTTP uses. */
class SimulatedSocket extends Duplex {
  readonly process: SimulatedProcess | undefined;
  readonly remoteAddress: string;
  readonly remotePort = 40_000;
  readonly remoteFamily = 'IPv4';
  encrypted = false;
  peer: SimulatedSocket | undefined;
  /** Whether all bytes of the other end have arrived. */
  #hasEnd = false;
  /** Carries bytes to the other end. */
  carry: Carry = async () => {};
  /** What was sent from the start, if it may be sent again. */
  sent: Buffer[] | undefined;

  constructor(process: SimulatedProcess | undefined, remoteAddress: string) {
    super({ allowHalfOpen: true });
    this.process = process;
    this.remoteAddress = remoteAddress;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const bytes = Buffer.from(chunk);
    this.sent?.push(bytes);
    void this.carry(() => this.peer?.deliver(bytes)).then(() => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    void this.carry(() => this.peer?.deliver(null)).then(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { peer } = this;
    this.peer = undefined;
    if (peer) void this.carry(() => peer.reset());
    done(error);
  }

  /** Bytes from the other end, or its end. */
  deliver(bytes: Buffer | null): void {
    if (this.destroyed || this.#hasEnd) return;
    this.#hasEnd = bytes === null;
    this.#asOwner(() => this.push(bytes));
  }

  /** The connection breaks. */
  reset(): void {
    this.peer = undefined;
    if (this.destroyed || this.#hasEnd) return;
    const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    this.#asOwner(() => this.destroy(error));
  }

  #asOwner(work: () => void): void {
    if (this.process === undefined) work();
    else if (this.process.isAlive) this.process.run(work);
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }
}

/**
 * HTTP between the processes without sockets: servers that listen, and requests, get simulated connections. Bytes take time, connections break before
 * or after a request has arrived, and requests are sent twice.
 */
export class SimulatedNetwork {
  readonly #world: World;
  readonly #listeners = new Map<string, Listener>();
  /** Ports behind which others share the connections, as behind a load balancer. */
  readonly #shared = new Map<number, readonly number[]>();
  /** The port of the next server that wants any. */
  #nextPort = 40_000;

  constructor(world: World) {
    this.#world = world;
  }

  /** Connections to `port` go to one of the ports that has a listener. */
  share(port: number, among: readonly number[]): void {
    this.#shared.set(port, among);
  }

  /** Replaces the listeners and connections of Node's HTTP. */
  install(): void {
    const network = this;
    http.Server.prototype.listen = function listen(this: http.Server, ...args: unknown[]) {
      const [port] = args as [number];
      network.#listen(this, port);
      return this;
    };
    // Each request has a connection of its own, so that each can be lost.
    Object.assign(http.Agent.prototype, { keepSocketAlive: () => false });
    http.Agent.prototype.createConnection = ((options: net.NetConnectOpts & { port?: number }) =>
      network.#connect(Number(options.port))) as typeof http.Agent.prototype.createConnection;
  }

  #listen(server: http.Server, wanted: number): void {
    const port = wanted === 0 ? this.#nextPort++ : wanted;
    const key = String(port);
    const process = currentProcess();
    this.#listeners.set(key, { server, process });
    process?.onKill(() => {
      if (this.#listeners.get(key)?.server === server) this.#listeners.delete(key);
    });
    Object.defineProperty(server, 'listening', { get: () => this.#listeners.get(key)?.server === server });
    server.address = () => ({ port, address: '127.0.0.1', family: 'IPv4' });
    server.close = (callback) => {
      this.#listeners.delete(key);
      globalThis.setImmediate(() => callback?.());
      return server;
    };
    globalThis.setImmediate(() => server.emit('listening'));
  }

  #connect(port: number): Duplex {
    const client = new SimulatedSocket(currentProcess(), '127.0.0.1');
    client.sent = [];
    const toServer = this.#line();
    // Bytes that are sent before the connection is open wait for it.
    const opened = this.#open(client, port, toServer);
    client.carry = (deliver) => opened.then((carry) => carry(deliver));
    return client;
  }

  async #open(client: SimulatedSocket, port: number, toServer: Carry): Promise<Carry> {
    const { faults, random, history } = this.#world;
    const toClient = this.#line();
    await latency(this.#world);
    const listener = this.#listenerAt(port);
    if (listener === undefined || listener.process?.isAlive === false) {
      client.destroy(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
      return toServer;
    }
    const { server, process } = listener;
    const end = new SimulatedSocket(process, '127.0.0.1');
    end.carry = toClient;
    end.peer = client;
    client.peer = end;
    this.#breakWith(process, client);
    this.#breakWith(client.process, end);
    let carry = toServer;
    if (faults.hits('lostRequest')) {
      history.say('network', 'loses a request');
      carry = async () => {
        await latency(this.#world);
        client.reset();
      };
    } else if (faults.hits('lostResponse')) {
      history.say('network', 'loses a response');
      end.carry = async () => {
        await latency(this.#world);
        client.reset();
      };
    }
    if (faults.hits('doubledRequest')) void this.#double(client, listener, random.below(5_000));
    else client.sent = undefined;
    const connect = () => server.emit('connection', end);
    if (process === undefined) connect();
    else process.run(connect);
    client.emit('connect');
    return carry;
  }

  #listenerAt(port: number): Listener | undefined {
    const ports = (this.#shared.get(port) ?? [port]).filter((each) => this.#listeners.has(String(each)));
    return ports.length === 0 ? undefined : this.#listeners.get(String(this.#world.random.pick(ports)));
  }

  /** The other end learns that a process was killed. */
  #breakWith(process: SimulatedProcess | undefined, otherEnd: SimulatedSocket): void {
    process?.onKill(() => {
      if (!otherEnd.destroyed) void latency(this.#world).then(() => otherEnd.reset());
    });
  }

  /** What the client sends first also arrives on another connection, later, whose response nobody reads. */
  async #double(client: SimulatedSocket, { server, process }: Listener, afterMs: number): Promise<void> {
    const { time, history } = this.#world;
    await time.sleep(afterMs);
    const { sent = [] } = client;
    client.sent = undefined;
    if (process?.isAlive === false || sent.length === 0) return;
    history.say('network', 'repeats a request');
    const end = new SimulatedSocket(process, '127.0.0.1');
    const connect = () => server.emit('connection', end);
    if (process === undefined) connect();
    else process.run(connect);
    for (const bytes of sent) end.deliver(bytes);
    // A connection that ends before the response would abort the request.
    await time.sleep(REPEATED_MS);
    end.reset();
  }

  /** A direction of a connection: bytes arrive in the order in which they were sent. */
  #line(): Carry {
    let last: Promise<void> = Promise.resolve();
    return (deliver) => {
      const time = latency(this.#world);
      last = last.then(() => time).then(deliver);
      return last;
    };
  }
}
