import { createServer } from 'node:http';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { sendStored } from './send-stored.ts';
import type { StoredFile } from './stored-file.ts';

const CONTENT = Buffer.from('0123456789');
const FILE: StoredFile = {
  bytes: CONTENT.byteLength,
  etag: '"1"',
  async *read({ start, end }) {
    yield CONTENT.subarray(start, end + 1);
  },
  presign: undefined,
};

const app = express();
app.get('/file', (req, res) =>
  sendStored(req, res, FILE, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' }, 'no-store'),
);
const server = createServer(app);
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' })}/file`;
});
afterAll(() => closeServer(server, 0));

test.each([
  ['that the file has', 'bytes=2-4', 206],
  ['beyond the end', 'bytes=10-', 416],
])('HEAD ignores a range %s, which GET respects', async (_, range, status) => {
  const headers = { range };
  const whole = await fetch(url, { method: 'HEAD', headers });
  expect([whole.status, whole.headers.get('content-length'), whole.headers.get('content-range')]).toEqual([
    200,
    '10',
    null,
  ]);
  expect((await fetch(url, { headers })).status).toBe(status);
});

test.each(['bytes=5-2', 'bytes=x', 'items=0-1'])('an invalid range is ignored: %s', async (range) => {
  const whole = await fetch(url, { headers: { range } });
  expect([whole.status, await whole.text()]).toEqual([200, CONTENT.toString()]);
});
