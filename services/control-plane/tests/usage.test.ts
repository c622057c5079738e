import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { newId } from '@framelane/contracts/ids';
import { segmentKey } from '@framelane/object-store/object-keys';
import type { components } from '@framelane/openapi/types';
import { closeServer, listen } from '@framelane/service-kit/http-server';
import { createLogger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import { sql } from 'kysely';
import request from 'supertest';
import { Metrics } from '../src/metrics/metrics.ts';
import { BandwidthMeter } from '../src/usage/bandwidth-meter.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { FOLDER, sampleManifest } from './support/manifest.ts';

type Usage = components['schemas']['Usage'];

/** Longer than any test runs. */
const NEVER = 3600;

let plane: TestControlPlane;
const start = async () => {
  plane = await startControlPlane((config) => ({ ...config, usageFlushSeconds: 1 }));
};
const stop = () => plane.stop();

const getUsage = (query = '', headers = plane.credentials) =>
  request(plane.url).get(`/v1/auth/usage${query}`).set(headers);

/** The UTC date this many days before today. */
function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

async function usage(query = '', headers = plane.credentials): Promise<Usage> {
  const response = await getUsage(query, headers);
  expect(response.status).toBe(200);
  return response.body;
}

/** Headers of a new key. */
async function newKey(body: object): Promise<Record<string, string>> {
  const response = await request(plane.url)
    .post('/v1/api-keys')
    .set(plane.credentials)
    .send({ name: 'Another', ...body });
  return { ...plane.credentials, authorization: `Bearer ${response.body.secret}` };
}

/** A ready video with one stored segment. */
async function playableVideo(segmentBytes: number): Promise<{ videoId: string; hls: string }> {
  const { videoId } = await plane.readyVideo();
  const { workspaceId } = plane;
  const segment = segmentKey({ workspaceId, videoId, attempt: 1, folder: FOLDER }, '360p', 3, 'ts');
  await plane.objects.put(segment, Buffer.alloc(segmentBytes), 'video/mp2t');
  await plane.db
    .updateTable('renditions')
    .set({ segment_bytes: [1, 1, 1, segmentBytes] })
    .where('video_id', '=', videoId)
    .where('name', '=', '360p')
    .execute();
  return { videoId, hls: `/v1/hls/${workspaceId}/${videoId}` };
}

/** Sends text to the control plane and resolves with all bytes received until it closes the connection. */
async function exchange(url: string, text: string): Promise<Buffer> {
  const socket = open(url);
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function open(url: string): Socket {
  const { port, hostname } = new URL(url);
  return connect(Number(port), hostname);
}

const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: framelane.test', ...headers, '', ''].join('\r\n');

/** The stored bandwidth. */
async function writtenBandwidth(): Promise<number> {
  const rows = await plane.db.selectFrom('usage_daily').select('bandwidth_bytes').execute();
  return rows.reduce((sum, row) => sum + row.bandwidth_bytes, 0);
}

describe('storage and minutes', () => {
  beforeEach(start);
  afterEach(stop);

  test('are zero at first, for this month so far', async () => {
    const before = new Date();
    const report = await usage();
    const now = new Date(report.period.to);
    expect(report).toEqual({
      workspaceId: plane.workspaceId,
      environment: 'live',
      period: {
        from: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString(),
        to: expect.any(String),
      },
      storageBytes: 0,
      transcodedMinutes: 0,
      bandwidthBytes: 0,
      videoCount: 0,
      limits: {
        storedBytes: { limit: null, used: 0, reserved: 0 },
        transcodedMinutes: { limit: null, used: 0 },
        videos: { limit: null, used: 0 },
        uploads: { limit: null, used: 0 },
        fileBytes: { limit: null },
      },
    });
    expect(now.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(now.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('include videos; the deletion of a video frees its storage, but not its minutes', async () => {
    const { uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    expect(await usage()).toMatchObject({ storageBytes: 1_000_000, transcodedMinutes: 0, videoCount: 1 });

    const { videoId } = await plane.readyVideo();
    const segments = sampleManifest().renditions.flatMap((rendition) => rendition.segments);
    const stored = segments.reduce((sum, { bytes }) => sum + bytes, 100_000);
    expect(await usage()).toMatchObject({
      storageBytes: 2_000_000 + stored,
      transcodedMinutes: 0.333,
      videoCount: 2,
    });

    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect(await usage()).toMatchObject({ storageBytes: 1_000_000, transcodedMinutes: 0.333, videoCount: 1 });
  });

  test('count the result of the latest attempt once, also when it is repeated, and no result of an older attempt', async () => {
    const { videoId, uploadToken } = await plane.ticket();
    const transfer = await plane.engine.upload(uploadToken);
    const first = await plane.engine.claim(videoId);
    await plane.engine.fail(videoId, first.attempt, {
      code: 'storage_failed',
      message: 'Away',
      retryable: true,
    });
    const second = await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, first.attempt);
    expect((await usage()).transcodedMinutes).toBe(0);
    await Promise.all([1, 2, 3].map(() => plane.engine.complete(videoId, second.attempt)));
    await plane.engine.complete(videoId, first.attempt);
    await plane.engine.report('upload.completed', {
      videoId,
      transferId: transfer.transferId,
      bytes: 1_000_000,
      sha256: 'ab'.repeat(32),
    });
    expect((await usage()).transcodedMinutes).toBe(0.333);
  });

  test('count every video when many become ready concurrently', async () => {
    const claimed = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const { videoId, uploadToken } = await plane.ticket();
        await plane.engine.upload(uploadToken);
        return { videoId, ...(await plane.engine.claim(videoId)) };
      }),
    );
    await Promise.all(claimed.map(({ videoId, attempt }) => plane.engine.complete(videoId, attempt)));
    expect((await usage()).transcodedMinutes).toBe(4);
  });

  test('are kept apart by environment and by workspace', async () => {
    const tester = await newKey({ environment: 'test' });
    await request(plane.url)
      .post('/v1/videos/upload-ticket')
      .set(tester)
      .send({ filename: 'a.mp4' })
      .expect(201);
    await plane.readyVideo();
    expect(await usage()).toMatchObject({ environment: 'live', videoCount: 1, transcodedMinutes: 0.333 });
    expect(await usage('', tester)).toMatchObject({
      environment: 'test',
      videoCount: 1,
      transcodedMinutes: 0,
    });
    expect(await usage('?environment=live', tester)).toMatchObject({
      environment: 'live',
      transcodedMinutes: 0.333,
    });

    const other = newId('ws');
    await plane.db.insertInto('workspaces').values({ id: other, name: 'Other' }).execute();
    await plane.db
      .updateTable('api_keys')
      .set({ workspace_id: other })
      .where('environment', '=', 'test')
      .execute();
    const foreign = await usage('?environment=live', { ...tester, 'x-svc-workspace': other });
    expect(foreign).toMatchObject({
      workspaceId: other,
      storageBytes: 0,
      transcodedMinutes: 0,
      videoCount: 0,
    });
  });
});

describe('the period', () => {
  afterAll(stop);
  beforeAll(async () => {
    await start();
    const row = { workspace_id: plane.workspaceId, environment: 'live' } as const;
    await plane.db
      .insertInto('usage_daily')
      .values([
        { ...row, day: '2026-02-28', transcoded_ms: 60_000, bandwidth_bytes: 100 },
        { ...row, day: '2026-03-01', transcoded_ms: 90_000, bandwidth_bytes: 20 },
        { ...row, day: '2026-03-31', transcoded_ms: 1, bandwidth_bytes: 3 },
        { ...row, day: '2026-04-01', transcoded_ms: 600_000, bandwidth_bytes: 4_000_000_000_000 },
      ])
      .execute();
  });

  test('includes its first and its last day, in UTC', async () => {
    expect(await usage('?from=2026-03-01&to=2026-04-01')).toMatchObject({
      period: { from: '2026-03-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' },
      transcodedMinutes: 1.5,
      bandwidthBytes: 23,
    });
    expect(await usage('?from=2026-02-28T23:59:59Z&to=2026-04-01T00:00:01Z')).toMatchObject({
      period: { from: '2026-02-28T00:00:00.000Z', to: '2026-04-02T00:00:00.000Z' },
      transcodedMinutes: 12.5,
      bandwidthBytes: 4_000_000_000_123,
    });
  });

  test('is listed by day on request, with days without usage', async () => {
    expect((await usage('?from=2026-02-28&to=2026-03-03&groupBy=day')).days).toEqual([
      { date: '2026-02-28', transcodedMinutes: 1, bandwidthBytes: 100, storageBytes: null },
      { date: '2026-03-01', transcodedMinutes: 1.5, bandwidthBytes: 20, storageBytes: null },
      { date: '2026-03-02', transcodedMinutes: 0, bandwidthBytes: 0, storageBytes: null },
    ]);
    expect(await usage('?from=2026-02-28')).not.toHaveProperty('days');
  });

  test('by day shows the stored bytes of each day: now for today, as recorded for earlier days', async () => {
    const { videoId } = await plane.readyVideo();
    await plane.maintain('record-stored-bytes');
    await sql`update usage_daily set day = day - 1`.execute(plane.db);
    const storageOfDays = async () => {
      const { days = [], storageBytes } = await usage(`?from=${dayBefore(2)}&groupBy=day`);
      return { days: days.map((day) => day.storageBytes), storageBytes };
    };
    const before = await storageOfDays();
    expect(before.storageBytes).toBeGreaterThan(0);
    expect(before.days).toEqual([null, before.storageBytes, before.storageBytes]);

    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    await plane.maintain('record-stored-bytes');
    expect(await storageOfDays()).toEqual({ days: [null, before.storageBytes, 0], storageBytes: 0 });
    const recorded = sql<{
      bytes: number;
    }>`select storage_bytes as bytes from usage_daily where day = (now() at time zone 'UTC')::date`;
    expect((await recorded.execute(plane.db)).rows).toEqual([{ bytes: 0 }]);

    // The tombstone of the last video is pruned later.
    await sql`delete from usage_daily where day = (now() at time zone 'UTC')::date`.execute(plane.db);
    await sql`delete from object_purges`.execute(plane.db);
    await sql`delete from videos`.execute(plane.db);
    await plane.maintain('record-stored-bytes');
    expect((await recorded.execute(plane.db)).rows).toEqual([{ bytes: 0 }]);
  });

  test.each([
    ['from=yesterday', 'query/from'],
    ['from=2026-02-30', 'query/from'],
    ['to=2026-02-30T00:00:00Z', 'query/to'],
    ['from=0001-01-01', 'query/from'],
    ['from=2026-03-02&to=2026-03-01', 'query/to'],
    ['from=2026-03-01&to=2026-03-01', 'query/to'],
    ['from=2999-01-01', 'query/to'],
    ['environment=staging', 'query/environment'],
    ['groupBy=hour', 'query/groupBy'],
    ['from=2020-01-01&groupBy=day', 'query/groupBy'],
  ])('400 for %s', async (query, field) => {
    const response = await getUsage(`?${query}`);
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
    expect(response.body.errors[0].field).toBe(field);
  });

  test('ends at the latest representable day', async () => {
    const report = await usage('?from=2000-01-01T00:00:00%2B23:59&to=2999-12-31T23:59:59-23:59');
    expect(report.period).toEqual({ from: '1999-12-31T00:00:00.000Z', to: '3000-01-02T00:00:00.000Z' });
  });
});

describe('bandwidth', () => {
  beforeEach(start);
  afterEach(stop);

  test('counts every byte of playlists, segments and keys on the connection, however their paths are escaped', async () => {
    const { hls } = await playableVideo(160_000);
    const received = await exchange(
      plane.url,
      [
        get(`${hls}/master.m3u8`, 'Accept-Encoding: gzip'),
        get(`${hls}/360p/index.m3u8`),
        get(`${hls}/key`),
        get(`${hls}/360p/3.ts`),
        get(`${hls.replace('/vid_', '/%76id_')}/key`),
        get(`${hls}/360p/3.ts`, 'Range: bytes=0-999', 'Connection: close'),
      ].join(''),
    );
    expect(received.byteLength).toBeGreaterThan(161_000);
    await until(async () => (await usage()).bandwidthBytes === received.byteLength);
    expect((await usage('?environment=test')).bandwidthBytes).toBe(0);
  });

  test('excludes other responses, errors and preflights', async () => {
    const { hls } = await playableVideo(10);
    const before = await exchange(plane.url, get(`${hls}/360p/3.ts`, 'Connection: close'));
    await exchange(
      plane.url,
      [
        get('/v1/openapi.json'),
        get(`${hls}/720p/0.ts`),
        get(hls.replace(plane.workspaceId, newId('ws')).concat('/master.m3u8')),
        get(`${hls}/master.m3u8`).replace('GET', 'OPTIONS'),
        get('/healthz', 'Connection: close'),
      ].join(''),
    );
    const after = await exchange(plane.url, get(`${hls}/360p/3.ts`, 'Connection: close'));
    await until(async () => (await writtenBandwidth()) >= before.byteLength + after.byteLength);
    expect(await writtenBandwidth()).toBe(before.byteLength + after.byteLength);
  });

  test('of an aborted response is the part that was sent', async () => {
    const bytes = 64 * 1024 * 1024;
    const { hls } = await playableVideo(bytes);
    const socket = open(plane.url);
    socket.write(get(`${hls}/360p/3.ts`));
    let received = 0;
    while (received < 1_000_000) {
      const [chunk] = await once(socket, 'data');
      received += chunk.byteLength;
    }
    socket.destroy();
    const counted = await until(async () => (await usage()).bandwidthBytes);
    expect(counted).toBeGreaterThanOrEqual(received);
    expect(counted).toBeLessThan(bytes / 2);
  });

  test('is stored at a clean stop, and added to that of another control plane', async () => {
    const { hls } = await playableVideo(50_000);
    const impatient = await exchange(plane.url, get(`${hls}/360p/3.ts`, 'Connection: close'));
    await until(async () => (await writtenBandwidth()) === impatient.byteLength);

    const another = await plane.startAnother({ usageFlushSeconds: NEVER });
    const patient = await exchange(another.url, get(`${hls}/360p/3.ts`, 'Connection: close'));
    expect(await writtenBandwidth()).toBe(impatient.byteLength);
    await another.stop();
    expect(await writtenBandwidth()).toBe(impatient.byteLength + patient.byteLength);
  });

  /** Counts one request for a playlist with a separate meter; resolves with what the client received. */
  async function meterOne(meter: BandwidthMeter, handler: RequestHandler, path: string): Promise<Buffer> {
    const server = createServer(express().use('/v1/hls', meter.count, handler));
    const port = await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    const received = await exchange(`http://127.0.0.1:${port}`, get(path, 'Connection: close'));
    await closeServer(server, 0);
    return received;
  }

  test('excludes a response that never started', async () => {
    const metrics = new Metrics();
    const logger = createLogger({ service: 'test', level: 'silent' });
    const meter = new BandwidthMeter({ db: plane.db, logger, metrics, flushSeconds: NEVER });
    await meterOne(meter, (req) => void req.socket.destroy(), '/v1/hls/w/v/master.m3u8');
    expect(await metrics.registry.metrics()).toContain('framelane_hls_responses_total{kind="playlist"} 0');
  });

  test('is kept in memory while the database is unavailable', async () => {
    const { hls } = await playableVideo(1);
    const logger = createLogger({ service: 'test', level: 'silent' });
    const meter = new BandwidthMeter({ db: plane.db, logger, metrics: new Metrics(), flushSeconds: NEVER });
    const received = await meterOne(meter, (_req, res) => void res.end('A playlist'), `${hls}/master.m3u8`);

    await sql`alter table usage_daily rename to usage_away`.execute(plane.db);
    await meter.stop();
    await sql`alter table usage_away rename to usage_daily`.execute(plane.db);
    expect(await writtenBandwidth()).toBe(0);
    await meter.stop();
    expect(await writtenBandwidth()).toBe(received.byteLength);
  });
});
