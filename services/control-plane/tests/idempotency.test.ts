import { randomUUID } from 'node:crypto';
import { newId } from '@framelane/contracts/ids';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { pngOf } from '@framelane/test-kit/png';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { keyedOperations } from './support/operations.ts';
import { SeparateControlPlane } from './support/separate-control-plane.ts';
import { TestEndpoint } from './support/test-endpoint.ts';
import { localWebhooks } from './support/webhooks.ts';

let plane: TestControlPlane;
let another: { url: string };
let endpoint: TestEndpoint;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...localWebhooks(config), hasRecognizer: true }));
  another = await plane.startAnother();
  await plane.bus.consume('engine.commands', { prefetch: 10 }, async () => {});
  endpoint = await TestEndpoint.start();
});
afterAll(async () => {
  await plane.stop();
  await endpoint.stop();
});
/** Releases the locks of a test that failed before it released them. */
const releases: (() => Promise<void>)[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(releases.splice(0).map((release) => release()));
});

/** A new workspace for one test, used with a key that has every permission. */
class Workspace {
  readonly id = newId('ws');
  readonly #headers: Record<string, string>;

  static async create(): Promise<Workspace> {
    const secret = newApiKeySecret('live');
    const workspace = new Workspace(secret);
    await plane.db.insertInto('workspaces').values({ id: workspace.id, name: 'Own' }).execute();
    await createFullKey(plane.db, { workspaceId: workspace.id, name: 'First', secret });
    return workspace;
  }

  private constructor(secret: string) {
    this.#headers = { authorization: `Bearer ${secret}`, 'x-svc-workspace': this.id };
  }

