import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { collectGarbage } from '@framelane/test-kit/collect-garbage';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { ApiError, createClient, unwrap } from '../src/index.ts';
import { type Handler, problem, respondJson, TestServer } from './support/test-server.ts';

const VIDEO = 'vid_01m7y5g5zqfqetgq1je8rn7s3t';

let server: TestServer | undefined;
afterEach(async () => {
  jest.restoreAllMocks();
  await server?.stop();
  server = undefined;
});

const CREDENTIALS = { apiKey: 'svc_test_key', workspaceId: 'ws_one' };

/** A client of a server that sends these responses in order, and the requests it got. */
async function clientOf(...handlers: Handler[]) {
  const requests: IncomingMessage[] = [];
  server = await TestServer.start((req, res) => {
    const handler = handlers[requests.push(req) - 1];
    return handler ? handler(req, res) : respondJson(res, 500, problem(500, 'unexpected_request'));
  });
  return { client: createClient({ baseUrl: `${server.url}/v1`, ...CREDENTIALS }), requests };
}

function json200(body: object): Handler {
  return (_req, res) => respondJson(res, 200, body);
}

function refused(status: number, code: string, headers: Record<string, string> = {}): Handler {
  return (_req, res) => respondJson(res, status, problem(status, code), headers);
}

const cut: Handler = (req) => req.socket.destroy();

test.each(['baseUrl', 'apiKey', 'workspaceId'])('a client without %s says that it is missing', (name) => {
  const options = { baseUrl: 'http://localhost:8080/v1', ...CREDENTIALS };
  for (const missing of [undefined, ''])
    expect(() => createClient({ ...options, [name]: missing })).toThrow(`createClient needs \`${name}\``);
});

test('a client of the console sends no key, and the CSRF token with everything but GET', async () => {
  const requests: IncomingMessage[] = [];
  server = await TestServer.start((req, res) => {
    requests.push(req);
    respondJson(res, 200, {});
  });
  let csrfToken: string | undefined;
  const client = createClient({ baseUrl: `${server.url}/v1`, csrfToken: () => csrfToken });
  await client.videos.update(VIDEO, { title: 'before the sign-in' });
  csrfToken = 'proof';
  await client.videos.get(VIDEO);
  await client.videos.update(VIDEO, { title: 'after the sign-in' });
  expect(requests.map(({ method, headers }) => [method, headers['x-framelane-csrf']])).toEqual([
    ['PATCH', undefined],
    ['GET', undefined],
    ['PATCH', 'proof'],
  ]);
  for (const { headers } of requests) {
    expect(headers.authorization).toBeUndefined();
    expect(headers['x-svc-workspace']).toBeUndefined();
  }
});

test('a client of a session sends the chosen workspace and environment, unless the request names its own', async () => {
  const requests: IncomingMessage[] = [];
  server = await TestServer.start((req, res) => {
    requests.push(req);
    respondJson(res, 200, {});
  });
  const scope = { workspaceId: 'ws_one', environment: 'test' } as const;
  const client = createClient({
    baseUrl: `${server.url}/v1`,
    csrfToken: () => undefined,
    scope: () => scope,
  });
  await client.GET('/console/session');
  const header = { 'X-Svc-Workspace': 'ws_two', 'X-Framelane-Environment': 'live' } as const;
  await client.GET('/console/session', { params: { header } });
  expect(
    requests.map(({ headers }) => [headers['x-svc-workspace'], headers['x-framelane-environment']]),
  ).toEqual([
    ['ws_one', 'test'],
    ['ws_two', 'live'],
  ]);
});

