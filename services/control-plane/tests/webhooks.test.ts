import { randomBytes } from 'node:crypto';
import { HostNotFoundError } from '@framelane/address-guard/resolve-host';
import { newId } from '@framelane/contracts/ids';
import { createLogger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { findSubscribers } from '../src/webhooks/endpoints.store.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { TestEndpoint } from './support/test-endpoint.ts';
import { anyVideo, deleteVideo, foreignWebhook, localWebhooks, WebhookClient } from './support/webhooks.ts';

const PUBLIC_ADDRESS = '93.184.215.14';

/** The addresses of host names; tests change them. */
const names = new Map<string, string[]>();
const log: Record<string, unknown>[] = [];
let plane: TestControlPlane;
let webhooks: WebhookClient;
beforeAll(async () => {
  const logger = createLogger({ service: 'control-plane' });
  for (const transport of logger.transports) transport.silent = true;
  logger.on('data', (event) => log.push(event));
  plane = await startControlPlane(localWebhooks, undefined, {
    logger,
    resolveHost: async (hostname) => {
      const addresses = names.get(hostname);
      if (addresses === undefined) throw new HostNotFoundError(hostname);
      return addresses;
    },
  });
  webhooks = new WebhookClient(plane);
});
afterEach(async () => {
  await plane.db.deleteFrom('webhook_endpoints').execute();
  names.clear();
});
afterAll(() => plane.stop());

const ENDPOINT_URL = 'https://hooks.example/framelane';

describe('POST /webhooks', () => {
  test('responds with the record, the secret and its location', async () => {
    const response = await webhooks.call('post', '').send({ url: ENDPOINT_URL });
    expect(response.status).toBe(201);
    const { id, secret, ...record } = response.body;
    expect(id).toMatch(/^whk_[0-9a-z]{26}$/);
    expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
    expect(response.headers.location).toBe(`http://framelane.test/v1/webhooks/${id}`);
    expect(record).toEqual({
      url: ENDPOINT_URL,
      description: null,
      events: ['video.ready', 'video.failed', 'video.deleted'],
      enabled: true,
      deliveryStatus: 'pending',
      lastDelivery: null,
      consecutiveFailures: 0,
      failingSince: null,
      disabledReason: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(await webhooks.get(id)).toEqual({ id, ...record });
  });

  test('accepts all settings', async () => {
    const chosen = { url: ENDPOINT_URL, events: ['video.deleted'], description: 'Catalogue', enabled: false };
    expect(await webhooks.create(chosen)).toMatchObject({
      ...chosen,
      deliveryStatus: 'disabled',
      disabledReason: 'manual',
    });
  });

  test.each([
    [{}, 'body/url'],
    [{ url: 'hooks' }, 'body/url'],
    [{ url: `https://hooks.example/${'x'.repeat(2048)}` }, 'body/url'],
    [{ url: 'http://hooks.example/' }, 'body/url'],
    [{ url: 'https://user:password@hooks.example/' }, 'body/url'],
    [{ url: 'https://10.0.0.1/' }, 'body/url'],
    [{ url: 'https://0xa9fea9fe/' }, 'body/url'],
    [{ url: 'https://[::ffff:169.254.169.254]/' }, 'body/url'],
    [{ url: 'https://inside.example/' }, 'body/url'],
    [{ url: ENDPOINT_URL, events: [] }, 'body/events'],
    [{ url: ENDPOINT_URL, events: ['video.ready', 'video.ready'] }, 'body/events'],
    [{ url: ENDPOINT_URL, events: ['webhook.test'] }, 'body/events/0'],
    [{ url: ENDPOINT_URL, description: 'x'.repeat(513) }, 'body/description'],
    [{ url: ENDPOINT_URL, description: 'NUL \u0000' }, 'body/description'],
    [{ url: ENDPOINT_URL, enabled: 'yes' }, 'body/enabled'],
  ])('400 for %j', async (body, field) => {
    names.set('hooks.example', [PUBLIC_ADDRESS]);
    names.set('inside.example', [PUBLIC_ADDRESS, '10.0.0.1']);
    const response = await webhooks.call('post', '').send(body);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'validation_failed', errors: [{ field }] });
    expect(response.text).not.toContain('10.0.0.1');
  });

  test('415 for a form, 413 for a huge body', async () => {
    const form = await webhooks.call('post', '').type('form').send(`url=${ENDPOINT_URL}`);
    expect([form.status, form.body.code]).toEqual([415, 'unsupported_media_type']);
    const huge = await webhooks.call('post', '').send({ url: ENDPOINT_URL, x: 'x'.repeat(300_000) });
    expect([huge.status, huge.body.code]).toEqual([413, 'body_too_large']);
  });

  test('409 beyond twenty, also for concurrent requests', async () => {
    const responses = await Promise.all(
      Array.from({ length: 23 }, () => webhooks.call('post', '').send({ url: ENDPOINT_URL })),
    );
    const refused = responses.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array(3).fill([409, 'webhook_limit_reached']),
    );
    await webhooks.call('delete', `/${responses.find(({ status }) => status === 201)?.body.id}`);
    await webhooks.create({ url: ENDPOINT_URL });
  });
});

