import { connect } from 'node:net';

/** Requests to repeat over connections that are kept alive; the paths take turns. */
export type SegmentTask = { port: number; paths: string[]; connections: number; amount: number };

/** Segments and bytes received per second, and the processor time of this program per request, in microseconds. */
export type SegmentLoad = { perSecond: number; bytesPerSecond: number; cpuMicros: number };

/**
 * A program: performs each task of its parent, and sends the SegmentLoad back. It reads into one buffer per connection and parses only
 * what it needs, so that it uses less time than the servers that it measures.
 */
process.on('message', (task: SegmentTask) => void load(task).then((result) => process.send?.(result)));
process.once('disconnect', () => process.exit());

async function load({ port, paths, connections, amount }: SegmentTask): Promise<SegmentLoad> {
  let next = 0;
  let bytes = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const one = () =>
    new Promise<void>((resolve, reject) => {
      /** Bytes of the body that have not arrived; undefined until the head has arrived. */
      let left: number | undefined;
      let head = '';
      const request = () => {
        if (next === amount) {
          socket.destroy();
          resolve();
          return;
        }
        const path = paths[next % paths.length];
        next += 1;
        left = undefined;
        head = '';
        socket.write(`GET ${path} HTTP/1.1\r\nHost: framelane.test\r\n\r\n`);
      };
      const receive = (length: number, buffer: Uint8Array) => {
        bytes += length;
        if (left === undefined) {
          head += Buffer.from(buffer.buffer, buffer.byteOffset, length).toString('latin1');
          left = missingBytes(head);
        } else left -= length;
        if (left === 0) request();
        return true;
      };
      const socket = connect({
        port,
        host: '127.0.0.1',
        onread: { buffer: Buffer.allocUnsafe(256 * 1024), callback: receive },
      });
      socket.once('connect', request);
      socket.once('error', reject);
    });
  await Promise.all(Array.from({ length: connections }, one));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    perSecond: amount / seconds,
    bytesPerSecond: bytes / seconds,
    cpuMicros: (user + system) / amount,
  };
}

/** Bytes of the body that are missing from the beginning of a response; undefined while its head is incomplete. */
function missingBytes(response: string): number | undefined {
  const end = response.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [, size] =
    /^HTTP\/1\.1 200[\s\S]*\r\ncontent-length: (\d+)\r\n/i.exec(response.slice(0, end + 2)) ?? [];
  if (size === undefined) throw new Error(`Not a segment: ${response.slice(0, end)}`);
  return Number(size) - (response.length - end - 4);
}
