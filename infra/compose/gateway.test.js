import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { freePorts, isListening } from '../../packages/test-kit/src/free-ports.ts';
import { Gateway, gatewayObstacle } from '../../packages/test-kit/src/gateway.ts';
import { Nginx, temporaryPaths } from '../../packages/test-kit/src/nginx.ts';
import { requires } from '../../packages/test-kit/src/requires.ts';
import { until } from '../../packages/test-kit/src/until.ts';
import { ROOT } from '../bootstrap/project.js';

const { describe } = requires('HAProxy and nginx', gatewayObstacle());

/** Resolves when the server has ended. */
async function close(server) {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

describe('the gateway in front of control planes', () => {
  const SEGMENT = `/v1/hls/ws_1/vid_1/360p/0.ts`;
  /** The files of CMAF that are cached as well. */
  const CMAF = [SEGMENT.replace('0.ts', '0.m4s'), SEGMENT.replace('0.ts', 'init.mp4')];
  const content = randomBytes(100_000);
  /** The headers of the player page of a video that many origins may embed. */
  const LARGE_HEADERS = {
    'content-security-policy': `frame-ancestors ${'https://www.example.com '.repeat(250)}'self'`,
  };
  /** The requests that the control plane has received. */
  let received = [];
  let deleted = false;
  let unused;
  const controlPlane = createServer((req, res) => {
    if (req.url === '/healthz') return void res.end();
    received.push(req);
    if (req.url.startsWith('/v1/embed/')) return void res.writeHead(200, LARGE_HEADERS).end('page');
    if (req.url.startsWith('/v1/broken'))
      return void res.writeHead(200, { 'content-length': 2 }).write('1', () => res.destroy());
    if (deleted) return void res.writeHead(404, { 'content-type': 'application/problem+json' }).end('{}');
    if (req.headers['if-none-match'] === '"etag"') return void res.writeHead(304, { etag: '"etag"' }).end();
    const caching = req.url.includes('/preview/') ? 'no-store' : 'public, max-age=31536000, immutable';
    const headers = { 'cache-control': caching, 'content-type': 'video/mp2t' };
    const own = {
      etag: '"etag"',
      'accept-ranges': 'bytes',
      'x-request-id': req.headers['x-request-id'] ?? 'none',
    };
    res.writeHead(200, { ...headers, ...own, 'content-length': content.length }).end(content);
  });
  let gateway;

  beforeAll(async () => {
    await once(controlPlane.listen(0, '127.0.0.1'), 'listening');
    [unused] = await freePorts(1);
    gateway = await Gateway.start({ controlPlane: controlPlane.address().port, engines: [unused] });
    await until(async () => (await get('/v1/openapi.json')).status === 200);
  });
  beforeEach(() => {
    received = [];
    deleted = false;
  });
  afterAll(async () => {
    await gateway?.stop();
    await close(controlPlane);
  });

  const get = async (path, headers = {}, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${gateway.api}${path}`, { method, headers });
    return {
      status: response.status,
      headers: response.headers,
      body: Buffer.from(await response.arrayBuffer()),
    };
  };

  test.each([SEGMENT, ...CMAF])('keeps %s on disk: many requests cause one read', async (path) => {
    const responses = await Promise.all(Array.from({ length: 8 }, () => get(path)));
    responses.push(await get(path));
    expect(responses.every(({ status, body }) => status === 200 && content.equals(body))).toBe(true);
    expect(received).toHaveLength(1);
    expect(new Set(responses.map(({ headers }) => headers.get('x-request-id'))).size).toBe(9);
    expect(responses[0].headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  test('serves ranges, HEAD and 304 from the cache', async () => {
    await get(SEGMENT);
    received = [];
    const range = await get(SEGMENT, { range: 'bytes=10-19' });
    expect([range.status, content.subarray(10, 20).equals(range.body)]).toEqual([206, true]);
    expect((await get(SEGMENT, {}, 'HEAD')).headers.get('content-length')).toBe('100000');
    expect((await get(SEGMENT, { 'if-none-match': '"etag"' })).status).toBe(304);
    const known = await get(SEGMENT, { 'x-request-id': 'my-request' });
    expect(known.headers.get('x-request-id')).toBe('my-request');
    expect(received).toEqual([]);
  });

  test('stores a segment once, whatever its query, and passes unusual paths on as they are', async () => {
    const path = SEGMENT.replace('0.ts', '1.ts');
    for (const spelling of [path, `${path}?1`, `${path}?2`, path.replace('360p', '%3360p')]) {
      expect((await get(spelling)).status).toBe(200);
    }
    expect(received.map(({ url }) => url)).toEqual([path]);
    await get(`${path}%0a`);
    expect(received.at(-1).url).toBe(`${path}%0a`);
  });

  test('passes on the headers of a player page that many origins may embed', async () => {
    const page = await get('/v1/embed/ws_1/vid_1');
    expect([page.status, page.headers.get('content-security-policy').length]).toEqual([200, 6022]);
  });

  test('writes no playback token into its error messages', async () => {
    const broken = get('/v1/broken?token=secret', { referer: 'http://127.0.0.1/embed?token=secret' });
    await expect(broken).rejects.toThrow();
    await until(() => gateway.messages.includes('GET /v1/broken HTTP/1.1'));
    expect(gateway.messages).not.toContain('secret');
  });

  test('caches nothing else', async () => {
    const files = [
      'master.m3u8',
      '360p/index.m3u8',
      'key',
      'downloads/highest.mp4',
      '360p/0.m4sx',
      '360p/0.mp4',
    ];
    for (const path of [...files.map((file) => `/v1/hls/ws_1/vid_1/${file}`), '/v1/videos']) {
      await get(path);
      await get(path);
    }
    expect(received).toHaveLength(14);
    received = [];
    for (const file of ['0.ts', '0.m4s', 'init.mp4']) {
      for (const path of Array(2).fill(`/v1/hls/ws_1/preview/360p/${file}`))
        expect((await get(path)).headers.get('cache-control')).toBe('no-store');
    }
    expect(received).toHaveLength(6);
    received = [];
    deleted = true;
    for (const path of ['/v1/hls/ws_1/vid_1/360p/7.ts', '/v1/hls/ws_1/vid_1/360p/7.ts']) {
      expect((await get(path)).status).toBe(404);
    }
    expect(received).toHaveLength(2);
  });

  test('asks every minute whether the video of a segment still exists', async () => {
    const configuration = await readFile(join(ROOT, 'infra/docker/nginx.conf'), 'utf8');
    expect(configuration).toContain('proxy_cache_valid 200 1m;');
    const short = await Gateway.start(
      { controlPlane: controlPlane.address().port, engines: [controlPlane.address().port] },
      { cacheSeconds: 1 },
    );
    try {
      const status = async () => {
        const response = await fetch(`http://127.0.0.1:${short.api}${SEGMENT}`);
        await response.body?.cancel();
        return response.status;
      };
      await until(async () => (await status()) === 200);
      await until(async () => {
        await status();
        return received.some(({ headers }) => headers['if-none-match'] === '"etag"');
      });
      deleted = true;
      await until(async () => (await status()) === 404);
    } finally {
      await short.stop();
    }
  });

  test('the configuration in docs/playback.md does the same', async () => {
    const [, documented] = /```nginx\n([\s\S]+?)```/.exec(
      await readFile(join(ROOT, 'docs/playback.md'), 'utf8'),
    );
    const [port] = await freePorts(1);
    const nginx = await Nginx.start(port, (folder) => {
      const server = documented
        .replace('listen 80;', `listen 127.0.0.1:${port};`)
        .replace('/var/cache/nginx/framelane', `${folder}/segments`)
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${controlPlane.address().port}`);
      return `pid ${folder}/pid; events {} http { access_log off; ${temporaryPaths(folder)} ${server} }`;
    });
    try {
      const fetched = async (path, headers = {}) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
        return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
      };
      const cached = [SEGMENT, ...CMAF].flatMap((path) => [path, `${path}?1`]);
      for (const path of [...cached, '/v1/videos', '/v1/videos']) {
        expect(content.equals((await fetched(path)).body)).toBe(true);
      }
      expect((await fetched(SEGMENT, { range: 'bytes=0-9' })).status).toBe(206);
      expect(received.map(({ url }) => url)).toEqual([SEGMENT, ...CMAF, '/v1/videos', '/v1/videos']);
      expect(received[0].headers['x-forwarded-for']).toBe('127.0.0.1');
      expect((await fetched('/v1/embed/ws_1/vid_1')).status).toBe(200);
    } finally {
      await nginx.stop();
    }
  });

  test('completes requests that have begun when it is stopped', async () => {
    const stopping = await Gateway.start({ controlPlane: controlPlane.address().port, engines: [unused] });
    try {
      const address = `http://127.0.0.1:${stopping.api}/v1/videos`;
      await until(async () => content.equals(Buffer.from(await (await fetch(address)).arrayBuffer())));
      const socket = connect(stopping.api, '127.0.0.1');
      let responses = '';
      socket.on('data', (data) => (responses += data));
      const ended = once(socket, 'end');
      // In one piece, so that nginx has read the beginning of the second request when it responds to the first one.
      socket.write('GET /v1/key HTTP/1.1\r\nHost: framelane.test\r\n\r\nGET /v1/videos HTTP/1.1\r\n');
      await until(() => responses !== '');
      const stopped = stopping.stop();
      await until(async () => !(await isListening(stopping.api)));
      socket.write('Host: framelane.test\r\n\r\n');
      await ended;
      expect(responses.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
      expect(await stopped).toBe(0);
    } finally {
      await stopping.stop();
    }
  });

  test('keeps X-Forwarded-For of a trusted proxy, and ignores X-Client-Address from a client', async () => {
    await get('/v1/videos', { 'x-forwarded-for': '203.0.113.7', 'x-client-address': '198.51.100.1' });
    expect(received[0].headers['x-forwarded-for']).toBe('203.0.113.7, 127.0.0.1');
    expect(received[0].headers).not.toHaveProperty('x-client-address');
  });
});

