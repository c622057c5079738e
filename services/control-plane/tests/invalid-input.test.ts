import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { keyedOperations } from './support/operations.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, hasRecognizer: true }));
});
afterAll(() => plane.stop());

const LINE =
  'must not contain control characters, bidirectional formatting characters or half of a surrogate pair';
const TEXT = 'must not contain the character NUL or half of a surrogate pair';
const TIME = 'must be a time such as 2026-11-21T09:00:00Z; in a query, + is written %2B';
const DAY = 'must be a day from the year 2000 on, such as 2026-11-21';
const NAME =
  'must be a file name with an extension, such as clip.mp4, without slashes, control characters and bidirectional formatting characters';

const get = (path: string) => request(plane.url).get(`/v1${path}`).set(plane.credentials);
const post = (path: string, body: string | object) =>
  request(plane.url)
    .post(`/v1${path}`)
    .set(plane.credentials)
    .type('json')
    .send(typeof body === 'string' ? body : JSON.stringify(body));

describe('an invalid field is named, with a message that says what it must be', () => {
  test.each([
    ['/videos/upload-ticket', {}, 'body/filename', 'is missing'],
    ['/videos/upload-ticket', [], 'body', 'must be an object'],
    ['/videos/upload-ticket', { filename: 5 }, 'body/filename', 'must be a string'],
    ['/videos/upload-ticket', { filename: '' }, 'body/filename', 'must have at least 3 characters'],
    ['/videos/upload-ticket', { filename: 'a/b.mp4' }, 'body/filename', NAME],
    ['/videos/upload-ticket', { filename: 'a.mp4', title: 'a\u0000' }, 'body/title', LINE],
    ['/videos/upload-ticket', { filename: 'a.mp4', title: 'a\u001b[2Jb' }, 'body/title', LINE],
    ['/videos/upload-ticket', { filename: 'a.mp4', title: 'a\u009bb' }, 'body/title', LINE],
    ['/videos/upload-ticket', { filename: 'a\u202e4pm.exe' }, 'body/filename', NAME],
    ['/videos/upload-ticket', { filename: 'a.mp4', metadata: { a: '\u0000' } }, 'body/metadata/a', TEXT],
    ['/videos/upload-ticket', { filename: 'a.mp4', tags: ['\ud800'] }, 'body/tags/0', LINE],
    ['/videos/upload-ticket', { filename: 'a.mp4', tags: ['a\u2067b'] }, 'body/tags/0', LINE],
    [
      '/videos/upload-ticket',
      { filename: 'a.mp4', tags: ['x', 'x'] },
      'body/tags',
      'must not have an entry twice',
    ],
    [
      '/videos/upload-ticket',
      { filename: 'a.mp4', metadata: { '': 'x' } },
      'body/metadata',
      'has a name that must not be empty',
    ],
    [
      '/videos/upload-ticket',
      { filename: 'a.mp4', metadata: { a: 1 } },
      'body/metadata/a',
      'must be a string',
    ],
    ['/videos/upload-ticket', { filename: 'a.mp4', size: 1.5 }, 'body/size', 'must be an integer'],
    ['/videos/upload-ticket', { filename: 'a.mp4', expiresIn: 10 }, 'body/expiresIn', 'must be at least 60'],
    [
      '/videos/upload-ticket',
      { filename: 'a.mp4', playbackPolicy: 'x' },
      'body/playbackPolicy',
      'must be one of public, signed',
    ],
    ['/api-keys', { name: '' }, 'body/name', 'must not be empty'],
    ['/api-keys', { name: 'x\r\nkey_forged' }, 'body/name', LINE],
    ['/webhooks', { url: 'https://example.com', description: 'x\u202ey' }, 'body/description', LINE],
    ['/api-keys', { name: 'x', expiresAt: 'tomorrow' }, 'body/expiresAt', TIME],
    ['/api-keys', { name: 'x', expiresAt: 5 }, 'body/expiresAt', 'must be a string'],
    [
      '/api-keys',
      { name: 'x', expiresAt: '2999-02-30T00:00:00Z' },
      'body/expiresAt',
      'must be a time that exists, such as 2026-11-21T09:00:00Z',
    ],
    ['/webhooks', { url: 'nonsense' }, 'body/url', 'must be an absolute URL, such as https://example.com/'],
  ])('POST %s %j', async (path, body, field, message) => {
    const response = await post(path, body);
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
    expect(response.body.errors).toEqual([{ field, code: expect.stringMatching(/^[a-zA-Z]+$/), message }]);
    expect(response.body.detail).toBe(`The request is invalid: ${field} ${message}.`);
  });

  test.each([
    ['/videos?limit=0', 'query/limit', 'must be at least 1'],
    ['/videos?limit=1e309', 'query/limit', 'must be an integer'],
    ['/videos?limit=1&limit=2', 'query/limit', 'must be an integer'],
    [
      '/videos?status=done',
      'query/status/0',
      'must be one of uploading, processing, ready, failed, or several of them separated by commas',
    ],
    ['/videos?createdAfter=yesterday', 'query/createdAfter', TIME],
    ['/videos?q=%00', 'query/q', 'must not contain the character NUL'],
    ['/auth/usage?from=1999-01-01', 'query/from', `${DAY} or ${TIME}`],
  ])('GET %s', async (path, field, message) => {
    const response = await get(path);
    expect(response.status).toBe(400);
    expect(response.body.errors).toEqual([{ field, code: expect.any(String), message }]);
  });
});

