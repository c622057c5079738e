import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { makeClip } from '@framelane/test-kit/clips';
import { BOUNDARY, filePartHead, formWith } from '@framelane/test-kit/multipart';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { RawClient } from '@framelane/test-kit/raw-upload-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestEngine, type TestEngine, withFaults } from './support/test-engine.ts';

let engine: TestEngine;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-metrics-'));
  engine = await startTestEngine({ env: { ENGINE_SLOTS: '2' } });
});
afterAll(async () => {
  await engine.stop();
  await rm(folder, { recursive: true });
});

async function scrape(): Promise<PrometheusText> {
  return PrometheusText.scrape(`${engine.internalUrl}/metrics`);
}

/** The counters that have increased since, except those of HTTP requests. */
async function counted(before: PrometheusText): Promise<Record<string, number>> {
  const growth = (await scrape()).growthSince(before, 'framelane_engine_');
  return Object.fromEntries(Object.entries(growth).filter(([name]) => /_total|_count/.test(name)));
}

function upload(form: Buffer, token: string): Promise<Response> {
  const headers = { 'X-Upload-Token': token, 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };
  return fetch(`${engine.url}/upload`, { method: 'POST', headers, body: new Uint8Array(form) });
}

describe('the internal listener', () => {
  test('serves health and metrics; the public listener serves no metrics', async () => {
    const status = async (url: string) => (await fetch(url)).status;
    expect(await status(`${engine.internalUrl}/healthz`)).toBe(200);
    expect(await status(`${engine.internalUrl}/readyz`)).toBe(200);
    expect(await status(`${engine.internalUrl}/upload`)).toBe(404);
    expect(await status(`${engine.url}/metrics`)).toBe(404);
    const { series } = await scrape();
    expect(series.get('framelane_engine_roles{role="upload"}')).toBe(1);
    expect(series.get('framelane_engine_roles{role="transcode"}')).toBe(1);
    expect(series.get('framelane_engine_slots')).toBe(2);
    expect(series.get('framelane_engine_disk_free_bytes')).toBeGreaterThan(1e6);
    expect(series.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  });

  test('names its setting when its port is in use', async () => {
    const ENGINE_INTERNAL_PORT = new URL(engine.internalUrl).port;
    await expect(startTestEngine({ env: { ENGINE_INTERNAL_PORT } })).rejects.toThrow(
      /Set ENGINE_INTERNAL_PORT/,
    );
  });
});

describe('uploads', () => {
  const uploads = (outcome: string, code = '') =>
    `framelane_engine_uploads_total{outcome="${outcome}",code="${code}"}`;

  test('a received upload counts with its bytes and duration', async () => {
    const before = await scrape();
    const startedAt = performance.now();
    await upload(formWith(Buffer.alloc(70_000)), engine.controlPlane.issue().token);
    expect(await counted(before)).toEqual({
      [uploads('received')]: 1,
      framelane_engine_upload_bytes_total: 70_000,
      framelane_engine_upload_duration_seconds_count: 1,
    });
    const total = 'framelane_engine_upload_duration_seconds_sum';
    const seconds = (await scrape()).growthSince(before, total)[total];
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan((performance.now() - startedAt) / 1000);
  });

  test('refused and broken uploads count by code', async () => {
    const before = await scrape();
    await upload(formWith('x'), 'ut_unknown');
    await upload(Buffer.from(`--${BOUNDARY}--\r\n`), engine.controlPlane.issue().token);
    expect(await counted(before)).toEqual({
      [uploads('refused', 'upload_token_invalid')]: 1,
      [uploads('broken', 'file_missing')]: 1,
    });
  });

  test('an upload in progress counts as active, with the bytes so far', async () => {
    const before = await scrape();
    const client = await RawClient.connect(engine.port);
    client.sendHead({ token: engine.controlPlane.issue().token, length: 1_000_000 });
    client.send(`${filePartHead()}${'x'.repeat(200_000)}`);
    const bytes = 'framelane_engine_upload_bytes_total';
    const grown = async () => (await counted(before))[bytes] ?? 0;
    // The last bytes may be the start of a boundary, so they count only when more bytes follow.
    await until(async () => (await grown()) > 100_000);
    expect((await scrape()).series.get('framelane_engine_uploads_active')).toBe(1);
    client.disconnect();
    await until(async () => (await counted(before))[uploads('broken', 'upload_interrupted')]);
    expect((await scrape()).series.get('framelane_engine_uploads_active')).toBe(0);
  });
});

describe('transcodes', () => {
  const transcodes = (outcome: string, code = '') =>
    `framelane_engine_transcodes_total{outcome="${outcome}",code="${code}"}`;
  const stage = (name: string) => `framelane_engine_transcode_stage_duration_seconds_count{stage="${name}"}`;

  test('a completed transcode counts with its stages, duration and CPU time', async () => {
    const clip = await makeClip(join(folder, 'clip.mp4'), { video: 'testsrc2=s=320x240:r=25:d=2' });
    const before = await scrape();
    await engine.transcode(clip);
    await until(async () => (await scrape()).series.get('framelane_engine_slots_busy'));
    await until(async () => (await counted(before))[transcodes('completed')]);
    const { framelane_engine_tools_cpu_seconds_total: cpu, ...others } = await counted(before);
    expect(others).toEqual({
      [transcodes('completed')]: 1,
      [stage('fetch')]: 1,
      [stage('probe')]: 1,
      [stage('encode')]: 1,
      framelane_engine_transcoded_media_seconds_total: 2,
    });
    expect(cpu).toBeGreaterThan(0);
    expect((await scrape()).series.get('framelane_engine_slots_busy')).toBe(0);
  });

  test('a transcode counts only when the broker has confirmed its result', async () => {
    const clip = await makeClip(join(folder, 'unconfirmed.mp4'), { video: 'testsrc2=s=64x64:r=25:d=1' });
    const completed: unknown[] = [];
    const other = await startTestEngine({
      wrapBus: (bus) =>
        withFaults<MessageBus>(bus, {
          publish: async (message, options) => {
            if (message.type === 'task.completed') {
              const { series } = await PrometheusText.scrape(`${other.internalUrl}/metrics`);
              completed.push(series.get(transcodes('completed')));
            }
            return bus.publish(message, options);
          },
        }),
    });
    try {
      await other.transcode(clip);
      await until(() => completed[0] !== undefined);
      expect(completed).toEqual([0]);
    } finally {
      await other.stop();
    }
  });

  test('a failed transcode counts by code, with the completed stages', async () => {
    const notes = join(folder, 'notes.mp4');
    await writeFile(notes, 'These are notes.');
    const before = await scrape();
    await engine.transcode(notes);
    await until(async () => (await counted(before))[transcodes('failed', 'not_a_video')]);
    expect(await counted(before)).toMatchObject({
      [transcodes('failed', 'not_a_video')]: 1,
      [stage('fetch')]: 1,
    });
    expect((await counted(before))[stage('probe')]).toBeUndefined();
  });
});
