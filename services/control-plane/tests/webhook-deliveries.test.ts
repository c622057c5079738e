import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { Webhook as Verifier } from 'standardwebhooks';
import type { Database } from '../src/db/database.ts';
import { lockEndpoint } from '../src/webhooks/endpoints.store.ts';
import { WebhookEventsService } from '../src/webhooks/events.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { shiftClock } from './support/shift-clock.ts';
import { type Respond, TestEndpoint } from './support/test-endpoint.ts';
import { anyVideo, type Delivery, deleteVideo, localWebhooks, WebhookClient } from './support/webhooks.ts';

let plane: TestControlPlane;
let webhooks: WebhookClient;
const endpoints: TestEndpoint[] = [];
beforeAll(async () => {
  plane = await startControlPlane(localWebhooks);
  webhooks = new WebhookClient(plane);
});
afterEach(async () => {
  await plane.db.deleteFrom('webhook_endpoints').execute();
  await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.stop()));
});
afterAll(() => plane.stop());

/** An endpoint with this response, and a webhook for its URL. */
async function register(respond?: Respond, body: Record<string, unknown> = {}) {
  const endpoint = await TestEndpoint.start(respond);
  endpoints.push(endpoint);
  return { endpoint, ...(await webhooks.create({ url: endpoint.url, ...body })) };
}

async function deleteSomeVideo(): Promise<string> {
  const videoId = await anyVideo(plane);
  await deleteVideo(plane, videoId);
  return videoId;
}

/** Records an event in this transaction. */
function record(trx: Database): Promise<void> {
  return new WebhookEventsService({ now: () => new Date() }, { retryScheduleSeconds: [0] }).record(
    trx,
    'video.deleted',
    { id: 'vid_any', workspace_id: plane.workspaceId, traceparent: null },
    { id: 'vid_any', title: 'Any', status: 'deleted', deletedAt: new Date().toISOString() },
  );
}