describe('a text that PostgreSQL cannot store is an error of the client', () => {
  const { paths } = readOpenApiDocument() as { paths: Record<string, Record<string, Operation>> };
  type Operation = { parameters?: { in: string; name: string }[]; 'x-served-by'?: string };
  const gets = Object.entries(paths).flatMap(([path, { get: operation }]) =>
    operation === undefined || operation['x-served-by'] === 'engine' ? [] : [{ path, operation }],
  );

  test.each(['%00', 'a%00', '%ff', '%ed%a0%80', '%zz'])('%s in a path', async (segment) => {
    for (const { path } of gets.filter(({ path }) => path.includes('{'))) {
      const response = await get(path.replace(/\{\w+\}/g, segment));
      expect([path, response.status]).toEqual([path, 404]);
    }
  });

  test('in a query', async () => {
    for (const { path, operation } of gets) {
      const names = (operation.parameters ?? [])
        .filter((each) => each.in === 'query')
        .map(({ name }) => name);
      for (const name of [...names, 'token']) {
        const response = await get(`${path.replace(/\{\w+\}/g, 'x')}?${name}=a%00`);
        expect([path, name, response.status < 500 || response.status === 501]).toEqual([path, name, true]);
      }
    }
  });

  test.each(keyedOperations().filter(({ body }) => typeof body === 'object'))(
    'in any text of the body of $name',
    async ({ method, path, body }) => {
      const texts = (value: unknown, at: string[] = []): string[][] =>
        typeof value === 'string'
          ? [at]
          : Object.entries(value ?? {}).flatMap(([name, member]) => texts(member, [...at, name]));
      for (const at of texts(body)) {
        for (const text of ['a\0', 'a\ud800']) {
          const changed = structuredClone(body) as Record<string, unknown>;
          const parent = at.slice(0, -1).reduce((value, name) => value[name] as typeof value, changed);
          parent[at.at(-1) as string] = text;
          const response = await request(plane.url)[method](path).set(plane.credentials).send(changed);
          expect([at, response.status]).toEqual([at, 400]);
        }
      }
    },
  );

  test('in a request of an engine', async () => {
    for (const path of Object.values(INTERNAL_PATHS)) {
      const { status } = await plane.engine.request(path, {
        token: 'a\0',
        videoId: 'a\0',
        transferId: 'a\0',
        sourceKey: 'a\0',
        id: 'a\0',
        clientAddress: null,
        contentLength: null,
        length: 1,
        attempt: 1,
        epoch: 1,
        metadata: '',
        bytes: 1,
        totalBytes: null,
        tries: 0,
        failure: null,
        nextTryInSeconds: null,
        task: 0,
        try: 1,
        retryInSeconds: null,
        startedOver: false,
        sha256: null,
        engineId: 'a\0',
      });
      // A claim of an import has no content.
      expect([path, status]).toEqual([path, path === INTERNAL_PATHS.claimImport ? 200 : 400]);
    }
  });
});

