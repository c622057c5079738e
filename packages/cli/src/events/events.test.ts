import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  ApiError,
  ConnectionError,
  type FramelaneClient,
  type Problem,
  verifyWebhook,
} from '@framelane/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventText } from './event-text.ts';
import { type Event, followEvents } from './follow-events.ts';
import { forwardEvent } from './forward-event.ts';
import { listenSecret } from './listen-secret.ts';
import { sinceTime } from './since-time.ts';

const event = (id: string, title = 'A') =>
  ({
    id,
    type: 'video.deleted',
    timestamp: '2026-11-21T11:30:00.512Z',
    workspaceId: 'ws_1',
    data: { id: 'vid_1', title },
  }) as Event;

describe('following events', () => {
  /** A client whose list responds with these pages or errors, and the queries that it gets. */
  function clientWith(...responses: ({ data: Event[]; nextCursor: string; hasMore: boolean } | Error)[]) {
    const queries: object[] = [];
    const list = async (query: object) => {
      queries.push(query);
      const response = responses.shift();
      if (response === undefined) throw new Error('No further request was expected.');
      if (response instanceof Error) throw response;
      return response;
    };
    return { queries, client: { events: { list } } as unknown as FramelaneClient };
  }

  test('sends the cursor of each page, and is ready after the first one', async () => {
    const { queries, client } = clientWith(
      { data: [], nextCursor: 'a', hasMore: true },
      { data: [event('evt_1'), event('evt_2')], nextCursor: 'b', hasMore: true },
      { data: [event('evt_3')], nextCursor: 'c', hasMore: false },
    );
    const seen: string[] = [];
    let ready = 0;
    const { signal } = new AbortController();
    for await (const { id } of followEvents(client, {
      start: { from: 'now' },
      signal,
      onReady: () => (ready += 1),
    })) {
      seen.push(id);
      if (id === 'evt_3') break;
    }
    expect(seen).toEqual(['evt_1', 'evt_2', 'evt_3']);
    expect(ready).toBe(1);
    expect(queries).toEqual([
      { from: 'now', limit: 100 },
      { cursor: 'a', limit: 100 },
      { cursor: 'b', limit: 100 },
    ]);
  });

  const problem = (status: number) => new ApiError('Later.', { code: 'any', status, problem: {} as Problem });

  test.each([
    ['a lost connection', new ConnectionError('http://localhost:1')],
    ['a status of 500', problem(500)],
    ['a status of 429', problem(429)],
  ])('reports %s and goes on, until the signal aborts', async (_what, error) => {
    const { client } = clientWith(error);
    const controller = new AbortController();
    const troubles: unknown[] = [];
    const onTrouble = (trouble: unknown) => {
      troubles.push(trouble);
      controller.abort();
    };
    const follow = { start: { from: 'now' as const }, signal: controller.signal, onTrouble };
    expect(await Array.fromAsync(followEvents(client, follow))).toEqual([]);
    expect(troubles).toEqual([error]);
  });

  test('ends with an error that the same request would get again', async () => {
    const refused = new ApiError('No.', { code: 'revoked_api_key', status: 401, problem: {} as Problem });
    const { client } = clientWith(refused);
    const { signal } = new AbortController();
    await expect(Array.fromAsync(followEvents(client, { start: { since: 'x' }, signal }))).rejects.toBe(
      refused,
    );
  });
});

describe('forwarding', () => {
  const secret = listenSecret('svc_live_secret');
  let status = 204;
  let received: { verified?: string; type?: string | undefined } = {};
  const server = createServer(async (req, res) => {
    received = {
      verified: verifyWebhook(await text(req), req.headers, secret).id,
      type: req.headers['content-type'],
    };
    res.writeHead(status, { Location: '/elsewhere' }).end('body');
  });
  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void server.close());
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const { signal } = new AbortController();

  test.each([204, 302, 500])('sends a signed request, and reports the status %p', async (each) => {
    status = each;
    expect(await forwardEvent(event('evt_1', 'Grüße'), { url: url(), secret, signal })).toEqual({
      status: each,
      ms: expect.any(Number),
    });
    expect(received).toEqual({ verified: 'evt_1', type: 'application/json' });
  });

  test('reports an endpoint that does not run', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => void closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const forwarded = await forwardEvent(event('evt_1'), {
      url: `http://127.0.0.1:${port}/`,
      secret,
      signal,
    });
    expect(forwarded).toEqual({ problem: 'nothing answers there', ms: expect.any(Number) });
  });

  test('the secret is the same for a key, another for another key, and does not contain it', () => {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(listenSecret('svc_live_secret')).toBe(secret);
    expect(listenSecret('svc_live_other')).not.toBe(secret);
  });
});

test('an event is one line, with a title that is safe to print', () => {
  expect(eventText(event('evt_1', 'A\nB'))).toBe(
    '2026-11-21T11:30:00.512Z  video.deleted          evt_1  vid_1  A\\u000aB',
  );
});

const NOW = Date.parse('2026-11-21T12:00:00Z');

test.each([
  ['15m', '2026-11-21T11:45:00.000Z'],
  ['2h', '2026-11-21T10:00:00.000Z'],
  ['1d', '2026-11-20T12:00:00.000Z'],
  ['30s', '2026-11-21T11:59:30.000Z'],
  ['2026-11-01', '2026-11-01T00:00:00.000Z'],
])('%s is %s', (text_, time) => {
  expect(sinceTime(text_, NOW)).toBe(time);
});

test.each(['yesterday', '5x', 'x5m', '5mx', ''])('%p is no time', (text_) => {
  expect(() => sinceTime(text_, NOW)).toThrow('Use a time such as');
});