describe('events', () => {
  test('video.ready is signed and contains the video as the API returns it at that time', async () => {
    const { endpoint, id, secret } = await register();
    const { videoId } = await plane.readyVideo();
    const [message] = await until(async () => endpoint.received.length === 1 && endpoint.received);
    const event = new Verifier(secret).verify(message?.body ?? '', message?.headers ?? {});
    const record = await fetch(`${plane.url}/v1/videos/${videoId}`, { headers: plane.credentials });
    expect(event).toEqual({
      id: message?.headers['webhook-id'],
      type: 'video.ready',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      workspaceId: plane.workspaceId,
      data: await record.json(),
    });
    expect(event).toMatchObject({ data: { id: videoId, status: 'ready', progress: 100 } });
    expect(message?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Framelane/),
    });
    expect(await webhooks.settled(id)).toMatchObject({
      status: 'succeeded',
      eventType: 'video.ready',
      eventId: message?.headers['webhook-id'],
      attempts: 1,
      responseStatus: 204,
      error: null,
    });
    expect(await webhooks.get(id)).toMatchObject({
      deliveryStatus: 'healthy',
      consecutiveFailures: 0,
      lastDelivery: { eventType: 'video.ready', status: 'succeeded' },
    });
  });

  test('video.failed contains the error', async () => {
    const { endpoint } = await register();
    const { videoId, uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, { code: 'not_a_video', message: 'Not a video.' });
    await until(async () => endpoint.received.length === 1);
    expect(JSON.parse(endpoint.received[0]?.body ?? '')).toMatchObject({
      type: 'video.failed',
      data: { id: videoId, status: 'failed', error: { code: 'not_a_video', message: 'Not a video.' } },
    });
  });

  test('an expired ticket causes video.failed, in the trace of its video', async () => {
    const { endpoint } = await register();
    const { videoId } = await plane.ticket();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await plane.db.updateTable('videos').set({ traceparent }).where('id', '=', videoId).execute();
    await plane.db
      .updateTable('upload_tickets')
      .set({ expires_at: new Date() })
      .where('video_id', '=', videoId)
      .execute();
    await plane.maintain('expire-tickets');
    await until(async () => endpoint.received.length === 1);
    const { id, data } = JSON.parse(endpoint.received[0]?.body ?? '');
    expect(data.error.code).toBe('upload_expired');
    const stored = plane.db.selectFrom('webhook_events').select('traceparent').where('id', '=', id);
    expect(await stored.executeTakeFirst()).toEqual({ traceparent });
  });

  test('video.deleted is delivered after the video is deleted', async () => {
    const { endpoint } = await register((res, nth) => res.writeHead(nth === 1 ? 500 : 200).end());
    const { videoId } = await plane.readyVideo();
    await until(async () => endpoint.ofType('video.ready').length === 2);
    await deleteVideo(plane, videoId);
    await until(async () => endpoint.ofType('video.deleted').length === 1);
    const [message] = endpoint.ofType('video.deleted');
    expect(JSON.parse(message?.body ?? '').data).toEqual({
      id: videoId,
      title: 'holiday',
      status: 'deleted',
      deletedAt: expect.stringMatching(/Z$/),
    });
  });

  test('go to every enabled and subscribed webhook once, however often the engine reports', async () => {
    const all = await register();
    const failedOnly = await register(undefined, { events: ['video.failed'] });
    const disabled = await register(undefined, { enabled: false });
    const { videoId, uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    await Promise.all([1, 2, 3].map(() => plane.engine.complete(videoId, attempt)));
    await plane.engine.complete(videoId, attempt);
    await until(async () => all.endpoint.received.length === 1);
    const events = await plane.db
      .selectFrom('webhook_events')
      .select('id')
      .where('payload', 'like', `%${videoId}%`)
      .execute();
    expect(events).toHaveLength(1);
    expect(await webhooks.deliveries(all.id)).toHaveLength(1);
    expect(await webhooks.deliveries(failedOnly.id)).toEqual([]);
    expect(await webhooks.deliveries(disabled.id)).toEqual([]);
  });

  test('are not recorded without a subscriber, or when the change is rolled back', async () => {
    await plane.db.deleteFrom('webhook_events').execute();
    await deleteSomeVideo();
    expect(await plane.db.selectFrom('webhook_deliveries').select('id').execute()).toEqual([]);
    await plane.db.deleteFrom('webhook_events').execute();
    const { id } = await register();
    const videoId = await anyVideo(plane);
    await sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`.execute(
      plane.db,
    );
    await sql`
      create constraint trigger refuse after update on videos
      deferrable initially deferred for each row execute function refuse()`.execute(plane.db);
    await expect(deleteVideo(plane, videoId)).rejects.toThrow('internal_error');
    await sql`drop function refuse cascade`.execute(plane.db);
    expect(await plane.db.selectFrom('webhook_events').select('id').execute()).toEqual([]);
    expect(await webhooks.deliveries(id)).toEqual([]);
  });
});

describe('retries', () => {
  test('send the same bytes and id until one succeeds', async () => {
    const { endpoint, id, secret } = await register((res, nth) => res.writeHead(nth < 3 ? 503 : 200).end());
    const videoId = await deleteSomeVideo();
    const delivery = await until(async () => {
      const settled = await webhooks.settled(id);
      return settled.status === 'succeeded' && settled;
    });
    expect(endpoint.received).toHaveLength(3);
    for (const { body, headers } of endpoint.received) {
      expect(body).toBe(endpoint.received[0]?.body);
      expect(headers['webhook-id']).toBe(delivery.eventId);
      expect(new Verifier(secret).verify(body, headers)).toMatchObject({ data: { id: videoId } });
    }
    const error = { code: 'unexpected_status', message: expect.any(String) };
    const entry = { at: expect.any(String), durationMs: expect.any(Number) };
    expect(delivery).toMatchObject({
      attempts: 3,
      attemptLog: [
        { ...entry, number: 1, responseStatus: 503, error },
        { ...entry, number: 2, responseStatus: 503, error },
        { ...entry, number: 3, responseStatus: 200, error: null },
      ],
    });
    expect((await webhooks.get(id)).deliveryStatus).toBe('healthy');
  });

  test('end with the schedule', async () => {
    const { endpoint, id } = await register((res) => res.writeHead(500).end());
    await deleteSomeVideo();
    expect(await webhooks.settled(id)).toMatchObject({
      status: 'failed',
      attempts: 3,
      responseStatus: 500,
      nextAttemptAt: null,
      error: { code: 'unexpected_status' },
    });
    expect(endpoint.received).toHaveLength(3);
    const stored = plane.db.selectFrom('webhook_deliveries').select('failures');
    expect(await stored.execute()).toEqual([{ failures: 3 }]);
    expect(await webhooks.get(id)).toMatchObject({
      deliveryStatus: 'failing',
      consecutiveFailures: 3,
      failingSince: expect.stringMatching(/Z$/),
      enabled: true,
      lastDelivery: { status: 'failed' },
    });
  });

  test.each([
    [429, 'an hour', () => '3600', 3600],
    [503, 'two hours', () => '7200', 7200],
    [429, 'the time until a date', () => new Date(Date.now() + 1_800_000).toUTCString(), 1800],
    [429, 'at most a day', () => '99999999', 86_400],
  ])('after %d with Retry-After wait for %s', async (status, _, header, seconds) => {
    const { id } = await register((res) => res.writeHead(status, { 'Retry-After': header() }).end());
    await deleteSomeVideo();
    const delivery = await until(async () => (await webhooks.deliveries(id)).find((it) => it.attempts === 1));
    expect(delivery.status).toBe('retrying');
    const wait = Date.parse(delivery.nextAttemptAt ?? '') - Date.parse(delivery.at ?? '');
    expect(Math.abs(wait / 1000 - seconds)).toBeLessThan(30);
  });
});

describe('disabling', () => {
  test('410 disables, and open deliveries are given up', async () => {
    const { endpoint, id } = await register((res, nth) =>
      nth === 1 ? res.writeHead(429, { 'Retry-After': '3600' }).end() : res.writeHead(410).end(),
    );
    await deleteSomeVideo();
    await until(async () => endpoint.received.length === 1);
    await deleteSomeVideo();
    const webhook = await until(async () => {
      const now = await webhooks.get(id);
      return !now.enabled && now;
    });
    expect(webhook).toMatchObject({
      deliveryStatus: 'disabled',
      disabledReason: 'gone',
      lastDelivery: { status: 'failed', error: { code: 'gone' }, responseStatus: 410 },
    });
    const [gone, waiting] = await until(async () => {
      const deliveries = await webhooks.deliveries(id);
      return deliveries.every(({ nextAttemptAt }) => nextAttemptAt === null) && deliveries;
    });
    expect(gone).toMatchObject({ status: 'failed', error: { code: 'gone' }, attempts: 1 });
    expect(waiting).toMatchObject({ status: 'failed', error: { code: 'webhook_disabled' }, attempts: 1 });
    await deleteSomeVideo();
    expect(await webhooks.deliveries(id)).toHaveLength(2);
  });

  test('five days of failure disable a webhook, fewer do not', async () => {
    const { endpoint, id } = await register((res) => res.writeHead(500).end());
    const failingFor = async (hours: number) => {
      await plane.db
        .updateTable('webhook_endpoints')
        .set({ consecutive_failures: 1, failing_since: new Date(Date.now() - hours * 3_600_000) })
        .where('id', '=', id)
        .execute();
      await webhooks.test(id);
      await until(async () => (await webhooks.get(id)).consecutiveFailures === 2);
      return webhooks.get(id);
    };
    expect(await failingFor(119)).toMatchObject({ enabled: true, deliveryStatus: 'failing' });
    expect(await failingFor(121)).toMatchObject({ enabled: false, disabledReason: 'failing' });

    // Enabling resets its health.
    const { body } = await webhooks.call('patch', `/${id}`).send({ enabled: true });
    expect(body).toMatchObject({ deliveryStatus: 'pending', consecutiveFailures: 0, disabledReason: null });
    endpoint.respond = (res) => res.writeHead(200).end();
    await webhooks.test(id);
    await until(async () => (await webhooks.get(id)).deliveryStatus === 'healthy');
  });

  test('by hand gives up open deliveries', async () => {
    const { id } = await register((res) => res.writeHead(429, { 'Retry-After': '3600' }).end());
    await deleteSomeVideo();
    await until(async () => (await webhooks.get(id)).deliveryStatus === 'failing');
    const { body } = await webhooks.call('patch', `/${id}`).send({ enabled: false });
    expect(body).toMatchObject({ deliveryStatus: 'disabled', disabledReason: 'manual' });
    expect(await webhooks.settled(id)).toMatchObject({
      status: 'failed',
      error: { code: 'webhook_disabled' },
    });
  });

  test('during an attempt: its outcome is recorded, without a retry', async () => {
    const response = Promise.withResolvers<void>();
    const { endpoint, id } = await register((res) => {
      void response.promise.then(() => res.writeHead(500).end());
    });
    await deleteSomeVideo();
    await until(async () => endpoint.received.length === 1);
    await webhooks.call('patch', `/${id}`).send({ enabled: false });
    response.resolve();
    const delivery = await until(async () => (await webhooks.deliveries(id)).find((it) => it.attempts === 1));
    expect(delivery).toMatchObject({ status: 'failed', responseStatus: 500, nextAttemptAt: null });
  });

  test('is not caused by a 410 from a former URL; this response does not count as a failure either', async () => {
    const response = Promise.withResolvers<void>();
    const { endpoint, id } = await register((res) => {
      void response.promise.then(() => res.writeHead(410).end());
    });
    const successor = await TestEndpoint.start(() => {});
    endpoints.push(successor);
    await deleteSomeVideo();
    await until(async () => endpoint.received.length === 1);
    await webhooks.call('patch', `/${id}`).send({ url: successor.url });
    response.resolve();
    // The retry goes to the new URL, which does not respond.
    await until(async () => successor.received.length === 1);
    const [delivery] = await webhooks.deliveries(id);
    expect(delivery?.attemptLog[0]).toMatchObject({ number: 1, responseStatus: 410 });
    expect(await webhooks.get(id)).toMatchObject({ enabled: true, consecutiveFailures: 0 });
  });

  test('deleting during an attempt removes all deliveries', async () => {
    const response = Promise.withResolvers<void>();
    const { endpoint, id } = await register((res) => {
      void response.promise.then(() => res.writeHead(200).end());
    });
    await deleteSomeVideo();
    await until(async () => endpoint.received.length === 1);
    expect((await webhooks.call('delete', `/${id}`)).status).toBe(204);
    response.resolve();
    const other = await register();
    await webhooks.test(other.id);
    await webhooks.settled(other.id);
    const left = plane.db.selectFrom('webhook_deliveries').select('id').where('endpoint_id', '=', id);
    expect(await left.execute()).toEqual([]);
  });
});

describe('the details of a delivery', () => {
  test('have the body of the request, and the beginning of each response as text', async () => {
    const beginning = `<b>\u00fc\u0000${'x'.repeat(1018)}`;
    const bodies = [`${beginning}${'\u00fc'.repeat(4000)}`, 'Thank you', ''];
    const { endpoint, id } = await register((res, nth) =>
      res.writeHead(nth < 3 ? 500 : 200).end(bodies[nth - 1]),
    );
    await deleteSomeVideo();
    const { id: deliveryId } = await webhooks.settled(id);
    const { body } = await webhooks.call('get', `/${id}/deliveries/${deliveryId}`);
    expect(body).toMatchObject({ id: deliveryId, status: 'succeeded', attempts: 3 });
    expect(body.requestBody).toBe(endpoint.received[0]?.body);
    for (const [at, { requestHeaders }] of body.attemptLog.entries()) {
      expect(Object.keys(requestHeaders).sort()).toEqual([
        'content-type',
        'user-agent',
        'webhook-id',
        'webhook-timestamp',
      ]);
      expect(endpoint.received[at]?.headers).toMatchObject(requestHeaders);
    }
    const responses = body.attemptLog.map(({ responseBody }: { responseBody: string }) => responseBody);
    expect(responses).toEqual([beginning.replace('\0', '\uFFFD'), 'Thank you', '']);
  });

  test('have no request headers if the host is not found', async () => {
    const { id } = await register();
    await plane.db
      .updateTable('webhook_endpoints')
      .set({ url: 'http://unknown.invalid/' })
      .where('id', '=', id)
      .execute();
    await deleteSomeVideo();
    const { id: deliveryId } = await webhooks.settled(id);
    const { body } = await webhooks.call('get', `/${id}/deliveries/${deliveryId}`);
    expect(body.attemptLog[0]).toMatchObject({ error: { code: 'host_not_found' }, requestHeaders: null });
  });

  test('have no response body if there was no response', async () => {
    const { id } = await register((res) => res.destroy());
    await deleteSomeVideo();
    const { id: deliveryId } = await webhooks.settled(id);
    const { body } = await webhooks.call('get', `/${id}/deliveries/${deliveryId}`);
    expect(body.attemptLog[0]).toMatchObject({ responseStatus: null, responseBody: null });
  });
});

describe('redelivery', () => {
  test('sends the event again under its id, with a new round of attempts', async () => {
    const { endpoint, id } = await register((res) => res.writeHead(500).end());
    await deleteSomeVideo();
    const failed = await webhooks.settled(id);
    expect(failed.attempts).toBe(3);
    endpoint.respond = (res, nth) => res.writeHead(nth < 6 ? 500 : 200).end();
    const again = await webhooks.call('post', `/${id}/deliveries/${failed.id}/redeliver`);
    expect([again.status, again.body.id, again.body.status]).toEqual([202, failed.id, 'retrying']);
    const delivery = await until(async () => {
      const settled = await webhooks.settled(id);
      return settled.attempts === 6 && settled;
    });
    expect(delivery).toMatchObject({ status: 'succeeded', eventId: failed.eventId });
    expect(delivery.attemptLog.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(new Set(endpoint.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([failed.eventId]),
    );

    // A successful delivery can be sent again as well.
    await webhooks.call('post', `/${id}/deliveries/${delivery.id}/redeliver`);
    await until(async () => endpoint.received.length === 7);
  });

  test.each([
    ['succeeds', 200],
    ['fails for the last time', 500],
  ])('waits for an attempt in progress that %s, then begins a new round of attempts', async (_, status) => {
    const response = Promise.withResolvers<void>();
    const { endpoint, id } = await register((res, nth) => {
      if (nth < 3) res.writeHead(500).end();
      else if (nth === 3) void response.promise.then(() => res.writeHead(status).end());
      else res.writeHead(nth < 6 ? 500 : 200).end();
    });
    await deleteSomeVideo();
    await until(async () => endpoint.received.length === 3);
    const [{ id: deliveryId = '' } = {}] = await webhooks.deliveries(id);
    const again = await webhooks.call('post', `/${id}/deliveries/${deliveryId}/redeliver`);
    expect([again.status, again.body.status]).toEqual([202, 'retrying']);
    response.resolve();
    const settled = await webhooks.settled(id);
    expect(settled.attemptLog.map(({ responseStatus }) => responseStatus)).toEqual([
      500,
      500,
      status,
      500,
      500,
      200,
    ]);
    expect(settled).toMatchObject({ status: 'succeeded', attempts: 6 });
    expect(endpoint.received).toHaveLength(6);
  });
});

describe('a test event', () => {
  test('is signed, sent once and listed', async () => {
    const { endpoint, id, secret } = await register((res) => res.writeHead(500).end(), {
      events: ['video.ready'],
    });
    const deliveryId = await webhooks.test(id);
    expect(await webhooks.settled(id)).toMatchObject({
      id: deliveryId,
      eventType: 'webhook.test',
      status: 'failed',
      attempts: 1,
    });
    const [message] = endpoint.received;
    expect(new Verifier(secret).verify(message?.body ?? '', message?.headers ?? {})).toMatchObject({
      type: 'webhook.test',
      data: { webhookId: id },
    });
    const listed = async (status: string) =>
      (await webhooks.call('get', `/${id}/deliveries?status=${status}`)).body.data.map(
        (delivery: Delivery) => delivery.id,
      );
    expect([await listed('failed'), await listed('succeeded')]).toEqual([[deliveryId], []]);
    expect((await webhooks.call('get', `/${id}/deliveries?status=lost`)).status).toBe(400);
  });
});

describe('secrets', () => {
  test('a replaced secret also signs for a day, the secret before it no longer signs', async () => {
    const { endpoint, id, secret: first } = await register();
    const rotate = async () => (await webhooks.call('post', `/${id}/rotate-secret`)).body;
    const rotated = await rotate();
    const inADay = Date.now() + 24 * 3_600_000;
    expect(Math.abs(Date.parse(rotated.previousSecretExpiresAt) - inADay)).toBeLessThan(60_000);
    const { secret: second } = rotated;
    expect(new Set([first, second]).size).toBe(2);
    await webhooks.test(id);
    await until(async () => endpoint.received.length === 1);
    const verifies = (secret: string) => {
      const { body = '', headers = {} } = endpoint.received.at(-1) ?? {};
      try {
        return new Verifier(secret).verify(body, headers) !== undefined;
      } catch {
        return false;
      }
    };
    expect([verifies(first), verifies(second)]).toEqual([true, true]);

    const { secret: third } = await rotate();
    await webhooks.test(id);
    await until(async () => endpoint.received.length === 2);
    expect([verifies(first), verifies(second), verifies(third)]).toEqual([false, true, true]);

    await plane.db.updateTable('webhook_endpoints').set({ previous_secret_expires_at: new Date() }).execute();
    await webhooks.test(id);
    await until(async () => endpoint.received.length === 3);
    expect([verifies(second), verifies(third)]).toEqual([false, true]);
  });

  test('are stored encrypted only', async () => {
    const { id, secret: first } = await register();
    const { secret: second } = (await webhooks.call('post', `/${id}/rotate-secret`)).body;
    const row = JSON.stringify(await plane.db.selectFrom('webhook_endpoints').selectAll().execute());
    expect(row).toContain(id);
    for (const secret of [first, second]) expect(row).not.toContain(secret.replace('whsec_', ''));
    expect(JSON.stringify(await webhooks.get(id))).not.toContain('whsec_');
  });
});

describe.each([-3600, 3600])('a control plane whose clock is wrong by %d seconds', (offset) => {
  let setRight: () => void;
  beforeAll(() => {
    setRight = shiftClock(offset * 1000);
  });
  afterAll(() => setRight());

  test('signs with a replaced secret for a day', async () => {
    const { id } = await register();
    const { body } = await webhooks.call('post', `/${id}/rotate-secret`);
    const left = Date.parse(body.previousSecretExpiresAt) - (Date.now() - offset * 1000);
    expect(Math.abs(left - 24 * 3_600_000)).toBeLessThan(60_000);
  });

  test('sends events with the time of the database, which receivers accept', async () => {
    const { endpoint, id } = await register();
    await webhooks.test(id);
    await until(() => endpoint.received.length > 0);
    const [event] = endpoint.received;
    const now = Date.now() - offset * 1000;
    for (const time of [
      Number(event?.headers['webhook-timestamp']) * 1000,
      Date.parse(JSON.parse(event?.body ?? '').timestamp),
    ])
      expect(Math.abs(time - now)).toBeLessThan(60_000);
  });

  test.each([
    [119.5, true],
    [120.5, false],
  ])('after %d hours of failure, a webhook is still enabled: %s', async (hours, enabled) => {
    const { id } = await register((res) => res.writeHead(500).end());
    await plane.db
      .updateTable('webhook_endpoints')
      .set({ consecutive_failures: 1, failing_since: sql`now() - make_interval(secs => ${hours * 3600})` })
      .where('id', '=', id)
      .execute();
    await webhooks.test(id);
    await until(async () => (await webhooks.get(id)).consecutiveFailures === 2);
    expect((await webhooks.get(id)).enabled).toBe(enabled);
  });
});

describe('isolation', () => {
  test('slow endpoints do not delay others', async () => {
    const response = Promise.withResolvers<void>();
    const wait: Respond = (res) => void response.promise.then(() => res.writeHead(200).end());
    const slow = await Promise.all([1, 2, 3, 4, 5, 6].map(() => register(wait)));
    for (let n = 0; n < 3; n++) await deleteSomeVideo();
    await until(async () => slow.every(({ endpoint }) => endpoint.received.length > 0));
    const quick = await register();
    await webhooks.test(quick.id);
    expect((await webhooks.settled(quick.id)).status).toBe('succeeded');
    expect(await plane.db.selectFrom('delivery_attempts').select('number').execute()).toHaveLength(1);
    response.resolve();
    for (const { id } of slow) {
      await until(async () => (await webhooks.deliveries(id)).every(({ status }) => status === 'succeeded'));
    }
  });

  test('one endpoint gets at most ten concurrent requests from all control planes together, and each event once', async () => {
    const another = await plane.startAnother();
    const response = Promise.withResolvers<void>();
    const { endpoint, id } = await register(
      (res) => void response.promise.then(() => res.writeHead(200).end()),
      { events: ['video.deleted'] },
    );
    const quick = await register(undefined, { events: ['video.ready'] });
    await plane.db.transaction().execute(async (trx) => {
      for (let n = 0; n < 35; n++) await record(trx);
    });
    await until(async () => endpoint.received.length >= 10);
    // Claims for other endpoints continue.
    for (let n = 0; n < 5; n++) {
      const deliveryId = await webhooks.test(quick.id);
      await until(async () => (await delivery(quick.id, deliveryId))?.status === 'succeeded');
    }
    expect(endpoint.received).toHaveLength(10);
    response.resolve();
    await until(async () => (await webhooks.deliveries(id)).every(({ status }) => status === 'succeeded'));
    expect(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size).toBe(35);
    expect(endpoint.received).toHaveLength(35);
    await another.stop();
  });
});

describe('transactions that write events', () => {
  test('do not block deliveries to the same webhook or changes of it', async () => {
    const { endpoint, id } = await register((res) => res.writeHead(500).end());
    await plane.db.transaction().execute(async (trx) => {
      await record(trx);
      await webhooks.test(id);
      expect(await webhooks.settled(id)).toMatchObject({ status: 'failed', attempts: 1 });
      expect((await webhooks.get(id)).deliveryStatus).toBe('failing');
      expect((await webhooks.call('patch', `/${id}`).send({ enabled: false })).status).toBe(200);
    });
    // The endpoint is disabled by now.
    const held = await until(async () => {
      const deliveries = await webhooks.deliveries(id);
      return deliveries.find(
        ({ eventType, nextAttemptAt }) => eventType !== 'webhook.test' && nextAttemptAt === null,
      );
    });
    expect(held).toMatchObject({ status: 'failed', attempts: 0, error: { code: 'webhook_disabled' } });
    expect(endpoint.ofType('video.deleted')).toEqual([]);
  });

  test('do not wait for an outcome that is being recorded', async () => {
    const { id } = await register(undefined, { events: ['video.deleted'] });
    await plane.db.transaction().execute(async (trx) => {
      await lockEndpoint(trx, id);
      await plane.db.transaction().execute(record);
    });
    expect((await webhooks.settled(id)).status).toBe('succeeded');
  });

  test('keep the webhook from being deleted until they end', async () => {
    const { id } = await register();
    const deleted = await plane.db.transaction().execute(async (trx) => {
      await record(trx);
      const deleting = webhooks.call('delete', `/${id}`).then(({ status }) => status);
      await until(async () => !(await webhooks.get(id)).enabled);
      await record(trx);
      return { status: deleting };
    });
    expect(await deleted.status).toBe(204);
    const left = plane.db.selectFrom('webhook_deliveries').select('id').where('endpoint_id', '=', id);
    expect(await left.execute()).toEqual([]);
  });
});

describe('crashes', () => {
  test('a delivery whose process died is attempted after its claim has expired', async () => {
    const { endpoint, id } = await register();
    // A process claims the delivery and dies. The second test event is unclaimed.
    await sql`
      create function claim() returns trigger language plpgsql as $$ begin
        new.claimed_until = now() + interval '1 minute'; return new;
      end $$`.execute(plane.db);
    await sql`
      create trigger claim before insert on webhook_deliveries for each row execute function claim()`.execute(
      plane.db,
    );
    const died = await webhooks.test(id);
    await sql`drop function claim cascade`.execute(plane.db);
    const later = await webhooks.test(id);
    await until(async () => (await delivery(id, later))?.status === 'succeeded');
    expect(await delivery(id, died)).toMatchObject({ status: 'pending', attempts: 0 });

    await expireClaims();
    await until(async () => (await delivery(id, died))?.status === 'succeeded');
    expect(endpoint.received).toHaveLength(2);
  });

  test('if the disabling of an endpoint is interrupted, its open deliveries are given up when they are due', async () => {
    const later: Respond = (res) => res.writeHead(429, { 'Retry-After': '3600' }).end();
    const [interrupted, enabled] = [await register(later), await register(later)];
    for (const { id } of [interrupted, enabled]) {
      await webhooks.test(id);
      await webhooks.settled(id);
    }
    await plane.db
      .updateTable('webhook_endpoints')
      .set({ enabled: false, disabled_reason: 'manual' })
      .where('id', '=', interrupted.id)
      .execute();
    await plane.db.transaction().execute(async (trx) => {
      for (const [id, seconds] of [
        [interrupted.id, 0],
        [enabled.id, 3600],
      ] as const) {
        await trx
          .updateTable('webhook_deliveries')
          .set({ status: 'retrying', next_attempt_at: sql`now() + make_interval(secs => ${seconds})` })
          .where('endpoint_id', '=', id)
          .execute();
      }
    });

    expect(await webhooks.settled(interrupted.id)).toMatchObject({
      attempts: 1,
      error: { code: 'webhook_disabled' },
    });
    expect((await webhooks.deliveries(enabled.id))[0]?.nextAttemptAt).not.toBeNull();
    expect(interrupted.endpoint.received).toHaveLength(1);
  });

  test('an attempt that was made twice counts once', async () => {
    const response = Promise.withResolvers<void>();
    const { endpoint, id } = await register(
      (res) => void response.promise.then(() => res.writeHead(200).end()),
    );
    await webhooks.test(id);
    await until(async () => endpoint.received.length === 1);
    // The claim of the running attempt expires.
    await expireClaims();
    await until(async () => endpoint.received.length === 2);
    response.resolve();
    expect(await webhooks.settled(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    await until(noClaims);
    expect((await webhooks.deliveries(id))[0]?.attemptLog).toHaveLength(1);
  });

  test('an outcome that cannot be recorded affects no other delivery, and its attempt is repeated after the claim expires', async () => {
    const response = Promise.withResolvers<void>();
    const { endpoint, id } = await register(
      (res) => void response.promise.then(() => res.writeHead(200).end()),
    );
    await sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`.execute(
      plane.db,
    );
    await plane.db.transaction().execute(async (trx) => {
      for (let n = 0; n < 3; n++) await record(trx);
    });
    await until(async () => endpoint.received.length === 3);
    const first = endpoint.received[0]?.headers['webhook-id'];
    const all = await webhooks.deliveries(id);
    const refused = all.find(({ eventId }) => eventId === first)?.id ?? '';
    await sql`
      create trigger refuse before insert on delivery_attempts for each row
      when (new.delivery_id = ${sql.lit(refused)}) execute function refuse()`.execute(plane.db);
    response.resolve();
    for (const other of all.filter((each) => each.id !== refused)) {
      await until(async () => (await delivery(id, other.id))?.status === 'succeeded');
    }
    // One more delivery shows that those before it were handled.
    const last = await webhooks.test(id);
    await until(async () => (await delivery(id, last))?.status === 'succeeded');
    expect(await delivery(id, refused)).toMatchObject({ status: 'pending', attempts: 0 });
    expect(endpoint.received).toHaveLength(4);

    await sql`drop function refuse cascade`.execute(plane.db);
    await expireClaims();
    await until(async () => (await delivery(id, refused))?.status === 'succeeded');
    expect(endpoint.received).toHaveLength(5);
  });

  test('a stop does not wait for an endpoint; the event is sent after the next start', async () => {
    const other = await startControlPlane((config) => {
      const local = localWebhooks(config);
      return { ...local, webhooks: { ...local.webhooks, timeoutSeconds: 60 } };
    });
    const endpoint = await TestEndpoint.start(() => {});
    endpoints.push(endpoint);
    const client = new WebhookClient(other);
    const { id } = await client.create({ url: endpoint.url });
    await client.test(id);
    await until(async () => endpoint.received.length === 1);
    const asked = Date.now();
    await other.stopFirst();
    expect(Date.now() - asked).toBeLessThan(10_000);
    endpoint.respond = (res) => res.writeHead(200).end();
    await other.startAnotherAsSingleNode();
    const delivery = await until(() =>
      other.db
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('status', '=', 'succeeded')
        .executeTakeFirst(),
    );
    expect(delivery.attempts).toBe(1);
    expect(endpoint.received.map(({ headers }) => headers['webhook-id'])).toEqual([
      delivery.event_id,
      delivery.event_id,
    ]);
    await other.stop();
  });
});