  post(path: string, body?: object, key?: string, url = plane.url) {
    const call = request(url).post(`/v1${path}`).set(this.#headers);
    if (key !== undefined) call.set('Idempotency-Key', key);
    if (Buffer.isBuffer(body)) call.type('image/png');
    return call.send(body);
  }

  async created(path: string, body?: object) {
    const response = await this.post(path, body);
    if (response.status >= 300)
      throw new Error(`${path} responded with ${response.status}: ${response.text}`);
    return response.body;
  }

  get(path: string) {
    return request(plane.url).get(`/v1${path}`).set(this.#headers);
  }

  delete(path: string) {
    return request(plane.url).delete(`/v1${path}`).set(this.#headers);
  }

  async count(table: 'api_keys' | 'videos' | 'webhook_endpoints' | 'idempotency_keys'): Promise<number> {
    const { count } = await plane.db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspace_id', '=', this.id)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Changes every idempotency key of this workspace. */
  async changeKeys(values: { created_at?: Date; leased_until?: Date }) {
    await plane.db.updateTable('idempotency_keys').set(values).where('workspace_id', '=', this.id).execute();
  }

  async video(): Promise<{ videoId: string; uploadToken: string }> {
    return this.created('/videos/upload-ticket', { filename: 'a.mp4' });
  }

  async readyVideo(): Promise<string> {
    const { videoId, uploadToken } = await this.video();
    await plane.engine.upload(uploadToken);
    await plane.engine.complete(videoId, (await plane.engine.claim(videoId)).attempt);
    return videoId;
  }

  /** A failed video whose source is still stored. */
  async failedVideo(): Promise<string> {
    const { videoId, uploadToken } = await this.video();
    const { sourceKey } = await plane.engine.upload(uploadToken);
    await plane.objects.put(sourceKey, Buffer.from('source'), 'video/mp4');
    const { attempt } = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, attempt, {
      code: 'storage_failed',
      message: 'The storage was unavailable.',
    });
    return videoId;
  }

  async webhook(): Promise<string> {
    return (await this.created('/webhooks', { url: endpoint.url })).id;
  }

  async deliveries(webhookId: string): Promise<{ id: string; nextAttemptAt: string | null }[]> {
    return (await this.get(`/webhooks/${webhookId}/deliveries`)).body.data;
  }

  /** Blocks the creation of webhooks. The returned function releases it. */
  async blockWebhooks(): Promise<() => Promise<void>> {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const done = plane.db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks:${this.id}`}, 0))`.execute(trx);
      lock();
      await released;
    });
    await locked;
    const unblock = () => {
      release();
      return done;
    };
    releases.push(unblock);
    return unblock;
  }
}

/** Waits until this many database connections wait for a lock; resolves with their process ids. */
async function waiting(count: number): Promise<number[]> {
  return until(async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%pg_advisory_xact_lock%'
    `.execute(plane.db);
    return rows.length === count && rows.map(({ pid }) => pid);
  });
}

const code = (response: request.Response) => [response.status, response.body.code];
const replayed = (response: request.Response) => response.headers['idempotency-replayed'] === 'true';

/** A request to replay. */
type Trial = {
  path: string;
  body?: object;
  /** A valid body that differs. Default: an empty one. */
  another?: object;
  /** How often the operation had its effect. */
  effects: () => Promise<number>;
};
type Preparation = {
  prepare: (workspace: Workspace) => Promise<Trial>;
  /** Members of the first response that a replay lacks. */
  once?: string[];
  /** Members that a replay has with new values. */
  renewed?: string[];
};

const OPERATIONS: Record<string, Preparation> = {
  'POST /api-keys': {
    prepare: async (workspace) => ({
      path: '/api-keys',
      body: { name: 'Back end', permissions: ['videos:read'] },
      another: { name: 'Back end' },
      effects: async () => (await workspace.count('api_keys')) - 1,
    }),
    once: ['secret'],
  },
  'POST /videos/upload-ticket': {
    prepare: async (workspace) => ({
      path: '/videos/upload-ticket',
      body: { filename: 'a.mp4', metadata: { a: '1', b: '2' } },
      another: { filename: 'a.mp4', metadata: { a: '1', b: '3' } },
      effects: () => workspace.count('videos'),
    }),
    renewed: ['uploadToken'],
  },
  'POST /videos/import': {
    prepare: async (workspace) => ({
      path: '/videos/import',
      body: { url: 'https://media.example.com/a.mp4', headers: { Authorization: 'Bearer a' } },
      another: { url: 'https://media.example.com/a.mp4', headers: { Authorization: 'Bearer b' } },
      effects: () => workspace.count('videos'),
    }),
  },
  'POST /videos/{id}/retry': {
    prepare: async (workspace) => {
      const videoId = await workspace.failedVideo();
      return {
        path: `/videos/${videoId}/retry`,
        effects: async () => Number((await workspace.get(`/videos/${videoId}`)).body.status === 'processing'),
      };
    },
  },
  'POST /videos/{id}/downloads': {
    prepare: async (workspace) => {
      const { videoId } = await workspace.video();
      return {
        path: `/videos/${videoId}/downloads`,
        body: { files: ['highest'] },
        another: { files: ['audio'] },
        effects: async () => (await workspace.get(`/videos/${videoId}/downloads`)).body.data.length,
      };
    },
  },
  'POST /videos/{id}/captions/generate': {
    prepare: async (workspace) => {
      const { videoId } = await workspace.video();
      return {
        path: `/videos/${videoId}/captions/generate`,
        body: { autoCaptions: ['en'] },
        another: { autoCaptions: true },
        effects: async () => (await workspace.get(`/videos/${videoId}`)).body.autoCaptions.length,
      };
    },
  },
  'POST /watermarks': {
    prepare: async (workspace) => ({
      path: '/watermarks',
      body: pngOf(4, 4),
      another: pngOf(4, 2),
      effects: async () => (await workspace.get('/watermarks')).body.data.length,
    }),
  },
  'POST /videos/{id}/clips': {
    prepare: async (workspace) => {
      const videoId = await workspace.readyVideo();
      return {
        path: `/videos/${videoId}/clips`,
        body: { start: 0, end: 3 },
        another: { start: 0, end: 4 },
        effects: async () => (await workspace.get('/videos?status=processing')).body.data.length,
      };
    },
  },
  'POST /videos/{id}/playback-tokens': {
    prepare: async (workspace) => ({
      path: `/videos/${(await workspace.video()).videoId}/playback-tokens`,
      body: { expiresIn: 600 },
      // Playback tokens are not stored, so this effect cannot be counted.
      effects: async () => 1,
    }),
    renewed: ['token', 'url', 'expiresAt'],
  },
  'POST /webhooks': {
    prepare: async (workspace) => ({
      path: '/webhooks',
      body: { url: endpoint.url },
      another: { url: endpoint.url, enabled: true, description: null },
      effects: () => workspace.count('webhook_endpoints'),
    }),
    once: ['secret'],
  },
  'POST /webhooks/{id}/rotate-secret': {
    prepare: async (workspace) => {
      const id = await workspace.webhook();
      const secrets = () =>
        plane.db
          .selectFrom('webhook_endpoints')
          .select(['secret', 'previous_secret'])
          .where('id', '=', id)
          .executeTakeFirstOrThrow();
      const before = await secrets();
      return {
        path: `/webhooks/${id}/rotate-secret`,
        // After a second rotation, the previous secret would be that of the first rotation.
        effects: async () => Number((await secrets()).previous_secret === before.secret),
      };
    },
    once: ['secret'],
  },
  'POST /webhooks/{id}/test': {
    prepare: async (workspace) => {
      const id = await workspace.webhook();
      return { path: `/webhooks/${id}/test`, effects: async () => (await workspace.deliveries(id)).length };
    },
  },
  'POST /webhooks/{id}/deliveries/{deliveryId}/redeliver': {
    prepare: async (workspace) => {
      const id = await workspace.webhook();
      const delivery = await workspace.created(`/webhooks/${id}/test`);
      const attempts = () =>
        until(async () => {
          const [latest] = await workspace.deliveries(id);
          return latest?.nextAttemptAt === null && (latest as unknown as { attempts: number }).attempts;
        });
      await attempts();
      return {
        path: `/webhooks/${id}/deliveries/${delivery.id}/redeliver`,
        effects: async () => (await attempts()) - 1,
      };
    },
  },
};

test('every POST of the contract is tested here', () => {
  const posts = keyedOperations().filter(({ method }) => method === 'post');
  expect(Object.keys(OPERATIONS).toSorted()).toEqual(posts.map(({ name }) => name).toSorted());
});

describe.each(Object.entries(OPERATIONS))('%s', (_, { prepare, once = [], renewed = [] }) => {
  test('has one effect, and replays its response', async () => {
    const workspace = await Workspace.create();
    const { path, body, another = {}, effects } = await prepare(workspace);
    expect(code(await workspace.post(path, body, 'x'.repeat(256)))).toEqual([400, 'validation_failed']);
    const key = randomUUID();
    const first = await workspace.post(path, body, key);
    expect(first.status).toBeLessThan(300);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    for (const name of [...once, ...renewed]) expect(first.body[name]).toEqual(expect.any(String));
    expect(await effects()).toBe(1);

    for (let n = 0; n < 2; n += 1) {
      const again = await workspace.post(path, body, key);
      expect(again.status).toBe(first.status);
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(again.headers.location).toBe(first.headers.location);
      const expected = { ...first.body };
      for (const name of once) delete expected[name];
      for (const name of renewed) expected[name] = expect.any(String);
      expect(again.body).toEqual(expected);
    }
    expect(code(await workspace.post(path, another, key))).toEqual([422, 'idempotency_key_reused']);
    expect(await effects()).toBe(1);
  });

  test('of ten concurrent requests to two control planes, one has an effect', async () => {
    const workspace = await Workspace.create();
    const { path, body, effects } = await prepare(workspace);
    const key = randomUUID();
    const planes = [plane.url, another.url];
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) => workspace.post(path, body, key, planes[n % 2])),
    );
    const effective = responses.filter((response) => response.status < 300 && !replayed(response));
    expect(effective).toHaveLength(1);
    for (const response of responses) {
      if (response.status >= 300) expect(code(response)).toEqual([409, 'idempotency_key_in_use']);
    }
    expect(await effects()).toBe(1);
    expect(await workspace.count('idempotency_keys')).toBe(1);
  });
});

describe('a key', () => {
  const ticket = { filename: 'a.mp4' };

  test('belongs to one path of one workspace', async () => {
    const [one, other] = [await Workspace.create(), await Workspace.create()];
    const key = 'the same';
    const created = [
      await one.post('/videos/upload-ticket', ticket, key),
      await other.post('/videos/upload-ticket', ticket, key),
      await one.post('/api-keys', { name: 'A' }, key),
    ];
    expect(created.map((response) => [response.status, replayed(response)])).toEqual([
      [201, false],
      [201, false],
      [201, false],
    ]);
    const [a, b] = [await one.video(), await one.video()];
    for (const { videoId } of [a, b]) {
      const response = await one.post(`/videos/${videoId}/playback-tokens`, undefined, key);
      expect([response.status, replayed(response)]).toEqual([201, false]);
    }
  });

  test('belongs to one environment: the key of the other one gets no replay', async () => {
    const workspace = await Workspace.create();
    expect((await workspace.post('/videos/upload-ticket', ticket, 'k')).status).toBe(201);
    const secret = newApiKeySecret('test');
    await createFullKey(plane.db, { workspaceId: workspace.id, name: 'Test', secret });
    const response = await request(plane.url)
      .post('/v1/videos/upload-ticket')
      .set({ authorization: `Bearer ${secret}`, 'x-svc-workspace': workspace.id, 'idempotency-key': 'k' })
      .send(ticket);
    expect(code(response)).toEqual([422, 'idempotency_key_reused']);
    expect(await workspace.count('videos')).toBe(1);
  });

  test('matches whatever the order of members, white space and escapes in the path', async () => {
    const workspace = await Workspace.create();
    await workspace.post('/videos/upload-ticket', { filename: 'a.mp4', metadata: { a: '1', b: '2' } }, 'k');
    const ticket = await workspace
      .post('/videos/upload-ticket', undefined, 'k')
      .type('json')
      .send('{ "metadata": {"b":"2", "a":"1"},\n "filename": "a.mp4" }');
    expect([ticket.status, replayed(ticket)]).toEqual([201, true]);
    const { videoId } = ticket.body;
    await workspace.post(`/videos/${videoId}/playback-tokens`, { expiresIn: 60 }, 'k');
    const token = await workspace.post(
      `/videos/${videoId.replace('_', '%5F')}/playback-tokens`,
      { expiresIn: 60 },
      'k',
    );
    expect([token.status, replayed(token)]).toEqual([201, true]);
  });

  test.each([
    ['empty', ''],
    ['256 characters long', 'x'.repeat(256)],
    ['not ASCII', 'cl\u00e9'],
    ['split by a tab', 'a\tb'],
  ])('that is %s is 400, and nothing is stored', async (_, key) => {
    const workspace = await Workspace.create();
    const response = await workspace.post('/videos/upload-ticket', ticket, key);
    expect(code(response)).toEqual([400, 'validation_failed']);
    expect(response.body.errors[0].field).toBe('headers/idempotency-key');
    expect([await workspace.count('videos'), await workspace.count('idempotency_keys')]).toEqual([0, 0]);
  });

  test('can have 255 characters', async () => {
    const workspace = await Workspace.create();
    const key = `${'x '.repeat(127)}~`;
    expect((await workspace.post('/videos/upload-ticket', ticket, key)).status).toBe(201);
    expect(replayed(await workspace.post('/videos/upload-ticket', ticket, key))).toBe(true);
  });

  test('can be used again after 24 hours, and is deleted from the database', async () => {
    const workspace = await Workspace.create();
    await workspace.post('/videos/upload-ticket', ticket, 'k');
    const hours = (count: number) => new Date(Date.now() - count * 3_600_000);
    await workspace.changeKeys({ created_at: hours(23.9) });
    expect(replayed(await workspace.post('/videos/upload-ticket', ticket, 'k'))).toBe(true);
    await workspace.changeKeys({ created_at: hours(24) });
    const another = await workspace.post('/videos/upload-ticket', { filename: 'b.mp4' }, 'k');
    expect([another.status, replayed(another)]).toEqual([201, false]);
    expect(await workspace.count('videos')).toBe(2);

    await workspace.changeKeys({ created_at: hours(23.9) });
    await plane.maintain('prune-idempotency-keys');
    expect(await workspace.count('idempotency_keys')).toBe(1);
    await workspace.changeKeys({ created_at: hours(24) });
    await workspace.post('/videos/upload-ticket', ticket, 'recent');
    await plane.maintain('prune-idempotency-keys');
    await until(async () => (await workspace.count('idempotency_keys')) === 1);
    expect(replayed(await workspace.post('/videos/upload-ticket', ticket, 'recent'))).toBe(true);
  });
});

describe('a request in progress', () => {
  test('leases its key', async () => {
    const workspace = await Workspace.create();
    const release = await workspace.blockWebhooks();
    const first = workspace.post('/webhooks', { url: endpoint.url }, 'k').then((response) => response);
    await waiting(1);
    const second = await workspace.post('/webhooks', { url: endpoint.url }, 'k');
    expect(code(second)).toEqual([409, 'idempotency_key_in_use']);
    expect(second.headers['retry-after']).toBe('1');
    const other = await workspace.post('/webhooks', { url: `${endpoint.url}other` }, 'k');
    expect(code(other)).toEqual([422, 'idempotency_key_reused']);
    await release();
    expect((await first).status).toBe(201);
    expect(replayed(await workspace.post('/webhooks', { url: endpoint.url }, 'k'))).toBe(true);
  });

  test('continues when its client disconnects, and a retry gets its response', async () => {
    const workspace = await Workspace.create();
    const release = await workspace.blockWebhooks();
    const call = workspace.post('/webhooks', { url: endpoint.url }, 'k');
    const end = call.then(
      () => 'response',
      () => 'disconnected',
    );
    await waiting(1);
    call.abort();
    expect(await end).toBe('disconnected');
    await release();
    await until(async () => (await workspace.count('webhook_endpoints')) === 1);
    const again = await workspace.post('/webhooks', { url: endpoint.url }, 'k');
    expect([again.status, replayed(again)]).toEqual([201, true]);
    expect(again.headers.location).toBe(`http://framelane.test/v1/webhooks/${again.body.id}`);
    expect(await workspace.count('webhook_endpoints')).toBe(1);
  });

