import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { requireHealthy } from './health-polling.ts';

let status = 200;
const server = createServer((_req, res) => res.writeHead(status).end('{}'));
let url: string;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Blocks the event loop for this CPU time in milliseconds. */
function block(milliseconds: number): void {
  const { user, system } = process.threadCpuUsage();
  let used = 0;
  while (used < milliseconds * 1000) {
    const now = process.threadCpuUsage();
    used = now.user + now.system - user - system;
  }
}

test('work that lets the event loop run passes', async () => {
  await requireHealthy(url, async () => {
    for (let part = 0; part < 20; part += 1) {
      block(15);
      await (await fetch(url)).arrayBuffer();
    }
  });
});

test.each([
  ['at its beginning', async () => block(150)],
  ['at its end', async () => fetch(url).then(() => block(150))],
])('work that blocks the event loop for 150 ms %s fails', async (_, work) => {
  let rounds = 0;
  const counted = () => {
    rounds += 1;
    return work();
  };
  await expect(requireHealthy(url, counted)).rejects.toThrow(/a response of \/healthz was late: after \d{3}/);
  expect(rounds).toBe(3);
});

test('a late response in one round does not matter', async () => {
  let rounds = 0;
  await requireHealthy(url, async () => {
    rounds += 1;
    if (rounds < 2) block(150);
  });
  expect(rounds).toBeGreaterThanOrEqual(2);
});

test('work that fails, and a service that is not healthy, fail at once', async () => {
  await expect(requireHealthy(url, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  status = 503;
  await expect(requireHealthy(url, async () => {})).rejects.toThrow('responds with 503');
});
