import { TcpProxy } from '@framelane/test-kit/tcp-proxy';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

let link: TcpProxy;
let plane: TestControlPlane;
beforeAll(async () => {
  link = await TcpProxy.startFor(process.env.TEST_DATABASE_URL ?? '');
  plane = await startControlPlane((config) => ({
    ...config,
    databaseUrl: link.through(config.databaseUrl),
  }));
});
afterAll(async () => {
  await plane.stop();
  await link.stop();
});

/** The status and the seconds of a response. */
async function get(path: string): Promise<{ status: number; seconds: number }> {
  const startedAt = performance.now();
  const { status } = await fetch(plane.url + path, { headers: plane.credentials });
  return { status, seconds: (performance.now() - startedAt) / 1000 };
}

test('while the database does not respond, requests fail soon, and they succeed when it responds again', async () => {
  expect((await get('/v1/videos')).status).toBe(200);

  link.silence();
  const [list, ready, healthy] = await Promise.all(['/v1/videos', '/readyz', '/healthz'].map(get));
  expect([list?.status, ready?.status, healthy?.status]).toEqual([503, 503, 200]);
  expect(list?.seconds).toBeLessThan(25);
  expect(ready?.seconds).toBeLessThan(15);

  link.resume();
  await until(async () => (await get('/readyz')).status === 200);
  expect((await get('/v1/videos')).status).toBe(200);
});