describe('a call', () => {
  test('sends the key and the workspace, and resolves with data', async () => {
    const { client, requests } = await clientOf(json200({ id: VIDEO, title: 'Holiday' }));
    const { data } = await client.GET('/videos/{id}', { params: { path: { id: VIDEO } } });
    expect(data?.title).toBe('Holiday');
    expect(requests[0]?.url).toBe(`/v1/videos/${VIDEO}`);
    expect(requests[0]?.headers).toMatchObject({
      authorization: 'Bearer svc_test_key',
      'x-svc-workspace': 'ws_one',
    });
  });

  test('resolves with the problem on an error', async () => {
    const { client } = await clientOf(refused(404, 'video_not_found'));
    const { data, error } = await client.GET('/videos/{id}', { params: { path: { id: VIDEO } } });
    expect([data, error?.code]).toEqual([undefined, 'video_not_found']);
  });

  test('throws an ApiError when it is unwrapped', async () => {
    const { client } = await clientOf(refused(404, 'video_not_found'));
    const call = unwrap(client.DELETE('/videos/{id}', { params: { path: { id: VIDEO } } }));
    const error = await call.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      message: 'This is video_not_found.',
      code: 'video_not_found',
      status: 404,
      requestId: 'req_of_the_problem',
      problem: { title: 'Refused' },
    });
  });

  test('resolves with undefined for 204', async () => {
    const { client } = await clientOf((_req, res) => res.writeHead(204).end());
    expect(await unwrap(client.DELETE('/videos/{id}', { params: { path: { id: VIDEO } } }))).toBeUndefined();
  });

  test('recognises a response that is not from the API', async () => {
    const page: Handler = (_req, res) =>
      res
        .writeHead(403, { 'Content-Type': 'text/html', 'X-Request-Id': 'req_proxy' })
        .end('<h1>Go away</h1>');
    const { client } = await clientOf(page);
    await expect(unwrap(client.GET('/auth/whoami'))).rejects.toMatchObject({
      code: 'unexpected_response',
      status: 403,
      requestId: 'req_proxy',
      problem: null,
    });
  });

  test('recognises a successful response that is not from the API', async () => {
    const page: Handler = (_req, res) =>
      res.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Hi</h1>');
    const { client } = await clientOf(page);
    await expect(client.account.whoami()).rejects.toMatchObject({
      name: 'FramelaneError',
      code: 'unexpected_response',
    });
  });

  test('uses the given fetch', async () => {
    const client = createClient({
      baseUrl: 'https://video.example.com/v1',
      apiKey: 'svc_test_key',
      workspaceId: 'ws_one',
      fetch: async ({ url }) => Response.json({ url }),
    });
    expect(await unwrap(client.GET('/auth/whoami'))).toEqual({
      url: 'https://video.example.com/v1/auth/whoami',
    });
  });
});

