import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { handledRequests, requestHead, sendUntilClosed } from '@framelane/test-kit/pipelining-client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ONLY_RECEIVES, startTestEngine, type TestEngine } from './support/test-engine.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine({ env: ONLY_RECEIVES });
});
afterAll(() => engine.stop());

/** All operations of the engine without a token, and what is not in the contract. */
function publicRequests(): string[] {
  const { paths } = readOpenApiDocument() as {
    paths: Record<string, Record<string, { 'x-served-by'?: string }>>;
  };
  const operations = Object.entries(paths).flatMap(([path, item]) => {
    const methods = Object.keys(item).filter((method) => item[method]?.['x-served-by'] === 'engine');
    // And the preflight.
    const all = methods.length > 0 ? [...methods, 'options'] : [];
    return all.map((method) => requestHead(method.toUpperCase(), path.replace(/\{\w+\}/, 'xfr_1')));
  });
  return [...operations, ...['/healthz', '/readyz', '/nowhere'].map((path) => requestHead('GET', path))];
}

test('every route handles only a few of the requests that a connection sends at once, then closes it', async () => {
  const requests = publicRequests();
  expect(requests.length).toBeGreaterThanOrEqual(9);
  const before = await handledRequests(engine.internalUrl);
  for (const request of requests) await sendUntilClosed(engine.url, request, 40);
  await sendUntilClosed(engine.internalUrl, requestHead('GET', '/metrics'), 40);
  await sendUntilClosed(engine.internalUrl, requestHead('GET', '/nowhere'), 40);
  // The first request of each connection; the others wait for its response.
  expect((await handledRequests(engine.internalUrl)) - before).toBeLessThanOrEqual(requests.length);
});