  test('has no effect when its database connection ends, and releases its key at once', async () => {
    const workspace = await Workspace.create();
    const release = await workspace.blockWebhooks();
    const first = workspace.post('/webhooks', { url: endpoint.url }, 'k').then((response) => response);
    const [pid] = await waiting(1);
    await sql`select pg_terminate_backend(${pid})`.execute(plane.db);
    expect((await first).status).toBe(503);
    await release();
    const again = await workspace.post('/webhooks', { url: endpoint.url }, 'k');
    expect([again.status, replayed(again)]).toEqual([201, false]);
    expect(await workspace.count('webhook_endpoints')).toBe(1);
  });

  test('has no effect when its lease expired and another request took the key', async () => {
    const workspace = await Workspace.create();
    const release = await workspace.blockWebhooks();
    const first = workspace.post('/webhooks', { url: endpoint.url }, 'k').then((response) => response);
    await waiting(1);
    await workspace.changeKeys({ leased_until: new Date(Date.now() - 1) });
    const second = workspace.post('/webhooks', { url: endpoint.url }, 'k').then((response) => response);
    await waiting(2);
    await release();
    expect(code(await first)).toEqual([409, 'idempotency_key_in_use']);
    expect((await second).status).toBe(201);
    expect(await workspace.count('webhook_endpoints')).toBe(1);
    const again = await workspace.post('/webhooks', { url: endpoint.url }, 'k');
    expect([again.body.id, replayed(again)]).toEqual([(await second).body.id, true]);
  });