describe('GET /webhooks', () => {
  test('newest first, a page at a time', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++)
      ids.push((await webhooks.create({ url: ENDPOINT_URL, description: String(n) })).id);
    const whole = await webhooks.call('get', '');
    expect(whole.body).toMatchObject({ nextCursor: null, hasMore: false });
    expect(whole.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());

    const seen: string[] = [];
    let path = '?limit=2';
    while (path !== '') {
      const { body, headers } = await webhooks.call('get', path);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      path = /\/v1\/webhooks(\?.*)>; rel="next"/.exec(headers.link ?? '')?.[1] ?? '';
      expect(body.hasMore).toBe(path !== '');
    }
    expect(seen).toEqual(ids.toReversed());
  });

  test.each(['limit=0', 'limit=101', 'cursor=nonsense'])('400 for %s', async (query) => {
    expect((await webhooks.call('get', `?${query}`)).body.code).toBe('validation_failed');
  });
});

describe('PATCH /webhooks/:id', () => {
  test('changes the given fields only', async () => {
    const { secret: _, ...before } = await webhooks.create({ url: ENDPOINT_URL, description: 'Old' });
    const patched = await webhooks.call('patch', `/${before.id}`).send({ events: ['video.ready'] });
    expect([patched.status, patched.body]).toEqual([
      200,
      { ...before, events: ['video.ready'], updatedAt: patched.body.updatedAt },
    ]);
    expect(Date.parse(patched.body.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    const updated = await webhooks.call('patch', `/${before.id}`).send({ description: null });
    expect(updated.body).toMatchObject({ description: null, events: ['video.ready'], url: ENDPOINT_URL });
    expect((await webhooks.call('patch', `/${before.id}`).send({})).status).toBe(200);
  });

  test('a new URL resets the health, and must be allowed', async () => {
    const { id } = await webhooks.create({ url: ENDPOINT_URL });
    await plane.db
      .updateTable('webhook_endpoints')
      .set({ consecutive_failures: 7, failing_since: new Date(), last_attempt_at: new Date() })
      .execute();
    const same = await webhooks.call('patch', `/${id}`).send({ url: ENDPOINT_URL, enabled: true });
    expect(same.body).toMatchObject({ deliveryStatus: 'failing', consecutiveFailures: 7 });
    const refused = await webhooks.call('patch', `/${id}`).send({ url: 'https://10.1/' });
    expect([refused.status, refused.body.errors[0].field]).toEqual([400, 'body/url']);
    const moved = await webhooks.call('patch', `/${id}`).send({ url: `${ENDPOINT_URL}/2` });
    expect(moved.body).toMatchObject({
      url: `${ENDPOINT_URL}/2`,
      deliveryStatus: 'pending',
      consecutiveFailures: 0,
      failingSince: null,
    });
  });

  test('disables and enables', async () => {
    const { id } = await webhooks.create({ url: ENDPOINT_URL });
    const patch = async (enabled: boolean) => (await webhooks.call('patch', `/${id}`).send({ enabled })).body;
    expect(await patch(false)).toMatchObject({ enabled: false, disabledReason: 'manual' });
    await plane.db.updateTable('webhook_endpoints').set({ disabled_reason: 'gone' }).execute();
    expect(await patch(false)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    expect(await patch(true)).toMatchObject({ enabled: true, disabledReason: null });
  });

  test.each([[{ url: 'hooks' }], [{ events: [] }], [{ enabled: null }], [[]]])('400 for %j', async (body) => {
    const { id } = await webhooks.create({ url: ENDPOINT_URL });
    const response = await webhooks.call('patch', `/${id}`).send(body);
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
  });
});

describe('DELETE /webhooks/:id', () => {
  test('succeeds once', async () => {
    const { id } = await webhooks.create({ url: ENDPOINT_URL });
    expect((await webhooks.call('delete', `/${id}`)).status).toBe(204);
    expect((await webhooks.call('delete', `/${id}`)).body.code).toBe('webhook_not_found');
    expect((await webhooks.call('get', `/${id}`)).body.code).toBe('webhook_not_found');
  });
});

test('a webhook with very many deliveries can be disabled, and deleted with all of them', async () => {
  const { id } = await webhooks.create({ url: ENDPOINT_URL });
  const many = 2001;
  await sql`
    with events as (
      insert into webhook_events (id, workspace_id, type, payload)
      select 'evt_' || i, ${plane.workspaceId}, 'video.ready', '{}' from generate_series(1, ${many}::int) i
      returning id)
    insert into webhook_deliveries (id, endpoint_id, event_id, next_attempt_at)
    select 'dlv_' || id, ${id}, id, now() + interval '1 day' from events`.execute(plane.db);
  const countIn = async (status: string) => {
    const deliveries = plane.db.selectFrom('webhook_deliveries').where('endpoint_id', '=', id);
    const { count } = await deliveries
      .where(sql<boolean>`status = ${status}`)
      .select(sql<number>`count(*)`.as('count'))
      .executeTakeFirstOrThrow();
    return count;
  };
  expect(await countIn('pending')).toBe(many);
  await webhooks.call('patch', `/${id}`).send({ enabled: false });
  expect([await countIn('pending'), await countIn('failed')]).toEqual([0, many]);
  expect((await webhooks.call('delete', `/${id}`)).status).toBe(204);
  expect(await countIn('failed')).toBe(0);
});

test.each(['patch', 'delete'] as const)(
  'publishing an event does not wait while %s changes the deliveries of the endpoint',
  async (method) => {
    const { id } = await webhooks.create({ url: ENDPOINT_URL, events: ['video.ready'] });
    await webhooks.test(id);
    await webhooks.settled(id);
    await plane.db
      .updateTable('webhook_deliveries')
      .set({ status: 'retrying', next_attempt_at: sql`now() + interval '1 day'` })
      .execute();
    const changing = await plane.db.transaction().execute(async (trx) => {
      await trx.selectFrom('webhook_deliveries').select('id').forUpdate().execute();
      const status = webhooks
        .call(method, `/${id}`)
        .send(method === 'patch' ? { enabled: false } : undefined)
        .then((response) => response.status);
      await until(async () => !(await webhooks.get(id)).enabled);
      expect(await findSubscribers(plane.db, plane.workspaceId, 'video.ready')).toEqual([]);
      return { status };
    });
    expect(await changing.status).toBe(method === 'patch' ? 200 : 204);
    const left = plane.db.selectFrom('webhook_deliveries').where('next_attempt_at', 'is not', null);
    expect(await left.select('id').execute()).toEqual([]);
  },
);

describe('another workspace', () => {
  test('its webhook, and all paths below it, are 404, and the webhook does not change', async () => {
    const own = await webhooks.create({ url: ENDPOINT_URL });
    const foreign = await foreignWebhook(plane);
    const before = await plane.db
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('id', '=', foreign)
      .execute();
    for (const id of [foreign, newId('whk'), 'nonsense', randomBytes(2000).toString('hex')]) {
      const responses = [
        await webhooks.call('get', `/${id}`),
        await webhooks.call('patch', `/${id}`).send({ enabled: false }),
        await webhooks.call('delete', `/${id}`),
        await webhooks.call('post', `/${id}/test`),
        await webhooks.call('post', `/${id}/rotate-secret`),
        await webhooks.call('get', `/${id}/deliveries`),
        await webhooks.call('get', `/${id}/deliveries/${newId('dlv')}`),
        await webhooks.call('post', `/${id}/deliveries/${newId('dlv')}/redeliver`),
      ];
      expect(responses.map(({ status, body }) => [status, body.code])).toEqual(
        Array(responses.length).fill([404, 'webhook_not_found']),
      );
    }
    const list = (await webhooks.call('get', '')).body.data;
    expect(list.map(({ id }: { id: string }) => id)).toEqual([own.id]);
    const after = await plane.db
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('id', '=', foreign)
      .execute();
    expect(after).toEqual(before);
  });

  test('a delivery is found under its own webhook, and under no other', async () => {
    const [one, other] = [
      await webhooks.create({ url: ENDPOINT_URL }),
      await webhooks.create({ url: ENDPOINT_URL }),
    ];
    const deliveryId = await webhooks.test(one.id);
    expect((await webhooks.call('get', `/${one.id}/deliveries/${deliveryId}`)).status).toBe(200);
    const path = `/${other.id}/deliveries/${deliveryId}`;
    for (const response of [
      await webhooks.call('get', path),
      await webhooks.call('post', `${path}/redeliver`),
    ]) {
      expect([response.status, response.body.code]).toEqual([404, 'delivery_not_found']);
    }
  });
});

describe('permissions', () => {
  test.each([
    ['get', '', 'webhooks:read'],
    ['get', '/whk_x', 'webhooks:read'],
    ['get', '/whk_x/deliveries', 'webhooks:read'],
    ['get', '/whk_x/deliveries/dlv_x', 'webhooks:read'],
    ['post', '', 'webhooks:write'],
    ['patch', '/whk_x', 'webhooks:write'],
    ['delete', '/whk_x', 'webhooks:write'],
    ['post', '/whk_x/test', 'webhooks:write'],
    ['post', '/whk_x/rotate-secret', 'webhooks:write'],
    ['post', '/whk_x/deliveries/dlv_x/redeliver', 'webhooks:write'],
  ] as const)('%s /webhooks%s requires %s', async (method, path, permission) => {
    const keep = [
      'videos:read',
      permission === 'webhooks:read' ? 'webhooks:write' : 'webhooks:read',
    ] as const;
    const all = await plane.db.selectFrom('api_keys').select('permissions').executeTakeFirstOrThrow();
    await plane.db
      .updateTable('api_keys')
      .set({ permissions: [...keep] })
      .execute();
    const response = await webhooks.call(method, path);
    await plane.db.updateTable('api_keys').set(all).execute();
    expect([response.status, response.body.code]).toEqual([403, 'insufficient_permissions']);
    expect(response.body.detail).toContain(permission);
    const anonymous = await new WebhookClient(plane, {}).call(method, path);
    expect([anonymous.status, anonymous.body.code]).toEqual([401, 'missing_api_key']);
  });
});

describe('a disabled webhook', () => {
  test('refuses tests and redeliveries', async () => {
    const { id } = await webhooks.create({ url: ENDPOINT_URL });
    const deliveryId = await webhooks.test(id);
    await webhooks.call('patch', `/${id}`).send({ enabled: false });
    for (const path of ['test', `deliveries/${deliveryId}/redeliver`]) {
      const response = await webhooks.call('post', `/${id}/${path}`);
      expect([response.status, response.body.code]).toEqual([409, 'webhook_disabled']);
    }
    expect((await webhooks.call('post', `/${id}/rotate-secret`)).status).toBe(200);
  });
});

describe('GET /webhooks/:id/deliveries', () => {
  test('newest first, a page at a time', async () => {
    const { id } = await webhooks.create({ url: ENDPOINT_URL });
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await webhooks.test(id));
    const seen: string[] = [];
    let path = `/${id}/deliveries?limit=2`;
    while (path !== '') {
      const { body, headers } = await webhooks.call('get', path);
      seen.push(...body.data.map((delivery: { id: string }) => delivery.id));
      path = /\/v1\/webhooks(\/.*)>; rel="next"/.exec(headers.link ?? '')?.[1] ?? '';
      expect(body.hasMore).toBe(path !== '');
    }
    expect(seen).toEqual(ids.toReversed());
    const bad = await webhooks.call('get', `/${id}/deliveries?cursor=x`);
    expect([bad.status, bad.body.code]).toEqual([400, 'validation_failed']);
  });
});

describe('names', () => {
  test('a delivery does not connect if the host name now resolves to a forbidden address', async () => {
    names.set('hooks.example', [PUBLIC_ADDRESS]);
    const { id } = await webhooks.create({ url: 'https://hooks.example/' });
    names.set('hooks.example', ['10.0.0.1']);
    await webhooks.test(id);
    expect(await webhooks.settled(id)).toMatchObject({
      status: 'failed',
      responseStatus: null,
      error: { code: 'address_not_allowed' },
    });
  });

  test('an unknown name is accepted, and fails at the delivery', async () => {
    const { id } = await webhooks.create({ url: 'https://soon.example/' });
    await webhooks.test(id);
    expect((await webhooks.settled(id)).error?.code).toBe('host_not_found');
  });
});

describe('the log', () => {
  test('has failed deliveries and the disabling, without the path and query of the URL and without secrets', async () => {
    const endpoint = await TestEndpoint.start((res, nth) => res.writeHead(nth === 1 ? 500 : 410).end());
    const url = `${endpoint.url}/path-secret?token=query-secret`;
    const { id, secret } = await webhooks.create({ url });
    await deleteVideo(plane, await anyVideo(plane));
    await until(async () => !(await webhooks.get(id)).enabled);
    await until(async () => log.some(({ message }) => message === 'webhook.disabled'));
    const fields = { webhookId: id, eventType: 'video.deleted', host: `127.0.0.1:${endpoint.port}` };
    expect(log).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...fields,
          message: 'webhook.delivery_failed',
          attempt: 1,
          responseStatus: 500,
          failure: 'unexpected_status',
          retryInSeconds: 0,
        }),
        expect.objectContaining({ ...fields, message: 'webhook.delivery_failed', retryInSeconds: null }),
        expect.objectContaining({ message: 'webhook.disabled', webhookId: id, reason: 'gone' }),
      ]),
    );
    const lines = JSON.stringify(log);
    for (const hidden of [secret.slice(6), 'path-secret', 'query-secret'])
      expect(lines).not.toContain(hidden);
    await endpoint.stop();
  });
});
