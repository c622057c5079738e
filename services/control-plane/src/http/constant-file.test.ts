import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express, { type ErrorRequestHandler } from 'express';
import { constantFile } from './constant-file.ts';

const CONTENT = `body { color: red }\n`.repeat(1_000);

const app = express();
app.disable('etag');
const server = createServer(app);
let folder: string;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-constant-file-'));
  await writeFile(join(folder, 'a.css'), CONTENT);
  for (const name of ['a.css', 'late.js']) app.get(`/${name}`, constantFile(join(folder, name)));
  app.use(((_error, _req, res, _next) => void res.status(500).end()) satisfies ErrorRequestHandler);
  url = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' })}`;
});
afterAll(async () => {
  await closeServer(server, 0);
  await rm(folder, { recursive: true });
});

/** The response to a request with these headers. fetch decompresses the body. */
const get = (name: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/${name}`, { headers: { 'Cache-Control': 'max-age=0', ...headers } });

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['identity', null],
  ['identity;q=0', null],
])('for "Accept-Encoding: %s" the encoding is %s', async (accepted, encoding) => {
  const response = await get('a.css', { 'Accept-Encoding': accepted });
  const { headers } = response;
  expect([response.status, headers.get('content-encoding'), headers.get('vary')]).toEqual([
    ...[200, encoding, 'Accept-Encoding'],
  ]);
  expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([
    'text/css; charset=utf-8',
    'public, max-age=31536000, immutable',
  ]);
  expect(Number(headers.get('content-length'))).toBeLessThanOrEqual(
    encoding === null ? CONTENT.length : CONTENT.length / 10,
  );
  expect(await response.text()).toBe(CONTENT);
});

test('the file is read once', async () => {
  const [first, second] = await Promise.all([get('a.css'), get('a.css')]);
  await rm(join(folder, 'a.css'));
  const third = await get('a.css');
  expect(await Promise.all([first.text(), second.text(), third.text()])).toEqual(Array(3).fill(CONTENT));
  const known = await get('a.css', { 'If-None-Match': String(third.headers.get('etag')) });
  expect(known.status).toBe(304);
});

test('after a failure, the next request reads it again', async () => {
  expect((await get('late.js')).status).toBe(500);
  await writeFile(join(folder, 'late.js'), '1');
  expect(await (await get('late.js')).text()).toBe('1');
});