  test('has no effect when its process is killed, and its key stays leased until the lease expires', async () => {
    const workspace = await Workspace.create();
    const release = await workspace.blockWebhooks();
    const killed = await SeparateControlPlane.start(plane.databaseUrl);
    releases.push(() => killed.kill());
    const dead = workspace.post('/webhooks', { url: endpoint.url }, 'k', killed.url).then(
      () => 'response',
      () => 'disconnected',
    );
    await waiting(1);
    await killed.kill();
    expect(await dead).toBe('disconnected');
    await release();
    await waiting(0);
    const soon = await workspace.post('/webhooks', { url: endpoint.url }, 'k');
    expect(code(soon)).toEqual([409, 'idempotency_key_in_use']);
    await workspace.changeKeys({ leased_until: new Date() });
    const later = await workspace.post('/webhooks', { url: endpoint.url }, 'k');
    expect([later.status, replayed(later)]).toEqual([201, false]);
    expect(await workspace.count('webhook_endpoints')).toBe(1);
  });
});

describe('an error response', () => {
  test('caused by the state of a resource is replayed unchanged', async () => {
    const workspace = await Workspace.create();
    const { videoId } = await workspace.video();
    const first = await workspace.post(`/videos/${videoId}/retry`, undefined, 'k');
    expect(code(first)).toEqual([409, 'video_not_failed']);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    const again = await workspace.post(`/videos/${videoId}/retry`, undefined, 'k');
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers['content-type']).toBe('application/problem+json');
    expect(again.text).toBe(first.text);
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);

    const missing = `/videos/${newId('vid')}/retry`;
    const notFound = await workspace.post(missing, undefined, 'k');
    expect(code(notFound)).toEqual([404, 'video_not_found']);
    expect((await workspace.post(missing, undefined, 'k')).text).toBe(notFound.text);
  });

  test('caused by invalid input or a missing permission is not stored', async () => {
    const workspace = await Workspace.create();
    const keyWriter = await workspace.created('/api-keys', { name: 'A', permissions: ['api_keys:write'] });
    const escalated = await request(plane.url)
      .post('/v1/api-keys')
      .set({
        authorization: `Bearer ${keyWriter.secret}`,
        'x-svc-workspace': workspace.id,
        'idempotency-key': 'k',
      })
      .send({ name: 'B', permissions: ['videos:read'] });
    expect(code(escalated)).toEqual([403, 'permission_escalation']);
    const past = { name: 'B', expiresAt: '2020-01-01T00:00:00Z' };
    expect(code(await workspace.post('/api-keys', past, 'k'))).toEqual([400, 'validation_failed']);
    expect(code(await workspace.post('/api-keys', { name: '' }, 'k'))).toEqual([400, 'validation_failed']);
    expect(await workspace.count('idempotency_keys')).toBe(0);
    const response = await workspace.post('/api-keys', { name: 'B', permissions: ['videos:read'] }, 'k');
    expect([response.status, replayed(response)]).toEqual([201, false]);
  });

  test('caused by an unavailable dependency is not stored', async () => {
    const workspace = await Workspace.create();
    const videoId = await workspace.failedVideo();
    jest.spyOn(plane.objects, 'head').mockRejectedValueOnce(new Error('unavailable'));
    expect(code(await workspace.post(`/videos/${videoId}/retry`, undefined, 'k'))).toEqual([
      503,
      'unavailable',
    ]);
    expect(await workspace.count('idempotency_keys')).toBe(0);
    const again = await workspace.post(`/videos/${videoId}/retry`, undefined, 'k');
    expect([again.status, replayed(again)]).toEqual([202, false]);
  });
});

