import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { COMMAND_TYPES } from '@framelane/contracts/messages';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newTimeline } from '../src/backups/backup-id.ts';
import { ensureTimeline, storeBackup } from '../src/backups/backup-state.store.ts';
import { SystemService } from '../src/system/system.service.ts';
import { type ConsoleSession, signIn } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { localWebhooks, WebhookClient } from './support/webhooks.ts';

const ENGINE = {
  engineId: 'eng_1',
  host: 'transcoder-1',
  port: 8091,
  state: 'working',
  roles: ['transcode'],
  version: '0.1.0',
  nodeVersion: '24.21.0',
  ffmpegVersion: '7.1.5',
  hardware: { kind: 'vaapi', refusal: 'The device is missing.' },
  uptimeSeconds: 60,
  slots: 2,
  slotsBusy: 1,
  tasks: 3,
  uploads: 0,
  imports: 0,
  diskFreeBytes: 5e9,
};

let plane: TestControlPlane;
let administrator: ConsoleSession;
beforeAll(async () => {
  plane = await startControlPlane(localWebhooks);
  administrator = await signIn(plane, { administrator: true });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await plane.db.deleteFrom('engines').execute();
});
afterAll(() => plane.stop());

/** Reads the state from a new control plane, which has no shared reading yet. */
async function read(): Promise<request.Response> {
  const another = await plane.startAnother();
  const response = await request(another.url).get('/v1/console/system').set(administrator.headers);
  await another.stop();
  return response;
}

async function announce(changes: Partial<Record<keyof typeof ENGINE, unknown>> = {}): Promise<number> {
  return (await plane.engine.request(INTERNAL_PATHS.announceEngine, { ...ENGINE, ...changes })).status;
}

const silence = (seconds: number, id = ENGINE.engineId) =>
  plane.db
    .updateTable('engines')
    .set({ last_seen_at: sql<Date>`now() - make_interval(secs => ${seconds})` })
    .where('id', '=', id)
    .execute();

const enginesOf = async () => {
  const { body } = await read();
  return body.engines.map(({ id, status }: { id: string; status: string }) => [id, status]);
};

