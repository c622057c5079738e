import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { collectGarbage } from '@framelane/test-kit/collect-garbage';
import {
  handledRequests,
  requestHead,
  sendUnread,
  sendUntilClosed,
} from '@framelane/test-kit/pipelining-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { withUnknownIds } from './support/documented-responses.ts';

let plane: TestControlPlane;
let files: string[];
beforeAll(async () => {
  plane = await startControlPlane();
  const page = await (await fetch(`${plane.url}/v1/docs`)).text();
  files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
});
afterAll(() => plane.stop());

/** All operations of the contract, which respond with 401 if they need credentials, and what is not in the contract. */
function publicRequests(): string[] {
  const { paths } = readOpenApiDocument() as {
    paths: Record<string, Record<string, { 'x-served-by'?: string }>>;
  };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    ['get', 'post', 'put', 'patch', 'delete']
      .filter((method) => item[method] !== undefined && item[method]['x-served-by'] !== 'engine')
      .map((method) => requestHead(method.toUpperCase(), `/v1${withUnknownIds(path)}`)),
  );
  const others = [
    '/healthz',
    '/readyz',
    '/nowhere',
    '/console',
    '/console/files/a.js',
    '/v1/embed/files/a.js',
  ];
  return [...operations, ...[...others, ...files].map((path) => requestHead('GET', path))];
}

test('every route handles only a few of the requests that a connection sends at once, then closes it', async () => {
  const requests = publicRequests();
  expect(requests.length).toBeGreaterThan(60);
  const before = await handledRequests(plane.engine.internalUrl);
  for (const request of requests) await sendUntilClosed(plane.url, request, 40);
  await sendUntilClosed(plane.engine.internalUrl, requestHead('GET', '/metrics'), 40);
  await sendUntilClosed(plane.engine.internalUrl, requestHead('POST', '/internal/v1/tasks/claim'), 40);
  // The first request of each connection; the others wait for its response.
  expect((await handledRequests(plane.engine.internalUrl)) - before).toBeLessThanOrEqual(requests.length + 1);
});

test('clients that read nothing hold no copies of the API description, and delay nobody', async () => {
  const request = requestHead('GET', '/v1/openapi.json');
  collectGarbage();
  const { arrayBuffers } = process.memoryUsage();
  const sockets = await Promise.all(
    // Four connections stay open, four have sent too much.
    [16, 16, 16, 16, 900, 900, 900, 900].map((times) => sendUnread(plane.url, request.repeat(times))),
  );
  const startedAt = performance.now();
  expect((await fetch(`${plane.url}/healthz`)).status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  await until(
    () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers - arrayBuffers < 16 * 2 ** 20;
    },
    { seconds: 20 },
  );
  for (const socket of sockets) socket.destroy();
});
