import { existsSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeService, type ServiceRoute } from '@framelane/test-kit/fake-service';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { download } from './download.ts';

const CONTENT = Buffer.from('0123456789'.repeat(100));

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-download-'));
  path = join(folder, 'file.mp4');
});
afterEach(() => rm(folder, { recursive: true }));

function fetchFrom({ url }: FakeService, trustedHosts: 'all' | ReadonlySet<string> = 'all'): Promise<number> {
  return download(`${url}/file`, path, {
    trustedHosts,
    signal: AbortSignal.timeout(60_000),
    pause: async () => {},
  });
}

/** Supports ranges, and breaks the connection after some bytes of the first response. */
function breaking({ etag, content = CONTENT }: { etag: string; content?: Buffer }): ServiceRoute {
  let requests = 0;
  return ({ headers }, response) => {
    requests += 1;
    const start = headers['if-range'] === etag ? Number(/\d+/.exec(headers.range ?? '')?.[0] ?? 0) : 0;
    const rest = content.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      ETag: etag,
      'Content-Length': rest.length,
      ...(start > 0 && { 'Content-Range': `bytes ${start}-${content.length - 1}/${content.length}` }),
    });
    if (requests > 1) response.end(rest);
    else
      response.write(rest.subarray(0, 400), async () => {
        await until(() => existsSync(`${path}.part`) && statSync(`${path}.part`).size === 400);
        response.destroy();
      });
    return undefined;
  };
}

test('a download continues after a broken connection', async () => {
  await using service = await FakeService.start({ 'GET /file': breaking({ etag: '"1"' }) });
  expect(await fetchFrom(service)).toBe(CONTENT.length);
  expect(await readFile(path)).toEqual(CONTENT);
  expect(service.requests.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=400-']);
  expect(existsSync(`${path}.part`) || existsSync(`${path}.part.etag`)).toBe(false);
});

test('a later call continues what an earlier process has left, if the file is the same', async () => {
  await writeFile(`${path}.part`, CONTENT.subarray(0, 300));
  await writeFile(`${path}.part.etag`, '"1"');
  await using service = await FakeService.start({ 'GET /file': { headers: { ETag: '"2"' }, body: CONTENT } });
  await fetchFrom(service);
  expect(service.requests[0]?.headers).toMatchObject({ range: 'bytes=300-', 'if-range': '"1"' });
  // The server has sent another file as a whole.
  expect(await readFile(path)).toEqual(CONTENT);
});

test('a weak ETag does not allow to continue', async () => {
  await using service = await FakeService.start({ 'GET /file': breaking({ etag: 'W/"1"' }) });
  await fetchFrom(service);
  expect(await readFile(path)).toEqual(CONTENT);
  expect(service.requests.map(({ headers }) => headers.range)).toEqual([undefined, undefined]);
});

test('a file that was complete already is kept', async () => {
  await writeFile(`${path}.part`, CONTENT);
  await writeFile(`${path}.part.etag`, '"1"');
  await using service = await FakeService.start({
    'GET /file': { status: 416, headers: { 'Content-Range': `bytes */${CONTENT.length}` } },
  });
  expect(await fetchFrom(service)).toBe(CONTENT.length);
});

test.each<[string, ServiceRoute, RegExp]>([
  ['a web page', { headers: { 'Content-Type': 'text/html' }, body: '<p>Sign in' }, /sends a web page/],
  ['encoded', { headers: { 'Content-Encoding': 'gzip' }, body: 'x' }, /encoded as gzip/],
  ['denied', { status: 403 }, /The URL may have expired/],
  ['missing', { status: 404 }, /has not found it/],
  [
    'shorter than declared, again and again',
    (_, response) => {
      response.writeHead(200, { 'Content-Length': 10 });
      response.write('12345', () => response.destroy());
      return undefined;
    },
    /sends no complete response/,
  ],
])('a file that is %s', async (_, route, message) => {
  await using service = await FakeService.start({ 'GET /file': route });
  await expect(fetchFrom(service)).rejects.toThrow(message);
  expect(existsSync(path)).toBe(false);
});

test('a redirect from a service into a private network is refused', async () => {
  await using service = await FakeService.start({
    'GET /file': { status: 302, headers: { Location: 'http://localhost:1/' } },
  });
  const trusted = new Set(['127.0.0.1']);
  await expect(fetchFrom(service, trusted)).rejects.toThrow('localhost, which is in a private network');
});
