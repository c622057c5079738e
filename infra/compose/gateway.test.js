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

  beforeAll(async () => {
    const [unused] = await freePorts(1);
    await once(engine.listen(0, '127.0.0.1'), 'listening');
    gateway = await Gateway.start({ controlPlane: unused, engines: [engine.address().port] });
    await until(async () => (await get().catch(() => undefined))?.status === 200);
  });
  afterAll(async () => {
    await gateway?.stop();
    engine.closeAllConnections();
    engine.close();
  });

  const request = async ({ uploads }, path, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${uploads}${path}`, {
      method,
      headers: { connection: 'close' },
    });
    return { status: response.status, body: await response.text() };
  };
  const get = () => request(gateway, '/upload');

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

  test('sends the requests of a resumable upload to one engine, and to another when that has ended', async () => {
    const engines = ['a', 'b'].map((name) => createServer((_req, res) => void res.end(name)));
    for (const server of engines) await once(server.listen(0, '127.0.0.1'), 'listening');
    const ports = engines.map((server) => server.address().port);
    const pair = await Gateway.start({ controlPlane: ports[0], engines: ports });
    try {
      const engineOf = async (path) => (await request(pair, `/files/${path}`)).body;
      const paths = Array.from({ length: 20 }, (_, at) => `upload${at}`);
      const enginesOf = () => Promise.all(paths.map(engineOf));
      await until(async () => new Set(await enginesOf().catch(() => [])).size === 2);
      expect(await enginesOf()).toEqual(await enginesOf());
      engines[1].closeAllConnections();
      engines[1].close();
      expect(new Set(await enginesOf())).toEqual(new Set(['a']));
    } finally {
      await pair.stop();
      engines[0].closeAllConnections();
      engines[0].close();
    }
  });

  test('responds with a problem when no engine is running', async () => {
    engine.closeAllConnections();
    engine.close();
    await until(async () => (await get()).body.includes('No server'));
    const { status, body } = await get();
    expect([status, JSON.parse(body).code]).toEqual([503, 'unavailable']);
    // Clients retry it.
    expect((await request(gateway, '/files/a', 'HEAD')).status).toBe(423);
    expect((await request(gateway, '/files/a', 'PATCH')).status).toBe(503);
  });
});