describe('an unknown field is refused', () => {
  const videoId = 'vid_01m7y5g5zqfqetgq1je8rn7s3t';
  const known = (name: string) => `nearest known field: ${name}`;

  test.each([
    // Without this check the video would be public.
    [
      'post',
      '/videos/upload-ticket',
      { filename: 'a.mp4', playbackpolicy: 'signed' },
      known('playbackPolicy'),
    ],
    // The misspelt name is reported, not the missing field.
    ['post', '/videos/upload-ticket', { fileName: 'a.mp4' }, known('filename')],
    ['patch', `/videos/${videoId}`, { titel: 'x' }, known('title')],
    ['post', `/videos/${videoId}/playback-tokens`, { expires_in: 60 }, known('expiresIn')],
    ['post', '/api-keys', { name: 'x', permission: ['videos:read'] }, known('permissions')],
    ['post', '/webhooks', { url: 'https://example.com', event: ['video.ready'] }, known('events')],
    [
      'patch',
      '/webhooks/whk_01m7y5g5zrfqetgq3v7f2k8w0n',
      { active: true },
      'known fields: url, events, description, enabled',
    ],
    ['post', `/videos/${videoId}/retry`, { ladder: ['360p'] }, 'this request has no fields'],
    ['delete', `/videos/${videoId}`, { force: true }, 'this request has no fields'],
  ] as const)('%s %s %j', async (method, path, body, hint) => {
    const response = await request(plane.url)[method](`/v1${path}`).set(plane.credentials).send(body);
    expect([response.status, response.body.code]).toEqual([400, 'unknown_field']);
    const field = `body/${Object.keys(body).at(-1)}`;
    expect(response.body.errors).toEqual([
      { field, code: 'additionalProperties', message: `is unknown (${hint})` },
    ]);
  });

  test('but the body of a GET is ignored, also if the query is invalid', async () => {
    const withBody = (path: string) =>
      request(plane.url).get(`/v1${path}`).set(plane.credentials).send({ titel: 'x' });
    expect((await withBody('/videos')).status).toBe(200);
    expect((await withBody('/videos?limit=0')).body).toMatchObject({
      code: 'validation_failed',
      errors: [{ field: 'query/limit' }],
    });
  });

  test('and nothing is created', async () => {
    const videos = async () => (await get('/videos')).body.data.length;
    const before = await videos();
    await post('/videos/upload-ticket', { filename: 'a.mp4', playbackpolicy: 'signed' });
    expect(await videos()).toBe(before);
  });

  test('but metadata may have any entry, and the query any parameter', async () => {
    const ticket = await post('/videos/upload-ticket?dryRun=1', {
      filename: 'a.mp4',
      metadata: { any: 'x' },
    });
    expect(ticket.status).toBe(201);
  });
});

/**
 * Every pattern of an input; references are followed once. Excludes path parameters, which are 404 when they do not match.
 */
function inputPatterns(value: unknown, followed = new Set<string>()): object[] {
  if (typeof value !== 'object' || value === null || ('in' in value && value.in === 'path')) return [];
  if ('$ref' in value) {
    const reference = String(value.$ref);
    if (followed.has(reference)) return [];
    followed.add(reference);
    const names = reference.replace('#/', '').split('/');
    const target = names.reduce<unknown>(
      (found, name) => (found as Record<string, unknown>)[name],
      readOpenApiDocument(),
    );
    return inputPatterns(target, followed);
  }
  const deeper = Object.entries(value)
    .filter(([name]) => name !== 'responses')
    .flatMap(([, member]) => inputPatterns(member, followed));
  return 'pattern' in value && typeof value.pattern === 'string' ? [value, ...deeper] : deeper;
}

test('every pattern of an input has a message in words', () => {
  const patterns = inputPatterns(readOpenApiDocument().paths);
  expect(patterns.length).toBeGreaterThan(10);
  expect(patterns.filter((schema) => !('x-pattern-message' in schema))).toEqual([]);
});

describe('names of JavaScript prototypes', () => {
  test('are ordinary names in metadata', async () => {
    const metadata = '{"__proto__":"a","constructor":"b","toString":"c","hasOwnProperty":"d"}';
    const ticket = await post('/videos/upload-ticket', `{"filename":"a.mp4","metadata":${metadata}}`);
    expect(ticket.status).toBe(201);
    const patched = await request(plane.url)
      .patch(`/v1/videos/${ticket.body.videoId}`)
      .set(plane.credentials)
      .type('json')
      .send('{"metadata":{"__proto__":"e","valueOf":"f","toString":null}}');
    expect(patched.status).toBe(200);
    expect(JSON.stringify(patched.body.metadata)).toBe(
      JSON.stringify(JSON.parse('{"valueOf":"f","__proto__":"e","constructor":"b","hasOwnProperty":"d"}')),
    );
  });

  test('set no field', async () => {
    const missing = await post('/videos/upload-ticket', '{"__proto__":{"filename":"a.mp4"}}');
    expect([missing.status, missing.body.errors[0].field]).toEqual([400, 'body/__proto__']);
    const polluting =
      '{"filename":"a.mp4","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    expect((await post('/videos/upload-ticket', polluting)).body.code).toBe('unknown_field');
    expect((await get('/videos?__proto__[polluted]=1&constructor=x&hasOwnProperty=y')).status).toBe(200);
    expect('polluted' in {}).toBe(false);
  });
});
