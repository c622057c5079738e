import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePorts } from '../../packages/test-kit/src/free-ports.ts';
import { Gateway, gatewayObstacle } from '../../packages/test-kit/src/gateway.ts';
import { requires } from '../../packages/test-kit/src/requires.ts';
import { until } from '../../packages/test-kit/src/until.ts';

const { describe } = requires('HAProxy', gatewayObstacle());

describe('the gateway', () => {
  /** How the engine responds to readiness checks, and how often it has. */
  const readiness = { status: 200, delayMs: 0, checks: 0 };
  const engine = createServer(async (req, res) => {
    if (req.url !== '/readyz') return void res.end('engine');
    const { status, delayMs } = readiness;
    await pause(delayMs);
    res.writeHead(status).end();
    readiness.checks += 1;
  });
  let gateway;
  let url;

  beforeAll(async () => {
    const [unused] = await freePorts(1);
    await once(engine.listen(0, '127.0.0.1'), 'listening');
    gateway = await Gateway.start({ controlPlane: unused, engines: [engine.address().port] });
    url = `http://127.0.0.1:${gateway.uploads}/upload`;
    await until(async () => (await get().catch(() => undefined))?.status === 200);
  });
  afterAll(async () => {
    await gateway?.stop();
    engine.closeAllConnections();
    engine.close();
  });

  const get = async () => {
    const response = await fetch(url, { headers: { connection: 'close' } });
    return { status: response.status, body: await response.text() };
  };

  /** Resolves when the engine has been checked `times` more times. */
  const checked = async (times) => {
    const from = readiness.checks;
    await until(() => readiness.checks >= from + times);
  };

  test('sends uploads to engines with slow readiness checks', async () => {
    Object.assign(readiness, { status: 200, delayMs: 500 });
    await checked(2);
    expect(await get()).toEqual({ status: 200, body: 'engine' });
  });

  test('sends uploads to running engines when none is ready', async () => {
    Object.assign(readiness, { status: 503, delayMs: 0 });
    await checked(4);
    expect(await get()).toEqual({ status: 200, body: 'engine' });
  });

  test('responds with a problem when no engine is running', async () => {
    engine.closeAllConnections();
    engine.close();
    await until(async () => (await get()).body.includes('No server'));
    const { status, body } = await get();
    expect([status, JSON.parse(body).code]).toEqual([503, 'unavailable']);
  });
});