describe('engines', () => {
  test('are listed as they last announced themselves', async () => {
    expect(await announce()).toBe(204);
    expect(await announce({ slotsBusy: 2, diskFreeBytes: 4e9 })).toBe(204);
    const { engines } = (await read()).body;
    expect(engines).toEqual([
      {
        id: 'eng_1',
        status: 'working',
        host: 'transcoder-1',
        port: 8091,
        roles: ['transcode'],
        version: '0.1.0',
        nodeVersion: '24.21.0',
        ffmpegVersion: '7.1.5',
        hardware: { kind: 'vaapi', refusal: 'The device is missing.' },
        slots: 2,
        slotsBusy: 2,
        tasks: 3,
        uploads: 0,
        imports: 0,
        diskFreeBytes: 4e9,
        startedAt: expect.any(String),
        lastSeenAt: expect.any(String),
      },
    ]);
    const age = Date.parse(engines[0].lastSeenAt) - Date.parse(engines[0].startedAt);
    expect(age).toBeGreaterThan(59_000);
    expect(age).toBeLessThan(70_000);
  });

  test('that are silent for 20 seconds are listed as lost, until an hour has passed', async () => {
    await announce();
    await silence(18);
    expect(await enginesOf()).toEqual([['eng_1', 'working']]);
    await silence(21);
    expect(await enginesOf()).toEqual([['eng_1', 'lost']]);
    await silence(3590);
    await plane.maintain('prune-engines');
    expect(await enginesOf()).toEqual([['eng_1', 'lost']]);
    await silence(3601);
    expect(await enginesOf()).toEqual([]);
    await plane.maintain('prune-engines');
    expect(await plane.db.selectFrom('engines').selectAll().execute()).toEqual([]);
  });

  test('that stop are shown as stopping, and removed when they have stopped', async () => {
    await announce();
    await announce({ engineId: 'eng_2', port: 8092 });
    await announce({ state: 'stopping' });
    const other = ['eng_2', 'working'];
    expect(await enginesOf()).toEqual([['eng_1', 'stopping'], other]);
    await announce({ state: 'stopped' });
    expect(await enginesOf()).toEqual([other]);
  });

  test('that were killed are replaced by the engine that starts in their place, and by no other', async () => {
    await announce();
    await announce({ engineId: 'eng_2', port: 8092 });
    await announce({ engineId: 'eng_3', host: 'transcoder-2' });
    await silence(21);
    await announce({ engineId: 'eng_2', port: 8092 });
    await announce({ engineId: 'eng_3', host: 'transcoder-2' });
    expect(await enginesOf()).toEqual([
      ['eng_1', 'lost'],
      ['eng_2', 'working'],
      ['eng_3', 'working'],
    ]);
    await announce({ engineId: 'eng_4' });
    expect(await enginesOf()).toEqual([
      ['eng_4', 'working'],
      ['eng_2', 'working'],
      ['eng_3', 'working'],
    ]);
  });

  test('at the same host and port that are both alive are both listed', async () => {
    await announce();
    await announce({ engineId: 'eng_2' });
    await announce();
    expect(await enginesOf()).toHaveLength(2);
  });

  test('of an earlier run are forgotten when a single node starts', async () => {
    await announce();
    await plane.startAnotherAsSingleNode();
    expect(await enginesOf()).toEqual([]);
  });

  test('need the service secret, and a valid announcement', async () => {
    const response = await fetch(`${plane.engine.internalUrl}${INTERNAL_PATHS.announceEngine}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ENGINE),
    });
    expect(response.status).toBe(401);
    expect(await announce({ roles: ['cook'] })).toBe(400);
    expect(await enginesOf()).toEqual([]);
  });
});

test('the state of an installation with work', async () => {
  const { uploadToken: uploading } = await plane.ticket();
  await plane.engine.redeem(uploading);
  await plane.ticket();
  for (const running of [false, false, true]) {
    const { videoId, uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    if (running) await plane.engine.claim(videoId);
    else {
      await plane.db
        .updateTable('attempts')
        .set({ due_at: sql<Date>`now() - interval '90 seconds'` })
        .where('video_id', '=', videoId)
        .execute();
    }
  }
  await request(plane.url)
    .post('/v1/videos/import')
    .set(plane.credentials)
    .send({ url: 'https://media.example.com/a.mp4' });
  const { body } = await read();
  expect(body).toEqual({
    readAt: expect.any(String),
    versions: {
      framelane: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.versions.node,
      postgresql: expect.stringMatching(/^\d+\.\d+/),
      schema: expect.stringMatching(/^2026\d{4}-/),
    },
    health: {
      database: { kind: 'postgresql', status: 'healthy', latencyMs: expect.any(Number) },
      queue: { kind: 'in_process', status: 'healthy', latencyMs: expect.any(Number) },
      storage: { kind: 'files', status: 'healthy', latencyMs: expect.any(Number) },
    },
    engines: [],
    videos: {
      waiting: { count: 2, oldestSeconds: expect.any(Number) },
      running: { count: 1, oldestSeconds: expect.any(Number) },
    },
    uploads: { running: 1 },
    imports: {
      waiting: { count: 1, oldestSeconds: expect.any(Number) },
      running: { count: 0, oldestSeconds: 0 },
    },
    webhookDeliveries: { due: { count: 0, oldestSeconds: 0 }, scheduled: 0 },
    deadLetters: { commands: 0, events: 0 },
    backups: { last: null },
  });
  expect(body.videos.waiting.oldestSeconds).toBeGreaterThanOrEqual(90);
  await plane.engine.request(INTERNAL_PATHS.claimImport, {});
  const claimed = (await read()).body;
  expect(claimed.uploads).toEqual({ running: 1 });
  expect(claimed.imports).toMatchObject({ waiting: { count: 0 }, running: { count: 1 } });
});

test('webhook deliveries and dead letters are counted', async () => {
  await new WebhookClient(plane).create({ url: 'http://127.0.0.1:9/' });
  await plane.readyVideo();
  jest
    .spyOn(plane.bus, 'countDeadLetters')
    .mockImplementation(async (queue) => (queue === 'control-plane.events' ? 2 : 1));
  const scheduled = () =>
    plane.db
      .updateTable('webhook_deliveries')
      .set({ status: 'retrying', next_attempt_at: sql<Date>`now() + interval '1 hour'` })
      .where('status', '=', 'failed')
      .returning('id')
      .execute();
  await until(async () => (await scheduled()).length > 0);
  const { body } = await read();
  expect(body.deadLetters).toEqual({ commands: COMMAND_TYPES.length, events: 2 });
  expect(body.webhookDeliveries.scheduled).toBeGreaterThan(0);
});

test('the last backup has the time of its rows', async () => {
  const backup = {
    id: '20261121T020000123Z-0a1b2c3d4e5f6071',
    snapshotAt: '2026-11-21T02:00:00.140Z',
    completedAt: '2026-11-21T02:11:42.318Z',
    objects: 184_223,
    bytes: 912_680_550_400,
    missing: 2,
  };
  await ensureTimeline(plane.db, newTimeline());
  expect((await read()).body.backups).toEqual({ last: null });
  await storeBackup(plane.db, backup);
  const { last } = (await read()).body.backups;
  expect(last).toEqual({ ...backup, ageSeconds: expect.any(Number) });
  const age = (Date.now() - Date.parse(backup.snapshotAt)) / 1000;
  expect(Math.abs(last.ageSeconds - age)).toBeLessThan(3600);
});

describe('a part', () => {
  test('that fails or does not respond is unavailable, and the other parts are shown', async () => {
    jest.spyOn(plane.objects, 'check').mockReturnValue(new Promise(() => {}));
    jest.spyOn(plane.bus, 'check').mockRejectedValue(new Error('The broker is gone'));
    jest.spyOn(plane.bus, 'countDeadLetters').mockReturnValue(new Promise(() => {}));
    // Without a time limit for each part there would be no response.
    const { status, body } = await read();
    expect(status).toBe(200);
    expect(body.health).toMatchObject({
      database: { status: 'healthy' },
      queue: { status: 'unavailable', latencyMs: null },
      storage: { status: 'unavailable', latencyMs: null },
    });
    expect(body.deadLetters).toBeNull();
    expect(body.videos).not.toBeNull();
    expect(body.engines).not.toBeNull();
  });

  test('that cannot be read from the database is null', async () => {
    await sql`alter table engines rename to no_engines`.execute(plane.db);
    await sql`alter table kysely_migration rename to no_migrations`.execute(plane.db);
    try {
      const { body } = await read();
      expect(body.engines).toBeNull();
      expect(body.versions).toMatchObject({ postgresql: null, schema: null, node: process.versions.node });
      expect(body.videos).not.toBeNull();
    } finally {
      await sql`alter table no_engines rename to engines`.execute(plane.db);
      await sql`alter table no_migrations rename to kysely_migration`.execute(plane.db);
    }
  });

  test('is slow when its check takes more than a second', async () => {
    const check = plane.objects.check.bind(plane.objects);
    const clock = jest.spyOn(performance, 'now');
    jest.spyOn(plane.objects, 'check').mockImplementation(async () => {
      clock.mockReturnValue(performance.now() + 1_100);
      await check();
    });
    expect((await read()).body.health.storage.status).toBe('slow');
  });
});

test('concurrent requests share one reading, and one that comes seconds later gets a new one', async () => {
  const check = jest.spyOn(plane.objects, 'check');
  const another = await plane.startAnother();
  const get = () => request(another.url).get('/v1/console/system').set(administrator.headers);
  const [first, second] = await Promise.all([get(), get()]);
  expect(second.body).toEqual(first.body);
  expect(check).toHaveBeenCalledTimes(1);
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 2_500);
  await get();
  expect(check).toHaveBeenCalledTimes(2);
  await another.stop();
});

test('a request during a reading that takes long gets the result of that reading', async () => {
  const released = Promise.withResolvers<void>();
  const check = jest.spyOn(plane.objects, 'check').mockImplementation(() => released.promise);
  const another = await plane.startAnother();
  const clock = jest.spyOn(performance, 'now');
  const get = () => request(another.url).get('/v1/console/system').set(administrator.headers);
  const first = get().then(({ body }) => body);
  await until(async () => check.mock.calls.length === 1);
  clock.mockReturnValue(performance.now() + 2_500);
  const arrived = jest.spyOn(SystemService.prototype, 'read');
  const second = get().then(({ body }) => body);
  await until(async () => arrived.mock.calls.length === 1);
  released.resolve();
  expect(await second).toEqual(await first);
  expect(check).toHaveBeenCalledTimes(1);
  await another.stop();
});

test('only the session of an administrator may read the state', async () => {
  const outcome = async (headers: Record<string, string>) => {
    const { status, body } = await request(plane.url).get('/v1/console/system').set(headers);
    return [status, body.code];
  };
  expect(await outcome((await signIn(plane)).headers)).toEqual([403, 'insufficient_permissions']);
  expect(await outcome(plane.credentials)).toEqual([401, 'console_session_missing']);
  expect(await outcome({})).toEqual([401, 'console_session_missing']);
  expect(await outcome({ ...administrator.headers, 'sec-fetch-site': 'cross-site' })).toEqual([
    403,
    'csrf_check_failed',
  ]);
});
