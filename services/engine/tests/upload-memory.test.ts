import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLOSING_BOUNDARY, filePartHead, formWith } from '@framelane/test-kit/multipart';
import { RawClient } from '@framelane/test-kit/raw-upload-client';
import { TusClient } from '@framelane/test-kit/tus-client';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { FakeControlPlane } from './support/fake-control-plane.ts';

const MIB = 1024 ** 2;
const FILE_BYTES = 256 * MIB;

let folder: string;
let controlPlane: FakeControlPlane;
let engine: ChildProcess;
let port: number;
/** The processes that a test started. Each exits when its channel is disconnected. */
let children: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-upload-memory-'));
  children = [];
  controlPlane = await FakeControlPlane.start();
});
afterEach(async () => {
  for (const child of children.reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.disconnect();
    await once(child, 'exit');
  }
  await controlPlane.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts a program in a process of its own. */
function startProcess(path: string, ...settings: string[]): ChildProcess {
  const child = fork(join(import.meta.dirname, path), settings);
  children.push(child);
  return child;
}

async function startEngine(...bucket: string[]): Promise<void> {
  engine = startProcess('support/engine-process.ts', controlPlane.url, folder, ...bucket);
  ({ port } = await nextMessage<{ port: number }>(engine));
}

async function nextMessage<T>(from: ChildProcess): Promise<T> {
  const [message] = await Promise.race([
    once(from, 'message'),
    once(from, 'exit').then(([code, signal]) => Promise.reject(new Error(`Exited with ${code ?? signal}`))),
  ]);
  return message as T;
}

/** The largest resident memory of the engine so far. */
async function peakBytes(): Promise<number> {
  engine.send('peak?');
  return (await nextMessage<{ peakBytes: number }>(engine)).peakBytes;
}

/** Uploads one file. Resolves with the response body. */
async function upload(fileBytes: number): Promise<Record<string, unknown>> {
  const { token } = controlPlane.issue({ maxBytes: 2 * FILE_BYTES });
  const piece = randomBytes(MIB);
  const client = await RawClient.connect(port);
  client.sendHead({ token, length: formWith('').byteLength + fileBytes });
  client.send(filePartHead());
  for (let sent = 0; sent < fileBytes; sent += MIB) {
    await client.sendWithBackpressure(piece);
  }
  client.send(`\r\n${CLOSING_BOUNDARY}`);
  const { status, body } = await client.response(30);
  expect(status).toBe(202);
  client.disconnect();
  return body;
}

test('an upload of 256 MiB needs at most 150 MiB more memory than a small one', async () => {
  await startEngine();
  await upload(MIB);
  const before = await peakBytes();
  expect(await upload(FILE_BYTES)).toMatchObject({ size: FILE_BYTES });
  const growth = (await peakBytes()) - before;
  expect(growth).toBeLessThan(150 * MIB);
});

test('200 concurrent uploads of 4 MiB need at most 300 MiB more memory than 200 of 1 MiB, although they have 600 MiB more data', async () => {
  await startEngine();
  await uploadConcurrently(200, MIB);
  const before = await peakBytes();
  await uploadConcurrently(200, 4 * MIB);
  const growth = (await peakBytes()) - before;
  expect(growth).toBeLessThan(300 * MIB);
});

// The buffers have 8 MiB: one for each upload, and 32 that all uploads share. The rest is garbage that is not collected yet.
test('100 concurrent uploads to S3 need less than 1.7 GiB', async () => {
  const storage = startProcess('benchmarks/support/object-server.ts');
  await startEngine(JSON.stringify(await nextMessage(storage)));
  await uploadConcurrently(100, 9 * MIB);
  expect(await peakBytes()).toBeLessThan(1.7 * 1024 * MIB);
}, 600_000);

test('40 concurrent resumable uploads to S3, with the same buffers, need less than 1.25 GiB', async () => {
  const storage = startProcess('benchmarks/support/object-server.ts');
  await startEngine(JSON.stringify(await nextMessage(storage)));
  // Three parts.
  const fileBytes = 17 * MIB;
  const piece = randomBytes(MIB);
  const patches = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const client = new TusClient(controlPlane.issue({ maxBytes: fileBytes }).token);
      const url = `http://127.0.0.1:${port}`;
      return client.holdPatch(`${url}${await client.create(url, fileBytes)}`, 0, fileBytes);
    }),
  );
  for (let sent = 0; sent < fileBytes; sent += piece.byteLength) {
    await Promise.all(
      patches.map(async ({ request }) => {
        if (!request.write(piece)) await once(request, 'drain');
      }),
    );
  }
  for (const { request } of patches) request.end();
  const responses = await Promise.all(patches.map(({ response }) => response));
  expect(responses.filter((response) => response?.status !== 204)).toEqual([]);
  expect(await peakBytes()).toBeLessThan(1.25 * 1024 * MIB);
});

/** Uploads files concurrently, one chunk of each in turn. No upload ends before all have sent their last chunk. */
async function uploadConcurrently(count: number, fileBytes: number): Promise<void> {
  const piece = randomBytes(MIB / 16);
  const clients = await Promise.all(Array.from({ length: count }, () => RawClient.connect(port)));
  for (const client of clients) {
    const { token } = controlPlane.issue({ maxBytes: fileBytes });
    client.sendHead({ token, length: formWith('').byteLength + fileBytes });
    client.send(filePartHead());
  }
  for (let sent = 0; sent < fileBytes; sent += piece.byteLength) {
    await Promise.all(clients.map((client) => client.sendWithBackpressure(piece)));
  }
  for (const client of clients) client.send(`\r\n${CLOSING_BOUNDARY}`);
  const responses = await Promise.all(clients.map((client) => client.response(120)));
  expect(responses.filter(({ status }) => status !== 202)).toEqual([]);
  for (const client of clients) client.disconnect();
}