describe('old events', () => {
  test('are deleted after thirty days, unless a delivery is open', async () => {
    const { id } = await register((res, nth) =>
      nth === 3 ? res.writeHead(429, { 'Retry-After': '86400' }).end() : res.writeHead(200).end(),
    );
    for (const status of ['succeeded', 'succeeded', 'retrying']) {
      await deleteSomeVideo();
      await until(async () => (await webhooks.deliveries(id))[0]?.status === status);
    }
    const [waiting, young, old] = await webhooks.deliveries(id);
    for (const [each, days] of [
      [waiting, 30],
      [young, 29],
      [old, 30],
    ] as const) {
      // A minute more, because the clock of a virtual machine may step back.
      await sql`update webhook_events set created_at = now() - make_interval(days => ${days}, mins => 1)
        where id = ${each?.eventId}`.execute(plane.db);
    }
    await plane.maintain('prune-webhook-events');
    const left = (await webhooks.deliveries(id)).map((delivery) => delivery.id);
    expect(left).toEqual([waiting?.id, young?.id]);
  });
});

async function delivery(webhookId: string, id: string) {
  return (await webhooks.deliveries(webhookId)).find((each) => each.id === id);
}

/** Expires the claims of all current attempts. */
async function expireClaims(): Promise<void> {
  await plane.db
    .updateTable('webhook_deliveries')
    .set({ claimed_until: new Date() })
    .where('claimed_until', 'is not', null)
    .execute();
}

/** Whether there are no claims. */
async function noClaims(): Promise<boolean> {
  const claims = plane.db
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('claimed_until', 'is not', null);
  return (await claims.execute()).length === 0;
}
