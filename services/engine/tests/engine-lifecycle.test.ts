import { formWith } from '@framelane/test-kit/multipart';
import { RawClient } from '@framelane/test-kit/raw-upload-client';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestEngine, type TestEngine } from './support/test-engine.ts';

const FORM = formWith(Buffer.alloc(500_000, 'x'));

let engine: TestEngine;
beforeEach(async () => {
  engine = await startTestEngine();
});
afterEach(async () => {
  await engine.stop();
});

test('an engine whose port is in use names the setting to change', async () => {
  await expect(startTestEngine({ env: { ENGINE_PORT: String(engine.port) } })).rejects.toThrow(
    /Set ENGINE_PORT/,
  );
});

describe('an engine that shuts down', () => {
  test('completes an upload in progress and refuses new ones', async () => {
    const first = engine.controlPlane.issue();
    const client = await RawClient.connect(engine.port);
    const late = await RawClient.connect(engine.port);
    client.sendHead({ token: first.token, length: FORM.byteLength });
    client.send(FORM.subarray(0, 1000));
    await until(() => first.transferId);
    const stopped = engine.engine.stop();

    late.sendHead({ token: engine.controlPlane.issue().token, length: FORM.byteLength });
    const refused = await late.response();
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(refused.headers.get('connection')).toBe('close');
    const ready = await fetch(`${engine.url}/readyz`);
    expect({ status: ready.status, body: await ready.json() }).toMatchObject({
      status: 503,
      body: { missing: ['uploads'] },
    });

    client.send(FORM.subarray(1000));
    expect((await client.response()).status).toBe(202);
    await stopped;
    await expect(fetch(`${engine.url}/healthz`)).rejects.toThrow();
  });

  test('aborts an upload that takes too long: nothing stays stored, and the token works with another engine', async () => {
    const ticket = engine.controlPlane.issue();
    const client = await RawClient.connect(engine.port);
    client.sendHead({ token: ticket.token, length: FORM.byteLength });
    client.send(FORM.subarray(0, 100_000));
    await until(() => ticket.transferId);
    const stopped = engine.engine.stop();
    const trickle = setInterval(() => client.send('x'), 100);
    const response = await client.response(20).finally(() => clearInterval(trickle));
    expect(response).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    await stopped;
    expect(ticket.transferId).toBeNull();
    expect(await engine.storedFiles()).toEqual([]);
  }, 30_000);
});
