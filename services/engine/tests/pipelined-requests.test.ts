import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { requestHead, sendUntilClosed } from '@framelane/test-kit/pipelining-client';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
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

/** The requests that the public application has handled so far. */
async function handled(): Promise<number> {
  const { series } = await PrometheusText.scrape(`${engine.internalUrl}/metrics`);
  const counts = [...series].filter(([name]) => name.startsWith('framelane_http_requests_total{'));
  return counts.reduce((sum, [, count]) => sum + count, 0);
}

test('every route handles only a few of the requests that a connection sends at once, then closes it', async () => {
  const requests = publicRequests();
  expect(requests.length).toBeGreaterThanOrEqual(9);
  const before = await handled();
  for (const request of requests) await sendUntilClosed(engine.url, request, 40);
  await sendUntilClosed(engine.internalUrl, requestHead('GET', '/metrics'), 40);
  await sendUntilClosed(engine.internalUrl, requestHead('GET', '/nowhere'), 40);
  // The first request of each connection; the others wait for its response.
  expect((await handled()) - before).toBeLessThanOrEqual(requests.length);
});
