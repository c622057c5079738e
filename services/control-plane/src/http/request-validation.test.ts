import { createServer } from 'node:http';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import { Problem } from '@framelane/service-kit/problem';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import request from 'supertest';
import type { Contract } from './contract.ts';
import { type Authenticate, requestValidation, routeOf } from './request-validation.ts';

const OK = { responses: { 200: { description: 'OK' } } };
const OPEN = { ...OK, security: [{ nobody: [] }] };
const scheme = { type: 'http', scheme: 'any' };
/** A JSON object with one field, which is a text. */
const objectWith = (field: string) => ({
  type: 'object',
  additionalProperties: false,
  required: [field],
  properties: { [field]: { type: 'string' } },
});
const body = (type: string, schema: object) => ({ required: true, content: { [type]: { schema } } });
const query = (name: string) => ({ in: 'query', name, schema: { type: 'string', maxLength: 10 } });

/** A contract with an operation of each kind. */
const CONTRACT = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  servers: [{ url: '/v1' }],
  paths: {
    '/things/{id}': {
      parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'string', maxLength: 5 } }],
      get: { ...OK, security: [{ apiKey: ['read'] }], parameters: [query('filter')] },
      post: {
        ...OK,
        security: [{ apiKey: ['read', 'write'] }],
        requestBody: body('application/json', objectWith('name')),
      },
      patch: { ...OK, security: [{ apiKey: [] }], requestBody: body('application/json', {}) },
      delete: { ...OK, security: [{ consoleSession: [] }] },
    },
    '/picture': {
      parameters: [query('fit')],
      get: {
        ...OPEN,
        parameters: [{ $ref: '#/components/parameters/Width' }],
        'x-other-parameters': ['token'],
      },
    },
    '/link': {
      get: { ...OK, security: [{ apiKey: [] }], parameters: [query('workspace'), query('filter')] },
    },
    '/header': {
      get: { ...OK, security: [{ apiKey: [] }], parameters: [{ ...query('workspace'), in: 'header' }] },
    },
    '/open': {
      parameters: [query('filter')],
      get: OPEN,
      delete: OPEN,
      post: { ...OPEN, requestBody: body('application/json', objectWith('code')) },
      put: { ...OPEN, requestBody: body('text/plain', { type: 'string' }) },
    },
  },
  components: {
    parameters: { Width: query('width') },
    securitySchemes: { apiKey: scheme, consoleSession: scheme, nobody: scheme },
  },
} as unknown as Contract;

/** What was authenticated, since the test began. Requests with the header `x-refuse` are refused. */
const authenticated: unknown[] = [];
const authenticate: Authenticate = async (req, permissions, options) => {
  authenticated.push({ permissions, ...options });
  if (req.get('x-refuse') !== undefined) {
    throw new Problem('missing_api_key', 'Send a key.', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
};

/** The body of a response: of the handler, or of an error. */
type Sent = { body: { name: string }; route: string; code: string; fields: string[] };

const respond: RequestHandler = (req, res) => {
  res.set('X-Method', req.method).json({ body: req.body, route: routeOf(req) });
};
const respondWithError: ErrorRequestHandler = (error, _req, res, _next) => {
  const { code, type, status, options } = error;
  res
    .status(status)
    .set(options?.headers ?? {})
    .json({ code: code ?? type, fields: options?.errors?.map(({ field }: { field: string }) => field) });
};

const app = express();
app.use('/v1', ...requestValidation(CONTRACT, authenticate));
app.all(/^\/v1\/(things|picture|link|header|open)/, respond);
app.get('/outside/:id', respond);
app.use(respondWithError);
const server = createServer(app);
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' })}`;
});
beforeEach(() => void authenticated.splice(0));
afterAll(() => closeServer(server, 0));

/** The status and the body of the response to a request with this JSON. */
async function send(method: string, path: string, content?: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(content !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(content !== undefined && { body: content }),
  });
  const sent = (await response.json()) as Partial<Sent>;
  return { status: response.status, headers: response.headers, ...sent };
}

