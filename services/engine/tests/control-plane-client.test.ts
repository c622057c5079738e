import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { PLAN_VERSION, type TranscodePlan } from '@framelane/contracts/transcode-plan';
import { withEnvironmentProxy } from '@framelane/test-kit/environment-proxy';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ControlPlaneClient } from '../src/control-plane-client.ts';

/** A plan that no schema checks. */
const PLAN = { version: PLAN_VERSION, tasks: [] } as unknown as TranscodePlan;

/** The next response of the control plane, and the last request that it received. */
let response: { status: number; body: string };
/** The header Location of the next response. */
let location: string | undefined;
let asked: { path: string | undefined; authorization: string | undefined; body: unknown };
let server: Server;
let client: ControlPlaneClient;

beforeAll(async () => {
  server = createServer(async (req, res) => {
    asked = { path: req.url, authorization: req.headers.authorization, body: await json(req) };
    if (location !== undefined) res.setHeader('Location', location);
    res.writeHead(response.status).end(response.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  client = new ControlPlaneClient({ baseUrl: `http://127.0.0.1:${port}`, secret: 'the secret' });
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

function respondWith(status: number, body: unknown): void {
  response = { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

const redeem = () => client.redeemTicket({ token: 'ut_x', contentLength: null, clientAddress: null });
const TRY = { videoId: 'vid_x', attempt: 2, task: 0, try: 1 };
const claim = () =>
  client.claimTask({ videoId: 'vid_x', command: 'plan', planVersion: PLAN_VERSION, claimId: 'c' });

describe('the control plane client', () => {
  test('sends the service secret and parses the response', async () => {
    respondWith(200, { current: true });
    expect(await client.isTaskCurrent(TRY)).toBe(true);
    expect(asked).toEqual({
      path: INTERNAL_PATHS.checkTask,
      authorization: 'Bearer the secret',
      body: TRY,
    });
  });

  test('uses no proxy of the environment, which would get the secret', async () => {
    respondWith(200, { current: true });
    let isCurrent = false;
    const proxied = await withEnvironmentProxy(async () => {
      isCurrent = await client.isTaskCurrent(TRY);
    });
    expect([isCurrent, proxied]).toEqual([true, []]);
  });

  test('follows no redirect', async () => {
    const asks = { count: 0 };
    server.on('request', () => (asks.count += 1));
    location = '/elsewhere';
    respondWith(307, '');
    await expect(claim()).rejects.toMatchObject({ status: 503, code: 'unavailable' });
    location = undefined;
    expect(asks.count).toBe(1);
  });

  test('accepts an empty response to a request without a result', async () => {
    respondWith(204, '');
    await client.releaseTransfer({ videoId: 'vid_x', transferId: 'xfr_x' });
    expect(asked.path).toBe(INTERNAL_PATHS.releaseTransfer);
  });

  test('passes on a problem of a ticket with its extra members, but without the id of the inner request', async () => {
    const members = { type: 'x', title: 'x', instance: '/internal', requestId: 'req_inner' };
    respondWith(413, { ...members, status: 413, code: 'file_too_large', detail: 'Too large.', maxBytes: 7 });
    await expect(redeem()).rejects.toMatchObject({
      status: 413,
      code: 'file_too_large',
      message: 'Too large.',
      options: { extra: { maxBytes: 7 } },
    });
    const refusal = await redeem().catch((error) =>
      error.toBody({ id: 'req_outer', path: '/upload' }, 'https://video.example.com'),
    );
    expect(refusal).toMatchObject({ requestId: 'req_outer', instance: '/upload' });
  });

  test('returns null when there is no task to claim', async () => {
    respondWith(409, { status: 409, code: 'task_not_claimable', detail: 'Running elsewhere.' });
    expect(await claim()).toBeNull();
  });

  test('reports whether a plan was stored', async () => {
    respondWith(204, '');
    const store = () => client.storePlan({ ...TRY, plan: PLAN, sourceSha256: '0'.repeat(64) });
    expect(await store()).toBe(true);
    expect(asked).toMatchObject({
      path: INTERNAL_PATHS.storePlan,
      body: { ...TRY, plan: PLAN, sourceSha256: '0'.repeat(64) },
    });
    respondWith(409, { status: 409, code: 'plan_not_current', detail: 'The attempt has ended.' });
    expect(await store()).toBe(false);
    respondWith(409, { status: 409, code: 'task_not_claimable', detail: 'Running elsewhere.' });
    await expect(store()).rejects.toMatchObject({ status: 503, code: 'unavailable' });
  });

  test('tells the planning of a video from a task of a plan', async () => {
    const common = {
      attempt: 2,
      task: 0,
      try: 1,
      contentKey: Buffer.alloc(16).toString('base64'),
      sourceKey: 'sources/x',
      inputBytes: 1,
      leaseSeconds: 60,
    };
    const planning = {
      ...common,
      work: {
        kind: 'plan',
        hashSource: true,
        pieceSeconds: null,
        audioOnly: 'accepted',
        packaging: 'cmaf',
        codecs: ['av1'],
        hdr: 'keep',
      },
    };
    respondWith(200, planning);
    expect(await claim()).toEqual(planning);
    respondWith(200, { ...common, work: { kind: 'audio' } });
    await expect(claim()).rejects.toMatchObject({ status: 503, code: 'unavailable' });
  });

  test.each([
    ['a problem that only the engine can cause', 401, { code: 'invalid_service_secret', detail: 'Differs.' }],
    ['a problem of another request', 409, { code: 'upload_in_progress', detail: 'Under way.' }],
    ['an internal error', 500, { code: 'internal_error', detail: 'Oops.' }],
    ['the error page of a proxy', 502, '<html>Bad gateway</html>'],
    ['a response that does not match the schema', 200, { attempt: 'first' }],
    ['a response without a body', 200, ''],
  ])('throws a 503 Problem after %s', async (_what, status, body) => {
    respondWith(status, body);
    await expect(claim()).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
      options: { headers: { 'Retry-After': '5' } },
    });
  });

  test('throws a 503 Problem when the control plane does not listen', async () => {
    const unreachable = new ControlPlaneClient({ baseUrl: 'http://127.0.0.1:1', secret: 'x' });
    await expect(unreachable.check()).rejects.toMatchObject({ status: 503, code: 'unavailable' });
  });
});
