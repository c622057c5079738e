import { connect, type Socket } from 'node:net';

/** Requests to repeat over connections that are kept alive; the paths take turns. */
export type SegmentTask = { port: number; paths: string[]; connections: number; amount: number };

/** Segments and bytes received per second, and the processor time of this program per request, in microseconds. */
export type SegmentLoad = { perSecond: number; bytesPerSecond: number; cpuMicros: number };

/**
 * A program: performs each task of its parent, and sends the SegmentLoad back. It follows redirects to servers on loopback. It reads into one
 * buffer per connection and parses only what it needs, so that it uses less time than the servers that it measures.
 */
process.on('message', (task: SegmentTask) => void load(task).then((result) => process.send?.(result)));
process.once('disconnect', () => process.exit());

type Response = { bytes: number; location: string | undefined };

/** A connection for one request after the other. */
class Connection {
  readonly #socket: Socket;
  #head = '';
  #bytes = 0;
  /** Bytes of the body that have not arrived; undefined until the head has arrived. */
  #left: number | undefined;
  #location: string | undefined;
  #resolve: ((response: Response) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(port: number) {
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer: Buffer.allocUnsafe(256 * 1024),
        callback: (length, buffer) => this.#receive(length, buffer),
      },
    });
    this.#socket.on('error', (error) => this.#reject?.(error));
    this.#socket.on('close', () =>
      this.#reject?.(new Error(`The server on port ${port} closed a connection`)),
    );
  }

  get(path: string, host: string): Promise<Response> {
    this.#head = '';
    this.#bytes = 0;
    this.#left = undefined;
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  close(): void {
    this.#reject = undefined;
    this.#socket.destroy();
  }

  #receive(length: number, buffer: Uint8Array): boolean {
    this.#bytes += length;
    if (this.#left === undefined) {
      this.#head += Buffer.from(buffer.buffer, buffer.byteOffset, length).toString('latin1');
      this.#readHead();
    } else this.#left -= length;
    if (this.#left === 0) this.#resolve?.({ bytes: this.#bytes, location: this.#location });
    return true;
  }

  #readHead(): void {
    const end = this.#head.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = this.#head.slice(0, end + 2);
    this.#location = /^HTTP\/1\.1 302[\s\S]*\r\nlocation: (\S+)\r\n/i.exec(head)?.[1];
    const size = /\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1];
    // A redirect has an empty body in chunks.
    const expected = this.#location === undefined ? Number(size) : '0\r\n\r\n'.length;
    this.#left = expected - (this.#head.length - end - 4);
    if ((this.#location === undefined && !head.startsWith('HTTP/1.1 200')) || !(this.#left >= 0)) {
      this.#reject?.(new Error(`Not a segment: ${head}`));
    }
  }
}

async function load({ port, paths, connections, amount }: SegmentTask): Promise<SegmentLoad> {
  let next = 0;
  let bytes = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const one = async () => {
    const open = new Map<number, Connection>();
    const connectionTo = (itsPort: number) => {
      const connection = open.get(itsPort) ?? new Connection(itsPort);
      open.set(itsPort, connection);
      return connection;
    };
    while (next < amount) {
      const path = paths[next % paths.length] as string;
      next += 1;
      let response = await connectionTo(port).get(path, 'framelane.test');
      bytes += response.bytes;
      if (response.location !== undefined) {
        const { port: itsPort, pathname, search, host } = new URL(response.location);
        response = await connectionTo(Number(itsPort)).get(pathname + search, host);
        bytes += response.bytes;
      }
    }
    for (const connection of open.values()) connection.close();
  };
  await Promise.all(Array.from({ length: connections }, one));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    perSecond: amount / seconds,
    bytesPerSecond: bytes / seconds,
    cpuMicros: (user + system) / amount,
  };
}