describe('a replayed upload ticket', () => {
  const body = { filename: 'a.mp4' };
  const redeem = (token: string) =>
    plane.engine.request(INTERNAL_PATHS.redeemTicket, { token, contentLength: null, clientAddress: null });

  test('has a new token for the same video, and the previous token is invalid', async () => {
    const workspace = await Workspace.create();
    const tickets = [];
    for (let n = 0; n < 3; n += 1) {
      tickets.push((await workspace.post('/videos/upload-ticket', body, 'k')).body);
    }
    const [first, second, third] = tickets;
    expect(new Set(tickets.map(({ uploadToken }) => uploadToken)).size).toBe(3);
    for (const { uploadToken } of [first, second]) {
      expect((await redeem(uploadToken)).body).toMatchObject({ status: 401, code: 'upload_token_invalid' });
    }
    expect((await plane.engine.upload(third.uploadToken)).videoId).toBe(first.videoId);
  });

  test('does not interrupt a transfer in progress', async () => {
    const workspace = await Workspace.create();
    const first = (await workspace.post('/videos/upload-ticket', body, 'k')).body;
    const transfer = await plane.engine.redeem(first.uploadToken);
    const again = await workspace.post('/videos/upload-ticket', body, 'k');
    expect(again.status).toBe(201);
    expect((await redeem(again.body.uploadToken)).body.code).toBe('upload_in_progress');
    await plane.engine.report('upload.completed', {
      videoId: transfer.videoId,
      transferId: transfer.transferId,
      bytes: 1,
      sha256: 'ab'.repeat(32),
    });
    expect((await workspace.get(`/videos/${first.videoId}`)).body.status).toBe('processing');
  });

  test.each<[string, (workspace: Workspace, ticket: { videoId: string; uploadToken: string }) => unknown]>([
    ['the upload completed', (_, { uploadToken }) => plane.engine.upload(uploadToken)],
    [
      'the ticket expired',
      (_, { videoId }) =>
        plane.db
          .updateTable('upload_tickets')
          .set({ expires_at: new Date() })
          .where('video_id', '=', videoId)
          .execute(),
    ],
    ['the video was deleted', (workspace, { videoId }) => workspace.delete(`/videos/${videoId}`)],
  ])('is 409 after %s, and creates no other video', async (_, happen) => {
    const workspace = await Workspace.create();
    const first = (await workspace.post('/videos/upload-ticket', body, 'k')).body;
    await happen(workspace, first);
    for (let n = 0; n < 2; n += 1) {
      const again = await workspace.post('/videos/upload-ticket', body, 'k');
      expect(code(again)).toEqual([409, 'upload_ticket_closed']);
      expect(again.body.videoId).toBe(first.videoId);
    }
    expect(await workspace.count('videos')).toBe(1);
  });
});

