import { unwrap } from '@framelane/client';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { WORKSPACE_ID } from '../src/api.ts';
import { Cluster } from '../src/cluster.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';
import { type Misbehaviour, WebhookEndpoint } from '../src/webhook-endpoint.ts';

const LOOPS = Number(process.env.LOOPS ?? 1);

jest.setTimeout(LOOPS * 180_000);

const EVENTS = LOOPS * 12;
/** The webhook timeout. A delivery that waits for another endpoint takes longer. */
const TIMEOUT_SECONDS = 12;

/** Clients that use the revoked key, and the responses that each gets before and after the revocation. */
const CLIENTS = 8;
const RESPONSES = 10;

const MISBEHAVIOURS: Record<string, Misbehaviour> = {
  fails: (response) => response.writeHead(500).end(),
  'never responds': () => {},
  'never responds, too': () => {},
  'never completes its response headers': (response) =>
    void response.socket?.write('HTTP/1.1 200 OK\r\nX-Slow: '),
  'responds with an endless body': (response) => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    response.writeHead(500);
    const fill = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', fill);
    fill();
  },
  'closes the connection': (response) => void response.socket?.destroy(),
  redirects: (response) => response.writeHead(307, { location: `${cluster.endpoint.url}/redirected` }).end(),
  'asks for a later attempt': (response) => response.writeHead(429, { 'retry-after': '2' }).end(),
};

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({
    engines: 1,
    env: { RATE_LIMIT_FAILURES_PER_MINUTE: '0' },
    timing: { webhookTimeout: TIMEOUT_SECONDS },
  });
});
afterEach(async () => {
  expect(await violationsAtRest(cluster)).toEqual([]);
});
afterAll(async () => {
  await cluster?.stop();
});

/** Causes an event: deletes a video, which is the cheapest. */
async function makeEvent(): Promise<string> {
  const { videoId } = await cluster.api.ticket();
  await cluster.api.delete(videoId);
  return videoId;
}

test('misbehaving endpoints delay no other, and get every event once they recover', async () => {
  const bad = await Promise.all(
    Object.entries(MISBEHAVIOURS).map(async ([name, misbehaviour]) => {
      const endpoint = await WebhookEndpoint.start(misbehaviour);
      return { name, endpoint, id: await cluster.api.subscribe(endpoint.url) };
    }),
  );
  const gone = await WebhookEndpoint.start((response) => response.writeHead(410).end());
  const goneId = await cluster.api.subscribe(gone.url);
  try {
    const videos: string[] = [];
    let slowest = 0;
    for (let count = 0; count < EVENTS; count += 1) {
      const videoId = await makeEvent();
      const happened = performance.now();
      videos.push(videoId);
      await until(() => [...cluster.endpoint.events.values()].some((event) => event.videoId === videoId));
      slowest = Math.max(slowest, performance.now() - happened);
    }
    process.stdout.write(
      `The slowest of ${EVENTS} events took ${Math.round(slowest)} ms beside ${bad.length} misbehaving endpoints.\n`,
    );
    expect(slowest).toBeLessThan((TIMEOUT_SECONDS * 1000) / 2);

    await until(() => bad.every(({ endpoint }) => endpoint.requests.length > 0));
    for (const { endpoint } of bad) endpoint.recover();
    for (const { name, endpoint, id } of bad) {
      const got = () => new Set([...endpoint.events.values()].map((event) => event.videoId));
      await until(() => videos.every((videoId) => got().has(videoId)), {
        what: `all events at the endpoint that ${name}`,
        seconds: 120,
        details: () => `It has ${got().size} of ${videos.length}.`,
      });
      expect(endpoint.events.size).toBe(videos.length);
      const path = { id };
      await until(async () => {
        const webhook = await unwrap(cluster.api.client.GET('/webhooks/{id}', { params: { path } }));
        return webhook.deliveryStatus === 'healthy';
      });
    }
    expect(cluster.endpoint.requests.filter((path) => path.includes('redirected'))).toEqual([]);
    const path = { id: goneId };
    const webhook = await unwrap(cluster.api.client.GET('/webhooks/{id}', { params: { path } }));
    expect(webhook).toMatchObject({ enabled: false, disabledReason: 'gone' });
    const requests = gone.requests.length;
    await makeEvent();
    expect(await violationsAtRest(cluster)).toEqual([]);
    expect(gone.requests.length).toBe(requests);
  } finally {
    const stopped = bad.map(async ({ endpoint, id }) => {
      await unwrap(cluster.api.client.DELETE('/webhooks/{id}', { params: { path: { id } } }));
      await endpoint.stop();
    });
    await Promise.all([...stopped, gone.stop()]);
  }
});

test('a key revoked under load is refused by every control plane', async () => {
  for (let round = 0; round < LOOPS * 2; round += 1) {
    const { id, secret } = await unwrap(
      cluster.api.client.POST('/api-keys', { body: { name: 'To be revoked' } }),
    );
    if (secret === undefined) throw new Error('The response has no secret');
    cluster.api.secrets.push(secret);
    const headers = { authorization: `Bearer ${secret}`, 'x-svc-workspace': WORKSPACE_ID };
    const stop = new AbortController();
    const clients = Array.from({ length: CLIENTS }, (_, index) => {
      const calls: { sentAt: number; status: number }[] = [];
      const { url } = cluster.controlPlanes[index % 2] as Cluster['controlPlanes'][number];
      const sendRequests = async () => {
        while (!stop.signal.aborted) {
          const sentAt = performance.now();
          const response = await fetch(`${url}/v1/videos?limit=1`, { headers });
          await response.arrayBuffer();
          calls.push({ sentAt, status: response.status });
        }
      };
      return { calls, done: sendRequests() };
    });
    await until(() => clients.every(({ calls }) => calls.length >= RESPONSES));
    await unwrap(cluster.api.client.DELETE('/api-keys/{id}', { params: { path: { id } } }));
    const revokedAt = performance.now();
    const after = () => clients.map(({ calls }) => calls.filter(({ sentAt }) => sentAt > revokedAt));
    await until(() => after().every((calls) => calls.length >= RESPONSES));
    stop.abort();
    await Promise.all(clients.map(({ done }) => done));
    expect(clients.every(({ calls }) => calls[0]?.status === 200)).toBe(true);
    expect(new Set(after().flatMap((calls) => calls.map(({ status }) => status)))).toEqual(new Set([401]));
  }
});
