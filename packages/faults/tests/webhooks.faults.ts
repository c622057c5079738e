import { unwrap } from '@framelane/client';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { WORKSPACE_ID } from '../src/api.ts';
import { Cluster } from '../src/cluster.ts';
import { type Misbehaviour, WebhookReceiver } from '../src/webhook-receiver.ts';
import { whatIsWrong } from '../src/what-is-wrong.ts';

const LOOPS = Number(process.env.LOOPS ?? 1);

jest.setTimeout(LOOPS * 180_000);

const EVENTS = LOOPS * 12;
/** The webhook timeout. A delivery that waits for another endpoint takes longer. */
const TIMEOUT_SECONDS = 12;

/** Clients that use the revoked key, and responses for each of them before and after. */
const CLIENTS = 8;
const ANSWERS = 10;

const MISBEHAVIOURS: Record<string, Misbehaviour> = {
  fails: (answer) => answer.writeHead(500).end(),
  'never answers': () => {},
  'never answers either': () => {},
  'never finishes its head': (answer) => void answer.socket?.write('HTTP/1.1 200 OK\r\nX-Slow: '),
  'answers without end': (answer) => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    answer.writeHead(500);
    const fill = () => {
      while (!answer.destroyed && answer.write(piece));
    };
    answer.on('drain', fill);
    fill();
  },
  'hangs up': (answer) => void answer.socket?.destroy(),
  'sends on': (answer) => answer.writeHead(307, { location: `${cluster.receiver.url}/sent-on` }).end(),
  'wants to be left alone': (answer) => answer.writeHead(429, { 'retry-after': '2' }).end(),
};

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({
    engines: 1,
    env: { WEBHOOK_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS), RATE_LIMIT_FAILURES_PER_MINUTE: '0' },
  });
});
afterEach(async () => {
  expect(await whatIsWrong(cluster)).toEqual([]);
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
      const receiver = await WebhookReceiver.start(misbehaviour);
      return { name, receiver, id: await cluster.api.subscribe(receiver.url) };
    }),
  );
  const gone = await WebhookReceiver.start((answer) => answer.writeHead(410).end());
  const goneId = await cluster.api.subscribe(gone.url);
  try {
    const videos: string[] = [];
    let slowest = 0;
    for (let count = 0; count < EVENTS; count += 1) {
      const videoId = await makeEvent();
      const happened = performance.now();
      videos.push(videoId);
      await until(() => [...cluster.receiver.events.values()].some((event) => event.videoId === videoId));
      slowest = Math.max(slowest, performance.now() - happened);
    }
    process.stdout.write(
      `The slowest of ${EVENTS} events took ${Math.round(slowest)} ms beside ${bad.length} bad receivers.\n`,
    );
    expect(slowest).toBeLessThan((TIMEOUT_SECONDS * 1000) / 2);

    await until(() => bad.every(({ receiver }) => receiver.requests.length > 0));
    for (const { receiver } of bad) receiver.recover();
    for (const { name, receiver, id } of bad) {
      const got = () => new Set([...receiver.events.values()].map((event) => event.videoId));
      await until(() => videos.every((videoId) => got().has(videoId)), {
        what: `all events at the receiver that ${name}`,
        seconds: 120,
        details: () => `It has ${got().size} of ${videos.length}.`,
      });
      expect(receiver.events.size).toBe(videos.length);
      const path = { id };
      await until(async () => {
        const webhook = await unwrap(cluster.api.client.GET('/webhooks/{id}', { params: { path } }));
        return webhook.deliveryStatus === 'healthy';
      });
    }
    expect(cluster.receiver.requests.filter((path) => path.includes('sent-on'))).toEqual([]);
    const path = { id: goneId };
    const webhook = await unwrap(cluster.api.client.GET('/webhooks/{id}', { params: { path } }));
    expect(webhook).toMatchObject({ enabled: false, disabledReason: 'gone' });
    const requests = gone.requests.length;
    await makeEvent();
    expect(await whatIsWrong(cluster)).toEqual([]);
    expect(gone.requests.length).toBe(requests);
  } finally {
    const stopped = bad.map(async ({ receiver, id }) => {
      await unwrap(cluster.api.client.DELETE('/webhooks/{id}', { params: { path: { id } } }));
      await receiver.stop();
    });
    await Promise.all([...stopped, gone.stop()]);
  }
});

test('a key revoked under load is refused by every control plane', async () => {
  for (let round = 0; round < LOOPS * 2; round += 1) {
    const { id, secret } = await unwrap(
      cluster.api.client.POST('/api-keys', { body: { name: 'To be revoked' } }),
    );
    if (secret === undefined) throw new Error('The answer has no secret');
    cluster.api.secrets.push(secret);
    const headers = { authorization: `Bearer ${secret}`, 'x-svc-workspace': WORKSPACE_ID };
    const stop = new AbortController();
    const clients = Array.from({ length: CLIENTS }, (_, index) => {
      const calls: { sentAt: number; status: number }[] = [];
      const { url } = cluster.controlPlanes[index % 2] as Cluster['controlPlanes'][number];
      const ask = async () => {
        while (!stop.signal.aborted) {
          const sentAt = performance.now();
          const answer = await fetch(`${url}/v1/videos?limit=1`, { headers });
          await answer.arrayBuffer();
          calls.push({ sentAt, status: answer.status });
        }
      };
      return { calls, asking: ask() };
    });
    await until(() => clients.every(({ calls }) => calls.length >= ANSWERS));
    await unwrap(cluster.api.client.DELETE('/api-keys/{id}', { params: { path: { id } } }));
    const revokedAt = performance.now();
    const after = () => clients.map(({ calls }) => calls.filter(({ sentAt }) => sentAt > revokedAt));
    await until(() => after().every((calls) => calls.length >= ANSWERS));
    stop.abort();
    await Promise.all(clients.map(({ asking }) => asking));
    expect(clients.every(({ calls }) => calls[0]?.status === 200)).toBe(true);
    expect(new Set(after().flatMap((calls) => calls.map(({ status }) => status)))).toEqual(new Set([401]));
  }
});
