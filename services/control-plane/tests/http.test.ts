import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, requestSeconds: 6 }));
});
afterAll(() => plane.stop());

/** Nested arrays. */
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

const ticketRequest = () => request(plane.url).post('/v1/videos/upload-ticket').set(plane.credentials);

/** A request with these bytes as its JSON body. */
function withBytes(call: request.Test, bytes: Buffer): request.Test {
  // supertest would otherwise write the JSON form of the buffer.
  return (call.get('content-type') ? call : call.type('json')).serialize((body) => body).send(bytes);
}

describe('problems', () => {
  test.each([
    ['an unknown path', () => request(plane.url).get('/v1/films'), 404, 'route_not_found'],
    ['a path outside /v1', () => request(plane.url).get('/films'), 404, 'route_not_found'],
    ['another method', () => request(plane.url).put('/v1/videos'), 405, 'method_not_allowed'],
    ['bad JSON', () => ticketRequest().type('json').send('{"filename":'), 400, 'invalid_json'],
    ...['gzip', 'br', 'zstd'].map((encoding): [string, () => request.Test, number, string] => [
      `a body that is not ${encoding}`,
      () => ticketRequest().type('json').set('content-encoding', encoding).send('{"filename":"a.mp4"}'),
      400,
      'invalid_json',
    ]),
    ...[
      ['a stray byte', '{"filename":"a\xff.mp4"}'],
      ['an overlong form', '{"filename":"a\xc0\xaf.mp4"}'],
      ['a surrogate', '{"filename":"a\xed\xa0\x80.mp4"}'],
      ['a truncated character', '{"filename":"a\xe2\x82"}'],
      ['Latin-1', '{"filename":"Stra\xdfe.mp4"}'],
    ].map(([name, body]): [string, () => request.Test, number, string] => [
      `JSON that is not UTF-8: ${name}`,
      () => withBytes(ticketRequest(), Buffer.from(String(body), 'latin1')),
      400,
      'invalid_json',
    ]),
    [
      'JSON in UTF-16',
      () =>
        withBytes(
          ticketRequest().type('application/json; charset=utf-16le'),
          Buffer.from('{"filename":"a.mp4"}', 'utf16le'),
        ),
      415,
      'unsupported_media_type',
    ],
    ['deep JSON', () => ticketRequest().type('json').send(nested(21)), 400, 'json_too_deep'],
    [
      'JSON of the greatest possible depth',
      () => ticketRequest().type('json').send(nested(120_000)),
      400,
      'json_too_deep',
    ],
    [
      'JSON of the greatest accepted depth',
      () => ticketRequest().type('json').send(nested(20)),
      400,
      'validation_failed',
    ],
    ['JSON that is not an object', () => ticketRequest().type('json').send('[]'), 400, 'validation_failed'],
    ['no body', () => ticketRequest(), 415, 'unsupported_media_type'],
    ['a form', () => ticketRequest().type('form').send('filename=a.mp4'), 415, 'unsupported_media_type'],
    [
      'a huge body',
      () => ticketRequest().send({ filename: 'a.mp4', x: 'x'.repeat(300_000) }),
      413,
      'body_too_large',
    ],
    [
      'a broken escape',
      () => request(plane.url).get('/v1/videos/%E0%A4%A').set(plane.credentials),
      404,
      'route_not_found',
    ],
    [
      'a NUL in an id',
      () => request(plane.url).get('/v1/videos/%00').set(plane.credentials),
      404,
      'route_not_found',
    ],
    [
      'a NUL in a path without authentication',
      () => request(plane.url).get('/v1/hls/%00/x/360p/0.ts'),
      404,
      'route_not_found',
    ],
    [
      'deep JSON without a key',
      () => ticketRequest().unset('authorization').type('json').send(nested(21)),
      401,
      'missing_api_key',
    ],
    [
      'bad JSON without a key',
      () => ticketRequest().unset('authorization').type('json').send('{'),
      401,
      'missing_api_key',
    ],
    [
      'a day that does not exist',
      () => request(plane.url).get('/v1/videos?createdAfter=2026-02-30T00:00:00Z').set(plane.credentials),
      400,
      'validation_failed',
    ],
  ])('%s', async (_, call, status, code) => {
    const response = await call();
    expect([response.status, response.body.code]).toEqual([status, code]);
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.body).toEqual({
      type: `http://framelane.test/docs/errors/${code}`,
      title: expect.any(String),
      status,
      detail: expect.any(String),
      instance: expect.stringMatching(/^\//),
      code,
      requestId: response.headers['x-request-id'],
      ...(code === 'validation_failed' && { errors: expect.any(Array) }),
    });
  });

  test.each(['/films', '/v1/films', '/v1/videos/%FF'])(
    '404 names the operation that does not exist: %s',
    async (path) => {
      const response = await request(plane.url).get(path);
      expect(response.body).toMatchObject({
        detail: `There is no operation GET ${path}. Check the method and the path.`,
        instance: path,
      });
    },
  );

  test('405 lists the allowed methods', async () => {
    const response = await request(plane.url).put('/v1/videos');
    expect(response.headers.allow).toBe('GET, HEAD');
  });
});

