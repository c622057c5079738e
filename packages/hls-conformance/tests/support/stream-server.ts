import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Files } from './good-stream.ts';

export type SeenRequest = { method: string; path: string; query: string; headers: IncomingHttpHeaders };
export type SentResponse = { status: number; headers: Record<string, string>; body: Buffer };

/** Alters a response before it is sent. */
export type Tamper = (response: SentResponse, request: SeenRequest) => void;

/** Serves a video from memory on loopback as Framelane does. */
export class StreamServer {
  readonly #server: Server;
  /** By path below `/video/`. */
  files: Files = new Map();
  tamper: Tamper = () => {};
  readonly requests: SeenRequest[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
      const path = pathname.replace(/^\/video\//, '');
      const seen = { method: request.method ?? '', path, query: search, headers: request.headers };
      this.requests.push(seen);
      const reply = this.#respond(seen);
      this.tamper(reply, seen);
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

  #respond({ method, path, headers }: SeenRequest): SentResponse {
    const reply: SentResponse = {
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
    } else if ((kind === 'segment' || kind === 'fragments') && headers.range) cut(reply, headers.range);
    if (method === 'HEAD') reply.body = Buffer.alloc(0);
    return reply;
  }
}

const HEADERS = {
  playlist: { 'Content-Type': 'application/vnd.apple.mpegurl', 'Cache-Control': 'public, max-age=60' },
  segment: { 'Content-Type': 'video/mp2t', 'Cache-Control': 'public, max-age=31536000, immutable' },
  fragments: { 'Content-Type': 'video/mp4', 'Cache-Control': 'public, max-age=31536000, immutable' },
  captions: { 'Content-Type': 'text/vtt', 'Cache-Control': 'public, max-age=60' },
  json: { 'Content-Type': 'application/json', 'Cache-Control': 'public, no-cache' },
  key: { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' },
} as const;

function kindOf(path: string): keyof typeof HEADERS {
  if (path.endsWith('.m3u8')) return 'playlist';
  if (path.endsWith('.vtt')) return 'captions';
  if (path.endsWith('.json')) return 'json';
  if (path.endsWith('.m4s') || path.endsWith('.mp4')) return 'fragments';
  return path.endsWith('.ts') ? 'segment' : 'key';
}

/** Reduces a response to the requested range. */
function cut(reply: SentResponse, range: string): void {
  const { length } = reply.body;
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  const first = from === '' ? length - Number(to) : Number(from);
  const last = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1);
  reply.status = first < length ? 206 : 416;
  reply.body = first < length ? reply.body.subarray(first, last + 1) : Buffer.alloc(0);
  reply.headers['Content-Range'] = first < length ? `bytes ${first}-${last}/${length}` : `bytes */${length}`;
  reply.headers['Content-Length'] = String(reply.body.length);
}