describe('the gateway', () => {
  /** How the engine responds to readiness checks, and how often it has. */
  const readiness = { status: 200, delayMs: 0, checks: 0 };
  const engine = createServer(async (req, res) => {
    if (req.url !== '/readyz') return void res.end('engine');
    const { status, delayMs } = readiness;
    await pause(delayMs);
    res.writeHead(status).end();
    readiness.checks += 1;
  });
  let gateway;

  beforeAll(async () => {
    const [unused] = await freePorts(1);
    await once(engine.listen(0, '127.0.0.1'), 'listening');
    gateway = await Gateway.start({ controlPlane: unused, engines: [engine.address().port] });
    await until(async () => (await get().catch(() => undefined))?.status === 200);
  });
  afterAll(async () => {
    await gateway?.stop();
    await close(engine);
  });

  const request = async ({ uploads }, path, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${uploads}${path}`, {
      method,
      headers: { connection: 'close' },
    });
    return { status: response.status, body: await response.text() };
  };
  const get = () => request(gateway, '/upload');

  /** Resolves when the engine has been checked `times` more times. */
  const checked = async (times) => {
    const from = readiness.checks;
    await until(() => readiness.checks >= from + times);
  };

  test('sends uploads to engines with slow readiness checks', async () => {
    Object.assign(readiness, { status: 200, delayMs: 500 });
    await checked(2);
    expect(await get()).toEqual({ status: 200, body: 'engine' });
  });

  test('sends uploads to running engines when none is ready', async () => {
    Object.assign(readiness, { status: 503, delayMs: 0 });
    await checked(4);
    expect(await get()).toEqual({ status: 200, body: 'engine' });
  });

  test('sends the requests of a resumable upload to one engine, and to another when that has ended', async () => {
    const engines = ['a', 'b'].map((name) => createServer((_req, res) => void res.end(name)));
    for (const server of engines) await once(server.listen(0, '127.0.0.1'), 'listening');
    const ports = engines.map((server) => server.address().port);
    const pair = await Gateway.start({ controlPlane: ports[0], engines: ports });
    try {
      const engineOf = async (path) => (await request(pair, `/files/${path}`)).body;
      const paths = Array.from({ length: 20 }, (_, at) => `upload${at}`);
      const enginesOf = () => Promise.all(paths.map(engineOf));
      await until(async () => new Set(await enginesOf().catch(() => [])).size === 2);
      expect(await enginesOf()).toEqual(await enginesOf());
      await close(engines[1]);
      expect(new Set(await enginesOf())).toEqual(new Set(['a']));
    } finally {
      await pair.stop();
      await Promise.all(engines.map(close));
    }
  });

  test('responds with a problem when no engine is running', async () => {
    await close(engine);
    await until(async () => (await get()).body.includes('No server'));
    const { status, body } = await get();
    expect([status, JSON.parse(body)]).toMatchObject([
      503,
      { type: 'https://video.example.com/docs/errors/unavailable', code: 'unavailable' },
    ]);
    // Clients repeat a HEAD after 423, but not after 503.
    expect((await request(gateway, '/files/a', 'HEAD')).status).toBe(423);
    expect((await request(gateway, '/files/a', 'PATCH')).status).toBe(503);
  });
});
