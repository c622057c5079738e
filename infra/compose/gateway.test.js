import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePorts } from '../../packages/test-kit/src/free-ports.ts';
import { requires } from '../../packages/test-kit/src/requires.ts';
import { until } from '../../packages/test-kit/src/until.ts';
import { ROOT } from '../bootstrap/project.js';

const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;
const { describe } = requires('HAProxy', hasHaproxy ? null : 'HAProxy is not installed');

describe('the gateway', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  /** How the engine responds to readiness checks, and how often it has. */
  const readiness = { status: 200, delayMs: 0, checks: 0 };
  const engine = createServer(async (req, res) => {
    if (req.url !== '/readyz') return void res.end('engine');
    const { status, delayMs } = readiness;
    await pause(delayMs);
    res.writeHead(status).end();
    readiness.checks += 1;
  });
  let haproxy;
  let url;

  beforeAll(async () => {
    const [api, uploads, health, unused] = await freePorts(4);
    await once(engine.listen(0, '127.0.0.1'), 'listening');
    const config = readFileSync(join(ROOT, 'infra/docker/haproxy.cfg'), 'utf8')
      .replace(':8080', `127.0.0.1:${api}`)
      .replace(':8090', `127.0.0.1:${uploads}`)
      .replace(':8079', `:${health}`)
      // Ten times as often, to make the test faster.
      .replace('check inter 2s', 'check inter 200ms');
    const path = join(folder, 'haproxy.cfg');
    writeFileSync(path, config);
    const env = {
      ENGINE: `127.0.0.1:${engine.address().port}`,
      CONTROL_PLANE: `127.0.0.1:${unused}`,
      TRUSTED_PROXIES: '127.0.0.1/32',
    };
    haproxy = spawn('haproxy', ['-db', '-f', path], { env: { ...process.env, ...env }, stdio: 'ignore' });
    url = `http://127.0.0.1:${uploads}/upload`;
    await until(async () => (await get().catch(() => undefined))?.status === 200);
  });
  afterAll(async () => {
    const ended = once(haproxy, 'exit');
    haproxy.kill('SIGKILL');
    await ended;
    engine.closeAllConnections();
    engine.close();
    rmSync(folder, { recursive: true });
  });

  const get = async () => {
    const response = await fetch(url, { headers: { connection: 'close' } });
    return { status: response.status, body: await response.text() };
  };

  /** Resolves when each of the 64 servers of the backend has been checked `times` more times. */
  const checked = async (times) => {
    const from = readiness.checks;
    await until(() => readiness.checks >= from + 64 * times);
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
