import { randomBytes } from 'node:crypto';
import { UnprocessableMessageError } from '@framelane/message-bus/message-bus';
import { segmentKey } from '@framelane/object-store/object-keys';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { FOLDER } from './support/manifest.ts';
import { type Respond, TestEndpoint } from './support/test-endpoint.ts';
import { deleteVideo, localWebhooks, WebhookClient } from './support/webhooks.ts';

let plane: TestControlPlane;
let webhooks: WebhookClient;
const endpoints: TestEndpoint[] = [];
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...localWebhooks(config),
    // Tests run the steps themselves.
    maintenanceSeconds: 3600,
    attempts: { ...config.attempts, leaseSeconds: 1 },
  }));
  webhooks = new WebhookClient(plane);
});
afterEach(async () => {
  await plane.db.deleteFrom('webhook_endpoints').execute();
  await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.stop()));
});
afterAll(() => plane.stop());

/** A webhook to an endpoint with this response. */
async function webhookTo(respond?: Respond): Promise<string> {
  const endpoint = await TestEndpoint.start(respond);
  endpoints.push(endpoint);
  return (await webhooks.create({ url: endpoint.url })).id;
}

async function scrape(): Promise<PrometheusText> {
  const response = await fetch(`${plane.engine.internalUrl}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return PrometheusText.parse(await response.text());
}

/** Expects this growth of the metrics with this prefix. A response can arrive before it is counted. */
async function grown(
  before: PrometheusText,
  prefix: string,
  expected: Record<string, number>,
): Promise<void> {
  const growth = async () => (await scrape()).growthSince(before, prefix);
  const isAll = async () => Object.keys(await growth()).length >= Object.keys(expected).length;
  await until(isAll);
  expect(await growth()).toEqual(expected);
}

function get(path: string, headers: Record<string, string> = plane.credentials): Promise<Response> {
  return fetch(`${plane.url}${path}`, { headers });
}

/** At least this age, and at most the duration of the test more. */
function expectAge(age: number | undefined, seconds: number): void {
  expect(age).toBeGreaterThanOrEqual(seconds);
  expect(age).toBeLessThan(seconds + 300);
}

describe('GET /metrics', () => {
  test('needs no credentials, and is not on the public listener', async () => {
    expect((await scrape()).series.get('framelane_database_up')).toBe(1);
    expect((await get('/metrics')).status).toBe(404);
    expect((await get('/v1/metrics')).status).toBe(404);
  });

  test('includes the process and its database connections', async () => {
    const { series } = await scrape();
    expect(series.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(series.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
    expect(series.get('framelane_database_connections{state="idle"}')).toBeGreaterThan(0);
  });
});

describe('requests', () => {
  const requests = 'framelane_http_requests_total';

  test('are counted by template, method and status', async () => {
    const { videoId } = await plane.ticket();
    const before = await scrape();
    await get(`/v1/videos/${videoId}`);
    await get('/v1/videos/vid_00000000000000000000000000');
    await fetch(`${plane.url}/v1/videos?limit=1`, { method: 'HEAD', headers: plane.credentials });
    await fetch(`${plane.url}/v1/videos`, { method: 'PUT', headers: plane.credentials });
    await get('/healthz');
    await plane.engine.request('/internal/v1/upload-tickets/redeem', {
      token: 'no',
      contentLength: null,
      clientAddress: null,
    });
    await grown(before, requests, {
      [`${requests}{method="GET",route="/healthz",status="200"}`]: 1,
      [`${requests}{method="GET",route="/v1/videos/{id}",status="200"}`]: 1,
      [`${requests}{method="GET",route="/v1/videos/{id}",status="404"}`]: 1,
      [`${requests}{method="HEAD",route="/v1/videos",status="200"}`]: 1,
      [`${requests}{method="POST",route="/internal/v1/upload-tickets/redeem",status="401"}`]: 1,
      [`${requests}{method="PUT",route="unmatched",status="405"}`]: 1,
    });
  });

  test('that fail are counted by problem code', async () => {
    const problems = 'framelane_http_problems_total';
    const before = await scrape();
    const { 'x-svc-workspace': workspace } = plane.credentials as { 'x-svc-workspace': string };
    await get('/v1/videos', {});
    await get('/v1/videos', {
      authorization: 'Bearer svc_live_0000000000000000',
      'x-svc-workspace': workspace,
    });
    await get('/v1/videos', { ...plane.credentials, 'x-svc-workspace': 'ws_other' });
    await grown(before, problems, {
      [`${problems}{code="invalid_api_key"}`]: 1,
      [`${problems}{code="missing_api_key"}`]: 1,
      [`${problems}{code="workspace_mismatch"}`]: 1,
    });
  });

  test('to a thousand random paths add only a few series', async () => {
    const before = await scrape();
    for (let round = 0; round < 20; round += 1) {
      const paths = Array.from({ length: 50 }, () => madeUpPath());
      await Promise.all(paths.map(async (path) => (await get(path)).arrayBuffer()));
    }
    const after = await scrape();
    expect(after.series.size - before.series.size).toBeLessThan(100);
    const labels = [...after.series.keys()].join('\n');
    expect(labels).not.toMatch(/made-up|vid_|ws_|svc_|key_/);
    expect(labels).not.toContain(plane.workspaceId);
  });
});

function madeUpPath(): string {
  const id = `made-up-${randomBytes(6).toString('hex')}`;
  const places = [
    `/${id}`,
    `/v1/${id}`,
    `/v1/videos/${id}`,
    `/v1/hls/${id}/${id}/master.m3u8`,
    `/v1/%ff${id}`,
  ];
  return places[randomBytes(1).readUInt8() % places.length] ?? id;
}

describe('videos', () => {
  const counters = /^framelane_(uploads|videos|video|transcode|webhook|webhooks|hls)_.*(_total|_count)/;

  /** The growth of all counters except those of requests. */
  async function counted(before: PrometheusText): Promise<Record<string, number>> {
    const growth = (await scrape()).growthSince(before, 'framelane_');
    return Object.fromEntries(Object.entries(growth).filter(([series]) => counters.test(series)));
  }

  test('an upload, its attempts and the ready video', async () => {
    const before = await scrape();
    const { videoId, uploadToken } = await plane.ticket();
    const transfer = await plane.engine.upload(uploadToken);
    expect(await counted(before)).toEqual({ framelane_uploads_completed_total: 1 });

    const first = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, first.attempt, { code: 'engine_stopped', retryable: true });
    const second = await plane.engine.claim(videoId);
    await sql`update videos set uploaded_at = now() - interval '1000 s' where id = ${videoId}`.execute(
      plane.db,
    );
    await plane.engine.complete(videoId, second.attempt);
    // Repeated reports are not counted.
    await plane.engine.complete(videoId, second.attempt);
    await plane.engine.report('upload.completed', {
      videoId,
      transferId: transfer.transferId,
      bytes: 1,
      sha256: 'ab'.repeat(32),
    });
    expect(await counted(before)).toEqual({
      framelane_uploads_completed_total: 1,
      'framelane_transcode_attempts_total{outcome="handed_back"}': 1,
      'framelane_transcode_attempts_total{outcome="completed"}': 1,
      'framelane_videos_finished_total{outcome="ready",code=""}': 1,
      framelane_video_processing_duration_seconds_count: 1,
    });
    const total = 'framelane_video_processing_duration_seconds_sum';
    expectAge((await scrape()).growthSince(before, total)[total], 1000);
  });

  test('a video that fails, by code', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    const { attempt } = await plane.engine.claim(videoId);
    const before = await scrape();
    await plane.engine.fail(videoId, attempt, { code: 'not_a_video', message: 'No video.' });
    expect(await counted(before)).toEqual({
      'framelane_transcode_attempts_total{outcome="failed"}': 1,
      'framelane_videos_finished_total{outcome="failed",code="not_a_video"}': 1,
    });
  });

  test('an expired ticket and a lost attempt', async () => {
    const { videoId: unused } = await plane.ticket();
    const { videoId: silent, uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    await plane.engine.claim(silent);
    const before = await scrape();
    await sql`update upload_tickets set expires_at = now() where video_id = ${unused}`.execute(plane.db);
    await sql`update tasks set lease_expires_at = now() where video_id = ${silent}`.execute(plane.db);
    await until(async () => {
      await plane.maintain('expire-tickets', 'end-expired-tasks');
      return Object.keys(await counted(before)).length === 2;
    });
    expect(await counted(before)).toEqual({
      'framelane_transcode_attempts_total{outcome="lease_expired"}': 1,
      'framelane_videos_finished_total{outcome="failed",code="upload_expired"}': 1,
    });
  });

  test('responses to players', async () => {
    const { videoId } = await plane.readyVideo();
    const { workspaceId } = plane;
    const segment = segmentKey({ workspaceId, videoId, attempt: 1, folder: FOLDER }, '360p', 0, 'ts');
    await plane.objects.put(segment, randomBytes(480_000), 'video/mp2t');
    const before = await scrape();
    const hls = `/v1/hls/${workspaceId}/${videoId}`;
    for (const path of ['master.m3u8', '360p/0.ts', '360p/7.ts', 'key']) {
      await (await get(`${hls}/${path}`, {})).arrayBuffer();
    }
    const kinds = (metric: string) => (kind: string) => `framelane_hls_${metric}_total{kind="${kind}"}`;
    await until(async () => Object.keys(await counted(before)).length === 6);
    const growth = await counted(before);
    expect(['playlist', 'segment', 'key', 'image'].map((kind) => growth[kinds('responses')(kind)])).toEqual([
      1,
      1,
      1,
      undefined,
    ]);
    expect(growth[kinds('response_bytes')('segment')]).toBeGreaterThan(480_000);
    expect(growth[kinds('response_bytes')('key')]).toBeLessThan(2000);
  });

  test('webhook attempts that succeed, are retried or fail, and a disabled webhook', async () => {
    const before = await scrape();
    const made = [
      await webhookTo(),
      await webhookTo((res) => res.writeHead(500).end()),
      await webhookTo((res) => res.writeHead(410).end()),
    ];
    await deleteVideo(plane, (await plane.ticket()).videoId);
    await Promise.all(made.map((id) => webhooks.settled(id)));
    const attempts = (outcome: string) => `framelane_webhook_delivery_attempts_total{outcome="${outcome}"}`;
    await until(async () => Object.keys(await counted(before)).length === 4);
    expect(await counted(before)).toEqual({
      [attempts('succeeded')]: 1,
      [attempts('retrying')]: 2,
      [attempts('failed')]: 2,
      'framelane_webhooks_disabled_total{reason="gone"}': 1,
    });
  });
});

describe('queues', () => {
  test('of videos: the number and age of those that wait, also after a command is sent again', async () => {
    const queue = 'framelane_videos_processing';
    await plane.db.deleteFrom('attempts').execute();
    const [waiting, running] = [await plane.ticket(), await plane.ticket()];
    for (const { uploadToken } of [waiting, running]) await plane.engine.upload(uploadToken);
    await plane.engine.claim(running.videoId);
    await sql`
      update attempts set due_at = now() - interval '1000 s' where video_id = ${waiting.videoId}`.execute(
      plane.db,
    );
    await sql`
      update tasks set command_published_at = now() - interval '1000 s', command_due_at = null
      where video_id = ${waiting.videoId}`.execute(plane.db);
    await sql`update attempts set started_at = now() - interval '50 s' where video_id = ${running.videoId}`.execute(
      plane.db,
    );
    // As if the queue had lost it.
    const counting = jest.spyOn(plane.bus, 'countWaiting').mockResolvedValue(0);
    for (let n = 0; n < 2; n++) await plane.maintain('reissue-lost-commands');
    counting.mockRestore();
    await until(async () => {
      const { command_published_at } = await planningOf(waiting.videoId);
      return command_published_at !== null && Date.now() - command_published_at.getTime() < 60_000;
    });
    const { series } = await scrape();
    expect(series.get(`${queue}{state="waiting"}`)).toBe(1);
    expect(series.get(`${queue}{state="running"}`)).toBe(1);
    expectAge(series.get(`${queue}_oldest_age_seconds{state="waiting"}`), 1000);
    expectAge(series.get(`${queue}_oldest_age_seconds{state="running"}`), 50);
  });

  function planningOf(videoId: string) {
    return plane.db.selectFrom('tasks').selectAll().where('video_id', '=', videoId).executeTakeFirstOrThrow();
  }

  test('of background work that is due', async () => {
    const busy = sql`now() + interval '1 hour'`;
    await sql`
      update maintenance_steps set claimed_until = ${busy},
        due_at = case name when 'prune-tombstones' then now() - interval '200 s' else ${busy} end`.execute(
      plane.db,
    );
    const [due, scheduled] = [await plane.ticket(), await plane.ticket()];
    for (const { videoId } of [due, scheduled]) {
      const seconds = videoId === due.videoId ? 100 : -100;
      await sql`
        insert into object_purges (video_id, due_at, claimed_until)
        values (${videoId}, now() - make_interval(secs => ${seconds}), ${busy})`.execute(plane.db);
    }
    const { series } = await scrape();
    for (const [work, count, seconds] of [
      ['plan-commands', 0, 0],
      ['object-purges', 1, 100],
      ['maintenance', 1, 200],
    ] as const) {
      expect(series.get(`framelane_background_work{work="${work}"}`)).toBe(count);
      expectAge(series.get(`framelane_background_work_oldest_age_seconds{work="${work}"}`), seconds);
    }
  });

  test('of webhook deliveries', async () => {
    const id = await webhookTo((res) => res.writeHead(503, { 'retry-after': '600' }).end());
    await deleteVideo(plane, (await plane.ticket()).videoId);
    await until(async () => (await webhooks.deliveries(id))[0]?.attempts === 1);
    const queue = 'framelane_webhook_deliveries_open';
    expect((await scrape()).withPrefix(queue)).toEqual({
      [`${queue}{state="due"}`]: 0,
      [`${queue}{state="scheduled"}`]: 1,
      [`${queue}_oldest_age_seconds{state="due"}`]: 0,
    });
    await sql`update webhook_deliveries set next_attempt_at = now() - interval '90 s'`.execute(plane.db);
    const { series } = await scrape();
    expect(series.get(`${queue}{state="due"}`)).toBe(1);
    expectAge(series.get(`${queue}_oldest_age_seconds{state="due"}`), 90);
  });
});

test('dead letters have counts, unless the broker is unavailable', async () => {
  const queue = (name: string) => `framelane_dead_letters{queue="${name}.dead"}`;
  const count = async () => (await scrape()).withPrefix('framelane_dead_letters');
  expect(await count()).toEqual({
    [queue('control-plane.events')]: 0,
    [queue('engine.commands')]: 0,
    [queue('engine.derivations')]: 0,
    [queue('engine.pictures')]: 0,
    [queue('engine.clips')]: 0,
    [queue('engine.transcriptions')]: 0,
    [queue('engine.tasks')]: 0,
    [queue('engine.background')]: 0,
  });
  const consumer = await plane.bus.consume('engine.commands', { prefetch: 1 }, async () => {
    throw new UnprocessableMessageError('makes no sense');
  });
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  await until(async () => ((await count())[queue('engine.commands')] ?? 0) > 0);
  await consumer.stop();
  await deleteVideo(plane, videoId);

  const asking = jest.spyOn(plane.bus, 'countDeadLetters').mockRejectedValue(new Error('away'));
  expect(await count()).toEqual({});
  asking.mockRestore();
});

describe('an unavailable database', () => {
  /** The groups of gauges of the database that a scrape has. */
  const groupsIn = (metrics: PrometheusText) =>
    [
      'framelane_videos_processing',
      'framelane_tasks_open',
      'framelane_optional_tasks_open',
      'framelane_imports_open',
      'framelane_background_work',
      'framelane_webhook_deliveries_open',
      'framelane_secrets_to_reseal',
    ].filter((prefix) => Object.keys(metrics.withPrefix(prefix)).length > 0);

  test('removes its gauges and no other metrics', async () => {
    expect(groupsIn(await scrape())).toHaveLength(7);
    await sql`alter table webhook_deliveries rename to webhook_deliveries_away`.execute(plane.db);
    const metrics = await scrape();
    await sql`alter table webhook_deliveries_away rename to webhook_deliveries`.execute(plane.db);
    const { series } = metrics;
    expect(series.get('framelane_database_up')).toBe(0);
    expect(groupsIn(metrics)).toEqual([]);
    expect(series.get('framelane_uploads_completed_total')).toBeGreaterThan(0);
    expect((await scrape()).series.get('framelane_database_up')).toBe(1);
  });

  test('delays a scrape by the timeout at most', async () => {
    const { slow, seconds } = await plane.db.transaction().execute(async (trx) => {
      await sql`lock table webhook_deliveries in access exclusive mode`.execute(trx);
      const startedAt = performance.now();
      const slow = await scrape();
      return { slow, seconds: (performance.now() - startedAt) / 1000 };
    });
    // The timeout is 3 s. Without it, the server cancels the statement after 5 s.
    expect(seconds).toBeLessThan(5);
    expect(slow.series.get('framelane_database_up')).toBe(0);
    expect((await scrape()).series.get('framelane_database_up')).toBe(1);
  });
});