test('JSON that is not UTF-8 is refused by the internal API as well', async () => {
  const bytes = new Uint8Array(Buffer.from('{"videoId":"\xff"}', 'latin1'));
  const { status, body } = await plane.engine.request(INTERNAL_PATHS.claimTask, bytes);
  expect([status, body.code]).toEqual([400, 'invalid_json']);
});

describe('request ids', () => {
  test('a valid id is used, any other is replaced', async () => {
    const kept = await request(plane.url).get('/healthz').set('X-Request-Id', 'trace-7:a.b');
    expect(kept.headers['x-request-id']).toBe('trace-7:a.b');
    const replaced = await request(plane.url).get('/healthz').set('X-Request-Id', 'no spaces "please"');
    expect(replaced.headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/);
  });
});

describe('the contract', () => {
  test('is served with the URLs of this installation, including the upload', async () => {
    const { body, headers } = await request(plane.url).get('/v1/openapi.json');
    expect(headers['content-type']).toContain('application/json');
    expect(body.openapi).toMatch(/^3\.1/);
    expect(body.servers[0].url).toBe('http://framelane.test/v1');
    for (const path of ['/upload', '/files', '/files/{transferId}']) {
      expect(body.paths[path].servers).toEqual([
        { url: 'http://engine.framelane.test', description: 'Engine' },
      ]);
    }
    expect(body.paths['/upload'].post.operationId).toBe('uploadFile');
    // Also in examples and curl commands.
    expect(JSON.stringify(body)).not.toContain('localhost');
  });
});

describe('health', () => {
  test('healthz and readyz succeed', async () => {
    expect((await request(plane.url).get('/healthz')).status).toBe(200);
    expect((await request(plane.engine.internalUrl).get('/healthz')).body).toEqual({ status: 'ok' });
    expect((await request(plane.url).get('/readyz')).body).toEqual({ status: 'ready', missing: [] });
  });

  test('readyz names failed checks', async () => {
    const other = await startControlPlane();
    await other.bus.close();
    const response = await request(other.url).get('/readyz');
    expect([response.status, response.body.missing]).toEqual([503, ['queue']]);
    await other.stop();
  });
});

describe('a list', () => {
  test('can be requested with HEAD', async () => {
    const response = await request(plane.url).head('/v1/videos').set(plane.credentials);
    expect(response.status).toBe(200);
  });

  test('is 304 for its current ETag', async () => {
    const send = (headers: Record<string, string>) =>
      request(plane.url)
        .get('/v1/videos')
        .set({ ...plane.credentials, ...headers });
    const { headers } = await send({});
    const again = await send({ 'if-none-match': headers.etag ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await send({ 'if-none-match': 'W/"another"' })).status).toBe(200);
  });
});

describe('a client that sends its body byte by byte', () => {
  /** Sends a head and then single bytes. Resolves with the response when the server closes the connection. */
  async function drip(url: string, head: string, everyMs = 100): Promise<string> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write(`${head}\r\nHost: framelane\r\nContent-Length: 100000\r\n\r\n`);
    const dripping = setInterval(() => socket.write(' '), everyMs);
    const { promise: closed, resolve } = Promise.withResolvers<string>();
    socket.on('close', () => resolve('closed'));
    const end = await Promise.race([closed, pause(12_000, 'still open', { ref: false })]);
    clearInterval(dripping);
    socket.destroy();
    expect(end).toBe('closed');
    return received;
  }

  test.each([
    ['that no handler reads', () => plane.url, 'GET /healthz HTTP/1.1', 200],
    ['to an unknown path', () => plane.url, 'POST /v1/films HTTP/1.1', 404],
    ['without a key', () => plane.url, 'POST /v1/videos/upload-ticket HTTP/1.1', 401],
    [
      'to the internal listener',
      () => plane.engine.internalUrl,
      'POST /internal/v1/tasks/claim HTTP/1.1',
      401,
    ],
  ])('%s: gets its response and is disconnected', async (_, url, head, status) => {
    const startedAt = performance.now();
    expect(await drip(url(), head)).toMatch(`HTTP/1.1 ${status}`);
    expect(performance.now() - startedAt).toBeLessThan(9_000);
  });

  test('that a handler reads: is disconnected after the timeout', async () => {
    const head = [
      'POST /v1/videos/upload-ticket HTTP/1.1',
      'Content-Type: application/json',
      ...Object.entries(plane.credentials).map(([name, value]) => `${name}: ${value}`),
    ].join('\r\n');
    // The reset can arrive before the response.
    expect(['', 'HTTP/1.1 408']).toContain((await drip(plane.url, head)).slice(0, 12));
  });
});
