import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '@framelane/single-node/installation';
import { readSingleNodeSettings } from '@framelane/single-node/settings';
import { withEnvironmentProxy } from '@framelane/test-kit/environment-proxy';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { freePorts } from '@framelane/test-kit/free-ports';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkListeners } from '../src/doctor/listener-check.ts';
import { runChecks } from '../src/doctor/run-checks.ts';

let directory: string;
let s3: FakeS3;
let env: Record<string, string>;
/** Another program, on a port of its own. */
let other: Server;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-doctor-test-'));
  s3 = await FakeS3.start();
  other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const [port, enginePort] = await freePorts(2);
  env = {
    DATA_DIR: join(directory, 'data'),
    PORT: String(port),
    ENGINE_PORT: String(enginePort),
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'secret',
  };
});
afterAll(async () => {
  other.close();
  await s3.stop();
  await rm(directory, { recursive: true });
});

test('finds all systems that do not work, and says which settings to check', async () => {
  const findings = await runChecks(CHECKOUT, {
    ...env,
    PORT: String((other.address() as AddressInfo).port),
    S3_BUCKET: 'missing',
    DATABASE_URL: 'postgres://framelane:password@127.0.0.1:1/framelane',
    AMQP_URL: 'amqp://framelane:password@127.0.0.1:1',
  });
  const failures = findings.filter(({ status }) => status === 'failed');
  expect(failures.map(({ title, advice }) => [title, advice])).toEqual([
    ['Ports', undefined],
    ['Database', 'Check DATABASE_URL, and that the server works.'],
    ['Storage', 'Check S3_ENDPOINT, S3_BUCKET and the keys, and that the server works.'],
    ['Queue', 'Check AMQP_URL, and that the server works.'],
  ]);
  expect(failures[0]?.detail).toContain('Set PORT to a free port.');
  expect(JSON.stringify(findings)).not.toContain('password');
});

test('a bucket is written to, and nothing stays in it', async () => {
  const findings = await runChecks(CHECKOUT, env);
  expect(findings).toContainEqual({
    title: 'Storage',
    status: 'passed',
    detail: 'the bucket bucket can be read and written',
  });
  expect([...s3.objects.keys()]).toEqual([]);
});

test('an invalid setting is all that it reports of the node', async () => {
  const findings = await runChecks(CHECKOUT, { ...env, ENGINE_SLOTS: 'many' });
  expect(findings.filter(({ status }) => status === 'failed')).toEqual([
    { title: 'Settings', status: 'failed', detail: 'ENGINE_SLOTS: must be a whole number of at least 1' },
  ]);
});

test('a data directory that cannot be created fails', async () => {
  const file = join(directory, 'file');
  await writeFile(file, '');
  const findings = await runChecks(CHECKOUT, { ...env, DATA_DIR: join(file, 'data') });
  expect(findings.find(({ title }) => title === 'Data')).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining(`${file}/data cannot be created (EACCES`),
  });
});

test('a running node is asked directly, not through the proxy of the environment', async () => {
  const node = createHttpServer((_request, response) => {
    response.statusCode = 503;
    response.end('{"missing":["database"]}');
  }).listen(0, '127.0.0.1');
  await once(node, 'listening');
  const settings = readSingleNodeSettings({ ...env, PORT: String((node.address() as AddressInfo).port) });
  const proxied = await withEnvironmentProxy(async () => {
    expect(await checkListeners(settings, true)).toMatchObject({
      status: 'failed',
      detail: 'running, but not ready: database unavailable',
    });
  });
  expect(proxied).toEqual([]);
  node.close();
});
