import http, { type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { Random } from '@framelane/test-kit/random';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { History } from './history.ts';
import { SimulatedNetwork } from './simulated-network.ts';
import { Faults, NO_FAULTS, type World } from './world.ts';

const { listen } = http.Server.prototype;
const { createConnection, keepSocketAlive } = http.Agent.prototype as unknown as Record<string, unknown>;

/** Each request is repeated. Times pass in a turn of the event loop, but for the connection of a repetition, which stays open. */
const world = {
  time: { sleep: (milliseconds: number) => (milliseconds < 60_000 ? turn() : new Promise(() => {})) },
  random: new Random(1),
  history: new History(() => 0),
  faults: new Faults(new Random(1), { ...NO_FAULTS, doubledRequest: 1 }),
} as World;

beforeAll(() => new SimulatedNetwork(world).install());
afterAll(() => {
  http.Server.prototype.listen = listen;
  Object.assign(http.Agent.prototype, { createConnection, keepSocketAlive });
});

test.each([
  ['GET', ''],
  ['POST', 'the body of a form'],
])('a repeated %s request arrives whole', async (method, body) => {
  const { promise: repeated, resolve } = Promise.withResolvers<void>();
  const received: string[] = [];
  const server = http.createServer(async (request, response) => {
    received.push(`${request.method} ${request.url} ${await text(request)}`);
    response.end();
    if (received.length === 2) resolve();
  });
  server.listen(0);
  const { port } = server.address() as { port: number };
  const { promise: answered, resolve: answer } = Promise.withResolvers<IncomingMessage>();
  http.request({ port, method, path: '/videos' }, answer).end(body);
  expect((await answered).statusCode).toBe(200);
  await repeated;
  expect(received).toEqual([`${method} /videos ${body}`, `${method} /videos ${body}`]);
});