describe('a request', () => {
  test('has the values of its path and its query, escaped', async () => {
    const { client, requests } = await clientOf(json200({}), json200({}));
    await client.PUT('/videos/{id}/captions/{language}', {
      params: { path: { id: 'a/b?', language: '%2e' }, query: { label: "ä &=+!'()*", default: false } },
      headers: { 'Content-Type': 'text/vtt' },
      body: 'WEBVTT',
    });
    await client.GET('/videos', { params: { query: { status: [] } } });
    const query = 'label=%C3%A4%20%26%3D%2B%21%27%28%29%2A&default=false';
    expect(requests.map(({ url }) => url)).toEqual([
      `/v1/videos/a%2Fb%3F/captions/%252e?${query}`,
      '/v1/videos',
    ]);
  });

  test.each(['', '.', '..', '../a', 'a\\..'])(
    'is not sent with the id "%s", which would name another resource',
    async (id) => {
      const { client, requests } = await clientOf();
      const calls = [client.captions.delete(VIDEO, id), client.videos.delete(id)];
      for (const call of calls)
        await expect(call).rejects.toMatchObject({
          code: 'invalid_path_parameter',
          message: expect.stringMatching(/^".*" cannot be the value of `(language|id)` in \/videos/),
        });
      expect(requests).toEqual([]);
    },
  );

  test('has a body of JSON, or the bytes of another type', async () => {
    const bodies: string[] = [];
    const store: Handler = async (req, res) => {
      bodies.push(`${req.headers['content-type']} ${await text(req)}`);
      respondJson(res, 200, {});
    };
    const { client } = await clientOf(store, store, store, store);
    await client.videos.update(VIDEO, { title: 'Größe' });
    await client.videos.setPoster(VIDEO, new Uint8Array([65, 66]));
    await client.videos.setPoster(VIDEO, new Blob(['CD'], { type: 'image/gif' }));
    await client.chapters.set(VIDEO, 'WEBVTT');
    expect(bodies).toEqual([
      'application/json {"title":"Größe"}',
      'image/jpeg AB',
      'image/jpeg CD',
      'text/vtt WEBVTT',
    ]);
  });

  test('can have its own headers, retries and signal', async () => {
    const busy = refused(503, 'unavailable', { 'Retry-After': '0' });
    const { client, requests } = await clientOf(busy, busy);
    const headers = { Authorization: 'Bearer svc_test_other', 'X-Request-Id': undefined };
    const { error } = await client.GET('/auth/whoami', { headers, retries: 1 });
    expect([error?.code, requests.length]).toEqual(['unavailable', 2]);
    expect(requests[1]?.headers.authorization).toBe('Bearer svc_test_other');
    expect(requests[1]?.headers['x-request-id']).toBeUndefined();
    const reason = new Error('the caller left');
    const call = client.GET('/auth/whoami', { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
    expect(requests).toHaveLength(2);
  });

  test.each([
    ['a record', { 'X-Trace': 'one', 'X-Other': undefined }],
    ['Headers', new Headers({ 'X-Trace': 'one' })],
    ['a list', [['X-Trace', 'one']] as [string, string][]],
  ])('takes headers as %s, and leaves out what has no value', async (_what, headers) => {
    const { client, requests } = await clientOf(json200({}));
    const absent = { cursor: undefined, tag: null } as object;
    await client.GET('/videos', { headers, params: { query: { limit: 5, ...absent }, header: absent } });
    const [{ url, headers: sent }] = requests as [IncomingMessage];
    expect([url, sent['x-trace']]).toEqual(['/v1/videos?limit=5', 'one']);
    for (const name of ['x-other', 'cursor', 'tag', 'content-type', 'idempotency-key'])
      expect(sent).not.toHaveProperty(name);
  });

  test('is sent below the base URL, with or without a slash at its end', async () => {
    const urls: string[] = [];
    const fetch = async ({ url }: Request) => {
      urls.push(url);
      return Response.json({});
    };
    for (const baseUrl of ['https://video.example.com/a/v1', 'https://video.example.com/a/v1/'])
      await createClient({ baseUrl, ...CREDENTIALS, fetch }).account.whoami();
    expect(urls).toEqual(Array(2).fill('https://video.example.com/a/v1/auth/whoami'));
  });

  test('can read its response as text, and a problem all the same', async () => {
    const { client } = await clientOf(
      (_req, res) => res.writeHead(200, { 'Content-Type': 'text/vtt' }).end('WEBVTT'),
      refused(404, 'captions_not_found'),
    );
    expect(await client.captions.get(VIDEO, 'en')).toBe('WEBVTT');
    await expect(client.captions.get(VIDEO, 'en')).rejects.toMatchObject({ code: 'captions_not_found' });
  });

  test('resolves with undefined for a response without a body', async () => {
    const { client } = await clientOf((_req, res) => res.writeHead(200).end());
    const { data, error, response } = await client.GET('/auth/whoami');
    expect([data, error, response.status]).toEqual([undefined, undefined, 200]);
  });
});

describe('a POST', () => {
  const ticket = { body: { filename: 'holiday.mp4' } };

  test('is retried with the same key, after an error or a lost connection', async () => {
    const made = json200({ videoId: VIDEO });
    const { client, requests } = await clientOf(
      refused(503, 'unavailable', { 'Retry-After': '0' }),
      cut,
      made,
    );
    expect(await unwrap(client.POST('/videos/upload-ticket', ticket))).toEqual({ videoId: VIDEO });
    const keys = requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), keys[0], keys[0]]);
  });

  test('has a random key, or the given one', async () => {
    const { client, requests } = await clientOf(json200({}), json200({}), json200({}));
    await client.POST('/videos/upload-ticket', ticket);
    await client.POST('/videos/upload-ticket', ticket);
    await client.POST('/videos/upload-ticket', { ...ticket, headers: { 'Idempotency-Key': 'order-4711' } });
    const [first, second, third] = requests.map(({ headers }) => headers['idempotency-key']);
    expect(first).not.toBe(second);
    expect(third).toBe('order-4711');
  });

  test('waits while its key is in use', async () => {
    const inUse = refused(409, 'idempotency_key_in_use', { 'Retry-After': '0' });
    const { client } = await clientOf(cut, inUse, json200({ videoId: VIDEO }));
    expect((await unwrap(client.POST('/videos/upload-ticket', ticket))).videoId).toBe(VIDEO);
  });
});

