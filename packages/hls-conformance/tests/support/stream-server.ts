import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Files } from './good-stream.ts';

export type Asked = { method: string; path: string; headers: IncomingHttpHeaders };
export type Reply = { status: number; headers: Record<string, string>; body: Buffer };

/** Alters a reply before it is sent. */
export type Tamper = (reply: Reply, asked: Asked) => void;

/** Serves a video from memory on the loopback as Framelane does. */
export class StreamServer {
  readonly #server: Server;
  /** What is asked for below `/video/`. */
  files: Files = new Map();
  tamper: Tamper = () => {};
  readonly asked: Asked[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = new URL(request.url ?? '', 'http://localhost').pathname.replace(/^\/video\//, '');
      const asked = { method: request.method ?? '', path, headers: request.headers };
      this.asked.push(asked);
      const reply = this.#reply(asked);
      this.tamper(reply, asked);
      response.writeHead(reply.status, reply.headers).end(reply.body);
    });
  }

  static async start(): Promise<StreamServer> {
    const server = new StreamServer();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/video/master.m3u8`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #reply({ method, path, headers }: Asked): Reply {
    const reply: Reply = {
      status: 200,
      headers: { 'Access-Control-Allow-Origin': '*' },
      body: Buffer.alloc(0),
    };
    const file = this.files.get(path);
    if (method === 'OPTIONS') return { ...reply, status: 204 };
    if (file === undefined) return { ...reply, status: 404 };
    const kind = kindOf(path);
    Object.assign(reply.headers, HEADERS[kind]);
    reply.body = file;
    if (kind === 'playlist' && headers['accept-encoding']?.includes('gzip')) {
      reply.headers['Content-Encoding'] = 'gzip';
      reply.body = gzipSync(file);
    }
    if (kind !== 'key')
      reply.headers.ETag = `"${createHash('sha256').update(file).digest('hex').slice(0, 16)}"`;
    reply.headers['Content-Length'] = String(reply.body.length);
    if (headers['if-none-match'] === reply.headers.ETag && reply.headers.ETag) {
      reply.status = 304;
      reply.headers['Content-Length'] = '0';
      reply.body = Buffer.alloc(0);
    } else if (kind === 'segment' && headers.range) cut(reply, headers.range);
    if (method === 'HEAD') reply.body = Buffer.alloc(0);
    return reply;
  }
}

const HEADERS = {
  playlist: { 'Content-Type': 'application/vnd.apple.mpegurl', 'Cache-Control': 'public, max-age=60' },
  segment: { 'Content-Type': 'video/mp2t', 'Cache-Control': 'public, max-age=31536000, immutable' },
  key: { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' },
} as const;

function kindOf(path: string): keyof typeof HEADERS {
  if (path.endsWith('.m3u8')) return 'playlist';
  return path.endsWith('.ts') ? 'segment' : 'key';
}

/** Leaves of a reply the range that was asked for. */
function cut(reply: Reply, range: string): void {
  const { length } = reply.body;
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  const first = from === '' ? length - Number(to) : Number(from);
  const last = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1);
  reply.status = first < length ? 206 : 416;
  reply.body = first < length ? reply.body.subarray(first, last + 1) : Buffer.alloc(0);
  reply.headers['Content-Range'] = first < length ? `bytes ${first}-${last}/${length}` : `bytes */${length}`;
  reply.headers['Content-Length'] = String(reply.body.length);
}
