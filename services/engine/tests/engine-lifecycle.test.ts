import { mkdtemp, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { makeClip } from '@framelane/test-kit/clips';
import { formWith } from '@framelane/test-kit/multipart';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { RawClient } from '@framelane/test-kit/raw-upload-client';
import { until } from '@framelane/test-kit/until';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  startTestEngine,
  type TestEngine,
  type TestEngineOptions,
  withFaults,
} from './support/test-engine.ts';

const FORM = formWith(Buffer.alloc(500_000, 'x'));

let engine: TestEngine | undefined;
afterEach(async () => {
  await engine?.stop();
  engine = undefined;
});

async function start(options?: TestEngineOptions): Promise<TestEngine> {
  engine = await startTestEngine(options);
  return engine;
}

test('an engine whose port is in use names the setting to change', async () => {
  const { port } = await start();
  await expect(startTestEngine({ env: { ENGINE_PORT: String(port) } })).rejects.toThrow(/Set ENGINE_PORT/);
});

describe('an engine that shuts down', () => {
  test('completes an upload in progress and refuses new ones', async () => {
    const { engine, controlPlane, port, internalUrl } = await start();
    const first = controlPlane.issue();
    const client = await RawClient.connect(port);
    const late = await RawClient.connect(port);
    client.sendHead({ token: first.token, length: FORM.byteLength });
    client.send(FORM.subarray(0, 1000));
    await until(() => first.transferId);
    const stopped = engine.stop();

    // A gateway retries this at another engine.
    await expect(RawClient.connect(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    late.sendHead({ token: controlPlane.issue().token, length: FORM.byteLength });
    const refused = await late.response();
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(refused.headers.get('connection')).toBe('close');
    expect(refused.headers.get('retry-after')).toBe('5');
    const ready = await fetch(`${internalUrl}/readyz`);
    expect({ status: ready.status, body: await ready.json() }).toMatchObject({
      status: 503,
      body: { missing: ['uploads'] },
    });
    expect((await fetch(`${internalUrl}/healthz`)).status).toBe(200);

    client.send(FORM.subarray(1000));
    expect((await client.response()).status).toBe(202);
    await stopped;
    await expect(fetch(`${internalUrl}/healthz`)).rejects.toThrow();
  });

  test('aborts an upload after UPLOAD_DRAIN_SECONDS: nothing stays stored, and the token works with another engine', async () => {
    const { engine, controlPlane, port, storedFiles } = await start({ env: { UPLOAD_DRAIN_SECONDS: '1' } });
    const ticket = controlPlane.issue();
    const client = await RawClient.connect(port);
    client.sendHead({ token: ticket.token, length: FORM.byteLength });
    client.send(FORM.subarray(0, 100_000));
    await until(() => ticket.transferId);
    const startedAt = performance.now();
    const stopped = engine.stop();
    const trickle = setInterval(() => client.send('x'), 100);
    const response = await client.response(20).finally(() => clearInterval(trickle));
    expect(response).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(999);
    await stopped;
    expect(ticket.transferId).toBeNull();
    expect(await storedFiles()).toEqual([]);
  });

  test('hands its transcodes back while it drains an upload', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'framelane-lifecycle-'));
    try {
      const clip = await makeClip(join(folder, 'clip.mp4'), { video: 'testsrc2=s=320x240:r=25:d=60' });
      const { engine, controlPlane, port, events, transcode } = await start({
        env: { UPLOAD_DRAIN_SECONDS: '3600' },
      });
      const ticket = controlPlane.issue();
      const client = await RawClient.connect(port);
      client.sendHead({ token: ticket.token, length: FORM.byteLength });
      client.send(FORM.subarray(0, 1000));
      const videoId = await transcode(clip);
      await until(() => ticket.transferId && controlPlane.claimable.size === 0);

      const stopped = engine.stop();
      await until(() => events('task.failed').length === 1);
      expect(events('task.failed')[0]?.data).toMatchObject({ videoId, code: 'engine_stopped' });
      client.send(FORM.subarray(1000));
      expect((await client.response()).status).toBe(202);
      await stopped;
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the roles of an engine', () => {
  /** Starts an engine with one role, no programs, and a full disk for the objects. */
  async function startAs(role: string) {
    const consumed: string[] = [];
    const path = process.env.PATH;
    process.env.PATH = '';
    const folder = await mkdtemp(join(tmpdir(), 'framelane-roles-'));
    const workDir = join(folder, 'work');
    try {
      const engine = await start({
        env: { ENGINE_ROLES: role, ENGINE_WORK_DIR: workDir },
        wrapObjects: (objects) =>
          withFaults(objects, { diskSpace: async () => ({ freeBytes: 0, totalBytes: 1000 }) }),
        wrapBus: (bus) =>
          withFaults<MessageBus>(bus, {
            consume: async (queue, ...rest) => {
              consumed.push(queue);
              return bus.consume(queue, ...rest);
            },
          }),
      });
      const hasWorkDir = await stat(workDir).then(
        () => true,
        () => false,
      );
      return { engine, consumed, hasWorkDir };
    } finally {
      process.env.PATH = path;
      await rm(folder, { recursive: true });
    }
  }

  const missing = async ({ internalUrl }: TestEngine) =>
    ((await (await fetch(`${internalUrl}/readyz`)).json()) as { missing: string[] }).missing;
  const roleMetricsOf = async ({ internalUrl }: TestEngine) => {
    const { series } = await PrometheusText.scrape(`${internalUrl}/metrics`);
    return [...series.keys()].filter((name) => /^framelane_engine_(roles|slots\b|disk_free)/.test(name));
  };

  test('an uploader needs no programs and no directory, and takes no commands', async () => {
    const { engine, consumed, hasWorkDir } = await startAs('upload');
    expect({ consumed, hasWorkDir }).toEqual({ consumed: [], hasWorkDir: false });
    expect(await missing(engine)).toEqual(['disk']);
    await until(() => engine.controlPlane.announcements[0]);
    expect(engine.controlPlane.announcements[0]).toMatchObject({
      roles: ['upload'],
      slots: 0,
      ffmpegVersion: null,
      hardware: null,
      diskFreeBytes: null,
    });
    expect((await fetch(`${engine.url}/healthz`)).status).toBe(200);
    expect(await roleMetricsOf(engine)).toEqual(['framelane_engine_roles{role="upload"}']);
  });

  test('a transcoder needs its programs', async () => {
    await expect(startAs('transcode')).rejects.toThrow('was not found in PATH');
  });

  test('a transcoder has no public listener and needs nothing for uploads', async () => {
    // This port is in use, so a public listener would fail.
    const { port } = await start();
    const uploader = engine as TestEngine;
    const transcoder = await startTestEngine({
      env: { ENGINE_ROLES: 'transcode', ENGINE_PORT: String(port) },
      wrapObjects: (objects) =>
        withFaults(objects, { diskSpace: async () => ({ freeBytes: 0, totalBytes: 1000 }) }),
    });
    try {
      expect(transcoder.port).toBe(0);
      expect(await missing(transcoder)).toEqual([]);
      expect((await roleMetricsOf(transcoder)).sort()).toEqual([
        'framelane_engine_disk_free_bytes',
        'framelane_engine_roles{role="transcode"}',
        'framelane_engine_slots',
      ]);
      expect((await fetch(`${transcoder.internalUrl}/upload`)).status).toBe(404);
      expect((await fetch(`${uploader.url}/healthz`)).status).toBe(200);
    } finally {
      await transcoder.stop();
    }
  });
});

test('an engine announces what it is and does, from the start to the end', async () => {
  const { engine, controlPlane, port, internalUrl } = await start({ env: { ENGINE_SLOTS: '3' } });
  const { announcements } = controlPlane;
  await until(() => announcements.length > 0);
  const first = announcements[0];
  expect(first).toEqual({
    engineId: expect.stringMatching(/^eng_/),
    host: hostname(),
    port: Number(new URL(internalUrl).port),
    state: 'working',
    roles: ['upload', 'transcode'],
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    nodeVersion: process.versions.node,
    ffmpegVersion: expect.stringMatching(/\d/),
    hardware: null,
    uptimeSeconds: expect.any(Number),
    slots: 3,
    slotsBusy: 0,
    tasks: 0,
    uploads: 0,
    imports: 0,
    diskFreeBytes: expect.any(Number),
  });

  const ticket = controlPlane.issue();
  const client = await RawClient.connect(port);
  client.sendHead({ token: ticket.token, length: FORM.byteLength });
  client.send(FORM.subarray(0, 1000));
  await until(async () => {
    const { series } = await PrometheusText.scrape(`${internalUrl}/metrics`);
    return series.get('framelane_engine_uploads_active') === 1;
  });
  const stopped = engine.stop();
  await until(() => announcements.at(-1)?.state === 'stopping');
  expect(announcements.at(-1)).toMatchObject({ engineId: first?.engineId, uploads: 1 });
  client.send(FORM.subarray(1000));
  await stopped;
  expect(announcements.at(-1)).toMatchObject({ state: 'stopped', uploads: 0 });
});