describe('retries and timeouts', () => {
  const busy = refused(503, 'unavailable', { 'Retry-After': '0' });

  test('are set per client, and per call', async () => {
    const { client, requests: received } = await clientOf(busy, busy, busy, json200({ id: VIDEO }));
    await expect(client.videos.get(VIDEO, { retries: 1 })).rejects.toMatchObject({ status: 503 });
    expect(received).toHaveLength(2);
    expect((await client.videos.get(VIDEO)).id).toBe(VIDEO);

    const requests: Request[] = [];
    const impatient = createClient({
      baseUrl: 'http://framelane.test/v1',
      ...CREDENTIALS,
      retries: 0,
      fetch: async (request) => {
        requests.push(request);
        return new Response('{}', { status: 503, headers: { 'Retry-After': '0' } });
      },
    });
    await expect(impatient.account.whoami()).rejects.toMatchObject({ status: 503 });
    await expect(impatient.account.whoami({ retries: 2 })).rejects.toMatchObject({ status: 503 });
    expect(requests).toHaveLength(1 + 3);
  });

  test('a call that times out is retried, then throws a ConnectionError', async () => {
    let attempts = 0;
    const silent: typeof fetch = (request) => {
      attempts += 1;
      return new Promise((_, reject) => {
        const { signal } = request as Request;
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    };
    const client = createClient({ baseUrl: 'http://framelane.test/v1', ...CREDENTIALS, fetch: silent });
    await expect(client.videos.get(VIDEO, { timeoutMs: 20, retries: 1 })).rejects.toMatchObject({
      name: 'ConnectionError',
      cause: { name: 'TimeoutError' },
    });
    expect(attempts).toBe(2);
  });

  test('a response with a truncated body is retried', async () => {
    const truncated: Handler = (_req, res) => res.write('{"id":', () => res.destroy());
    const { client } = await clientOf(truncated, json200({ id: VIDEO }));
    expect((await client.videos.get(VIDEO)).id).toBe(VIDEO);
  });

  test('a garbage collection does not cancel the timeout', async () => {
    const collecting = setInterval(collectGarbage, 20);
    try {
      const { client } = await clientOf((_req, res) => res.write('{"id":'));
      await expect(client.videos.get(VIDEO, { timeoutMs: 200, retries: 0 })).rejects.toMatchObject({
        cause: { name: 'TimeoutError' },
      });
    } finally {
      clearInterval(collecting);
    }
  });

  test('a response whose body does not end before the timeout throws a ConnectionError', async () => {
    const { client } = await clientOf((_req, res) => res.write('{"id":'));
    await expect(client.videos.get(VIDEO, { timeoutMs: 200, retries: 0 })).rejects.toMatchObject({
      name: 'ConnectionError',
      cause: { name: 'TimeoutError' },
    });
  });

  test('a POST can have your own idempotency key', async () => {
    const { client, requests } = await clientOf(json200({}));
    await client.uploadTickets.create({ filename: 'a.mp4' }, { idempotencyKey: 'order-4711' });
    expect(requests[0]?.headers['idempotency-key']).toBe('order-4711');
  });
});

describe('a list', () => {
  const page =
    (ids: string[], nextCursor: string | null): Handler =>
    (_req, res) =>
      respondJson(res, 200, { data: ids.map((id) => ({ id })), nextCursor, hasMore: nextCursor !== null });

  test('is read page by page with the same filters', async () => {
    const { client, requests } = await clientOf(
      page(['a', 'b'], 'next=='),
      page([], 'more'),
      page(['c'], null),
    );
    const ids: string[] = [];
    for await (const { id } of client.videos.list({ status: ['ready', 'failed'] })) ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    const filter = 'status=ready&status=failed';
    expect(requests.map(({ url }) => url)).toEqual([
      `/v1/videos?${filter}`,
      `/v1/videos?${filter}&cursor=next%3D%3D`,
      `/v1/videos?${filter}&cursor=more`,
    ]);
  });

  test('fetches only the pages that are needed', async () => {
    const { client, requests } = await clientOf(page(['a', 'b'], 'next'));
    for await (const _entry of client.webhooks.list()) break;
    expect(requests).toHaveLength(1);
  });

  test('of deliveries has the id of the endpoint in its path', async () => {
    const { client, requests } = await clientOf(page([], null));
    for await (const delivery of client.webhooks.listDeliveries('whk_1')) throw delivery;
    expect(requests[0]?.url).toBe('/v1/webhooks/whk_1/deliveries');
  });

  test('throws the problem on an error', async () => {
    const { client } = await clientOf(refused(403, 'insufficient_permissions'));
    await expect(client.apiKeys.list().next()).rejects.toMatchObject({ code: 'insufficient_permissions' });
  });
});

describe('waiting for a video', () => {
  const record = (status: string, progress: number) => json200({ id: VIDEO, status, progress, error: null });

  test('reports the progress, and ends when it is ready', async () => {
    const ready = json200({
      id: VIDEO,
      status: 'ready',
      progress: 100,
      hls: 'https://…',
      variants: ['360p'],
    });
    const { client } = await clientOf(record('uploading', 0), record('processing', 40), ready);
    const seen: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => seen.push(progress);
    const { hls, variants } = await client.videos.waitUntilReady(VIDEO, { onProgress });
    expect([hls, variants, seen]).toEqual(['https://…', ['360p'], [0, 40, 100]]);
  });

  test('throws the reason when it fails', async () => {
    const error = { code: 'not_a_video', message: 'The file is not a video.' };
    const { client } = await clientOf(json200({ id: VIDEO, status: 'failed', error }));
    await expect(client.videos.waitUntilReady(VIDEO)).rejects.toMatchObject({
      name: 'VideoFailedError',
      ...error,
      status: null,
      video: { id: VIDEO },
    });
  });

  test('ends with its signal', async () => {
    const { client } = await clientOf(record('processing', 10));
    const controller = new AbortController();
    const reason = new Error('the caller left');
    const wait = client.videos.waitUntilReady(VIDEO, {
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    await expect(wait).rejects.toBe(reason);
  });

  test('polls with the retries of the call', async () => {
    const busy = refused(503, 'unavailable', { 'Retry-After': '0' });
    const { client, requests } = await clientOf(busy, busy);
    const wait = client.videos.waitUntilReady(VIDEO, { retries: 0 });
    await expect(wait).rejects.toMatchObject({ status: 503 });
    expect(requests).toHaveLength(1);
  });

  test('throws if the workspace has no such video', async () => {
    const { client } = await clientOf(refused(404, 'video_not_found'));
    await expect(client.videos.waitUntilReady(VIDEO)).rejects.toMatchObject({ code: 'video_not_found' });
  });
});

describe('a download of a source', () => {
  const PART = Buffer.alloc(100_000, 'x');

  test('is a stream, which no timeout limits', async () => {
    let finish = () => {};
    const slow: Handler = (_req, res) => {
      res.writeHead(200, { 'Content-Length': 200_000, ETag: '"e"' });
      res.write(PART);
      finish = () => res.end(PART);
    };
    const { client } = await clientOf(slow);
    const timeout = new AbortController();
    const spy = jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(timeout.signal);
    const response = await client.videos.getSource(VIDEO, { timeoutMs: 1234 });
    expect(spy).toHaveBeenCalledWith(1234);
    expect([response.status, response.headers.get('etag')]).toEqual([200, '"e"']);
    timeout.abort();
    finish();
    expect((await response.arrayBuffer()).byteLength).toBe(200_000);
  });

  test('can be resumed by a range, and aborted', async () => {
    const endless: Handler = (_req, res) => {
      res.writeHead(206, { 'Content-Type': 'application/octet-stream' });
      res.write(PART);
    };
    const { client, requests } = await clientOf(endless);
    const controller = new AbortController();
    const response = await client.videos.getSource(VIDEO, {
      range: 'bytes=100-',
      ifRange: '"e"',
      signal: controller.signal,
    });
    expect(requests[0]?.headers).toMatchObject({ range: 'bytes=100-', 'if-range': '"e"' });
    expect(response.status).toBe(206);
    const reason = new Error('No longer needed');
    const body = response.arrayBuffer();
    controller.abort(reason);
    await expect(body).rejects.toBe(reason);
  });

  test('is retried until it begins, and throws the problem', async () => {
    const begins: Handler = (_req, res) => res.writeHead(200).end('source');
    const { client, requests } = await clientOf(cut, begins, refused(404, 'source_not_found'));
    expect(await (await client.videos.getSource(VIDEO)).text()).toBe('source');
    expect(requests).toHaveLength(2);
    await expect(client.videos.getSource(VIDEO)).rejects.toMatchObject({
      name: 'ApiError',
      code: 'source_not_found',
      status: 404,
    });
  });
});