test('the table of idempotency keys contains no secret, no key and no request body', async () => {
  const workspace = await Workspace.create();
  const sensitive: string[] = [];
  for (const { prepare, once = [], renewed = [] } of Object.values(OPERATIONS)) {
    const { path, body } = await prepare(workspace);
    const key = randomUUID();
    // No response contains this field of a ticket.
    const passthrough = randomUUID();
    const marked = path.endsWith('/upload-ticket') ? { ...body, passthrough } : body;
    for (let n = 0; n < 2; n += 1) {
      const response = await workspace.post(path, marked, key);
      sensitive.push(...[...once, ...renewed].flatMap((name) => response.body[name] ?? []));
    }
    sensitive.push(key, passthrough);
  }
  const secrets = sensitive.filter((text) => !/^\d{4}-/.test(text));
  expect(secrets.length).toBeGreaterThan(20);
  const { rows } = await sql<{ line: string }>`select t::text as line from idempotency_keys t`.execute(
    plane.db,
  );
  const dump = rows.map(({ line }) => line).join('\n');
  expect(rows.length).toBeGreaterThanOrEqual(Object.keys(OPERATIONS).length);
  for (const secret of secrets) {
    expect(dump).not.toContain(secret);
    expect(dump).not.toContain(Buffer.from(secret).toString('hex'));
  }
});