describe('authentication', () => {
  test.each([
    ['GET', '/things/a', undefined, ['read'], true],
    ['POST', '/things/a', '{"name":"x"}', ['read', 'write'], true],
    ['DELETE', '/things/a', undefined, [], false],
  ])('of %s %s requires its permissions', async (method, path, content, permissions, acceptsKeys) => {
    expect(await send(method, `/v1${path}`, content)).toMatchObject({ status: 200 });
    expect(authenticated).toEqual([{ permissions, acceptsKeys, workspaceId: undefined }]);
  });

  test('does not run for an operation without security', async () => {
    expect(await send('GET', '/v1/open')).toMatchObject({ status: 200 });
    expect(authenticated).toEqual([]);
  });

  test.each([
    ['/link?workspace=ws_1', 'ws_1'],
    ['/link', undefined],
    ['/link?workspace=a&workspace=b', undefined],
    ['/header?workspace=ws_1', undefined],
    ['/things/a?workspace=ws_1', undefined],
  ])('uses the workspace in the address of a link only: %s', async (path, workspaceId) => {
    await send('GET', `/v1${path}`);
    expect(authenticated).toMatchObject([{ workspaceId }]);
  });

  test('refuses a request before its input is validated, with the complete problem', async () => {
    const headers = { 'x-refuse': 'yes' };
    for (const content of ['{"name":1}', '{"name":']) {
      const response = await send('POST', '/v1/things/a', content, headers);
      expect(response).toMatchObject({ status: 401, code: 'missing_api_key' });
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
  });
});

describe('a body', () => {
  test('is passed on, if it has at most 256 kB', async () => {
    const contentOf = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`;
    const accepted = await send('POST', '/v1/things/a', contentOf(256 * 1024));
    expect([accepted.status, accepted.body?.name.length]).toEqual([200, 256 * 1024 - 11]);
    expect(await send('POST', '/v1/things/a', contentOf(256 * 1024 + 1))).toMatchObject({
      status: 413,
      code: 'entity.too.large',
    });
  });

  test.each([
    ['POST', '/things/a'],
    ['PATCH', '/things/a'],
    ['POST', '/open'],
  ])('that is malformed is an error of the parser: %s %s', async (method, path) => {
    expect(await send(method, `/v1${path}`, '{"name":')).toMatchObject({
      status: 400,
      code: 'entity.parse.failed',
    });
  });

  test('is not parsed before authentication, and has at most 4 kB without it', async () => {
    const parse = jest.spyOn(JSON, 'parse');
    const content = `{"code":"${'x'.repeat(4_096)}"}`;
    const refused = await send('POST', '/v1/things/a', content, { 'x-refuse': 'yes' });
    const unknown = await send('POST', '/v1/unknown', content);
    const open = await send('POST', '/v1/open', content);
    const parsed = parse.mock.calls.map(([text]) => text);
    parse.mockRestore();
    expect(parsed).not.toContain(content);
    expect([refused.status, unknown.status, open.status]).toEqual([401, 404, 413]);
  });

  test('that is nested too deeply is refused', async () => {
    const deep = `${'['.repeat(21)}${']'.repeat(21)}`;
    expect(await send('POST', '/v1/things/a', deep)).toMatchObject({ code: 'json_too_deep' });
  });

  test.each([
    ['POST', '/things/a', '{"name":1}', 'validation_failed', ['body/name']],
    ['POST', '/things/a', '{"nam":"x"}', 'unknown_field', ['body/nam']],
    ['POST', '/things/abcdef', '{"name":"x"}', 'route_not_found', undefined],
    ['DELETE', '/things/a', '{"name":"x"}', 'unknown_field', ['body/name']],
    ['DELETE', '/open', '{"a":1}', 'unknown_field', ['body/a']],
    ['DELETE', '/open', '{"a":', 'entity.parse.failed', undefined],
  ])(
    'that the operation does not accept is refused: %s %s %s',
    async (method, path, content, code, fields) => {
      const response = await send(method, `/v1${path}`, content);
      expect([response.code, response.fields]).toEqual([code, fields]);
    },
  );

  test('of another type than JSON has no fields', async () => {
    const headers = { 'Content-Type': 'text/plain' };
    expect(await send('PUT', '/v1/open', 'text', headers)).toMatchObject({ status: 200 });
    expect(await send('PUT', '/v1/open?filter=longer-than-10', 'text', headers)).toMatchObject({
      code: 'validation_failed',
      fields: ['query/filter'],
    });
  });

  test.each(['get', 'head'] as const)('is ignored if the method is %s', async (method) => {
    // Not by fetch, which refuses to send it.
    const headers = { 'Content-Type': 'application/json', 'Content-Length': '12' };
    const { status } = await request(url)[method]('/v1/things/a').set(headers).send('{"name":"x"}');
    expect(status).toBe(200);
    expect((await request(url)[method]('/v1/open').set(headers).send('{"name":}}}}')).status).toBe(200);
  });
});

describe('a query', () => {
  test('may have unknown parameters', async () => {
    expect(await send('GET', '/v1/things/a?other=x')).toMatchObject({ status: 200 });
  });

  test.each([
    ['?fit=a&width=1&token=t', 200, undefined],
    ['?widht=1', 400, ['query/widht']],
    ['?Width=1', 400, ['query/Width']],
    ['?_=1&utm_source=x', 400, ['query/_', 'query/utm_source']],
    // A misspelt name is reported before other errors.
    ['?width=longer-than-10&widht=1', 400, ['query/widht']],
  ])('of an operation that refuses unknown parameters: %s', async (text, status, fields) => {
    const response = await send('GET', `/v1/picture${text}`);
    expect([response.status, response.fields]).toEqual([status, fields]);
    if (status === 400) expect(response.code).toBe('unknown_field');
    expect((await fetch(`${url}/v1/picture${text}`, { method: 'HEAD' })).status).toBe(status);
  });

  test('is validated', async () => {
    expect(await send('GET', '/v1/things/a?filter=longer-than-10')).toMatchObject({
      status: 400,
      code: 'validation_failed',
      fields: ['query/filter'],
    });
  });
});

describe('a HEAD request', () => {
  const head = (path: string) => fetch(`${url}${path}`, { method: 'HEAD' });

  test('is validated as GET, and handled as HEAD', async () => {
    const response = await head('/v1/things/a');
    expect([response.status, response.headers.get('x-method')]).toEqual([200, 'HEAD']);
    expect(authenticated).toMatchObject([{ permissions: ['read'] }]);
    expect((await head('/v1/things/a?filter=longer-than-10')).status).toBe(400);
  });

  test('does not change the method of others', async () => {
    expect((await send('POST', '/v1/things/a', '{"name":"x"}')).headers.get('x-method')).toBe('POST');
    expect((await send('GET', '/v1/things/a')).headers.get('x-method')).toBe('GET');
  });
});

test.each([
  ['/v1/things/a', '/v1/things/{id}'],
  ['/outside/a', '/outside/:id'],
])('the route of %s is %s', async (path, route) => {
  expect(await send('GET', path)).toMatchObject({ route });
});

test('a request that no route handles has no route', () => {
  expect(routeOf({} as Request)).toBeUndefined();
});

test('an unknown path has the error of the validator', async () => {
  expect(await send('GET', '/v1/unknown')).toMatchObject({ status: 404 });
});
