import { afterAll, beforeAll, expect, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

let plane: TestControlPlane;
/** Paths of the files that the page loads. */
let files: string[];
beforeAll(async () => {
  plane = await startControlPlane();
  const { text } = await request(plane.url).get('/v1/docs');
  files = [...text.matchAll(/(?:src|href)="(\/v1\/docs\/[^"]+)"/g)].map(([, path = '']) => path);
});
afterAll(() => plane.stop());

test('the reference page needs no key, and its policy allows no other origin', async () => {
  const response = await request(plane.url).get('/v1/docs');
  expect([response.status, response.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = String(response.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(response.text).not.toMatch(/https?:/);
});

test('browsers revalidate the page, and get 304 if it has not changed', async () => {
  const { headers } = await request(plane.url).get('/v1/docs');
  expect(headers['cache-control']).toBe('no-cache');
  const again = await request(plane.url).get('/v1/docs').set('If-None-Match', String(headers.etag));
  expect(again.status).toBe(304);
});

test('the files of the page are compressed and can be cached forever', async () => {
  expect(files.map((path) => path.split('/').at(-1))).toEqual([
    'swagger-ui.css',
    'page.css',
    'swagger-ui-bundle.js',
    'page.js',
  ]);
  for (const path of files) {
    const { status, headers } = await request(plane.url).get(path);
    expect([path, status, headers['cache-control'], headers['content-encoding']]).toEqual([
      path,
      200,
      'public, max-age=31536000, immutable',
      'gzip',
    ]);
  }
});

test.each([
  ['another file of the library', 'index.html'],
  ['a path outside of the directory', '..%2F..%2Fpackage.json'],
])('other files do not exist: %s', async (_what, name) => {
  const [first = ''] = files;
  const response = await request(plane.url).get(first.replace(/[^/]+$/, name));
  expect([response.status, response.body.code]).toEqual([404, 'route_not_found']);
});
