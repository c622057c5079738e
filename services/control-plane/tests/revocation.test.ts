import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signIn } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { SeparateControlPlane } from './support/separate-control-plane.ts';

/** Concurrent clients of each of the two processes. */
const CLIENTS = 8;
/** Responses of each client before the revocation, and again after it. */
const RESPONSES = 15;
const ROUNDS = 4;

type Call = { sentAt: number; status: number };
type Client = { calls: Call[]; stopped: Promise<void> };

let plane: TestControlPlane;
const processes: SeparateControlPlane[] = [];
beforeAll(async () => {
  plane = await startControlPlane();
  for (let count = 0; count < 2; count += 1) {
    processes.push(await SeparateControlPlane.start(plane.databaseUrl));
  }
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.kill()));
  await plane.stop();
});

/** A credential, and the path at which it is revoked. */
type Credential = { headers: Record<string, string>; path: string };

async function createKey(): Promise<Credential> {
  const response = await fetch(`${plane.url}/v1/api-keys`, {
    method: 'POST',
    headers: { ...plane.credentials, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'To be revoked' }),
  });
  const { id, secret } = (await response.json()) as { id: string; secret: string };
  return { headers: { ...plane.credentials, authorization: `Bearer ${secret}` }, path: `api-keys/${id}` };
}

async function createSession(): Promise<Credential> {
  const { id, token } = await signIn(plane);
  return { headers: { cookie: `framelane=${token}` }, path: `console/sessions/${id}` };
}

/** Starts a client that sends requests with the credential to one control plane until `stop` aborts. */
function startClient(url: string, { headers }: Credential, stop: AbortSignal): Client {
  const calls: Call[] = [];
  const work = async () => {
    while (!stop.aborted) {
      const sentAt = performance.now();
      const response = await fetch(`${url}/v1/auth/whoami`, { headers });
      await response.arrayBuffer();
      calls.push({ sentAt, status: response.status });
    }
  };
  return { calls, stopped: work() };
}

test.each([
  ['a key', createKey],
  ['a console session', createSession],
])(
  'after the response to the revocation of %s, two processes under load refuse every request with it',
  async (_, create) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const credential = await create();
      const stop = new AbortController();
      const clients = processes.flatMap(({ url }) =>
        Array.from({ length: CLIENTS }, () => startClient(url, credential, stop.signal)),
      );
      await until(async () => clients.every(({ calls }) => calls.length >= RESPONSES));

      const revocation = await fetch(`${processes[round % 2]?.url}/v1/${credential.path}`, {
        method: 'DELETE',
        headers: plane.credentials,
      });
      const revokedAt = performance.now();
      expect(revocation.status).toBe(204);

      const sentAfter = ({ calls }: Client) => calls.filter(({ sentAt }) => sentAt > revokedAt);
      await until(async () => clients.every((client) => sentAfter(client).length >= RESPONSES));
      stop.abort();
      await Promise.all(clients.map(({ stopped }) => stopped));
      for (const client of clients) {
        expect(client.calls.slice(0, RESPONSES).every(({ status }) => status === 200)).toBe(true);
        expect([...new Set(sentAfter(client).map(({ status }) => status))]).toEqual([401]);
      }
    }
  },
);
