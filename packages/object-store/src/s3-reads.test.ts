import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterEach, expect, test } from '@jest/globals';
import { SignatureV4 } from '@smithy/signature-v4';
import { S3ObjectStore } from './s3-object-store.ts';
import { baseUrl, S3Reads, signGet } from './s3-reads.ts';

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const region = 'us-east-1';
const HOUR_MS = 3_600_000;

test('signs the example of AWS', async () => {
  // "GET Object" in the Amazon S3 API reference, Signature Calculations for the Authorization Header.
  const { sha256 } = new S3Client({ region, credentials }).config;
  const signer = new SignatureV4({ service: 's3', region, credentials, sha256, uriEscapePath: false });
  const { path, headers } = await signGet(signer, {
    base: new URL('https://examplebucket.s3.amazonaws.com'),
    key: 'test.txt',
    now: new Date('2013-05-24T00:00:00Z'),
    range: { start: 0, end: 9 },
  });
  expect(path).toBe('/test.txt');
  expect(headers.range).toBe('bytes=0-9');
  expect(headers.authorization).toContain(
    'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
});

test.each([
  [{ forcePathStyle: false }, 'https://bucket.s3.us-east-1.amazonaws.com/'],
  [{ endpoint: 'https://s3.example', forcePathStyle: false }, 'https://bucket.s3.example/'],
  [{ endpoint: 'http://s3.example:9000', forcePathStyle: true }, 'http://s3.example:9000/bucket'],
  [{ endpoint: 'http://[::1]:9000/storage/', forcePathStyle: true }, 'http://[::1]:9000/storage/bucket'],
])('%j puts the bucket into the URL %s', async (options, expected) => {
  const url = await baseUrl(new S3Client({ region, credentials, ...options }), 'bucket');
  expect(url.href).toBe(expected);
});

let server: Server | undefined;
let client: S3Client | undefined;
let reads: S3Reads | undefined;

afterEach(() => {
  reads?.close();
  client?.destroy();
  server?.closeAllConnections();
  server?.close();
});

async function start(
  handle: RequestListener,
  idleTimeout = 20_000,
): Promise<{ endpoint: string; client: S3Client; reads: S3Reads }> {
  server = createServer(handle);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  reads = new S3Reads(client, 'bucket', { maxConnections: 2, connectTimeout: 5_000, idleTimeout });
  return { endpoint, client, reads };
}

const FACTS = { ETag: '"1"', 'Last-Modified': 'Sun, 22 Nov 2026 00:00:00 GMT', 'Content-Length': 10 };

test('reads an object and keeps the connection', async () => {
  const paths: (string | undefined)[] = [];
  const started = await start(({ url, socket }, response) => {
    paths.push(`${url} ${socket.remotePort}`);
    response.writeHead(200, FACTS).end('0123456789');
  });
  for (const key of ['a/b', 'a/b']) {
    const found = await started.reads.get(key);
    expect(found).toMatchObject({
      ETag: '"1"',
      LastModified: new Date('2026-11-22T00:00:00Z'),
      ContentLength: 10,
    });
    if (found) expect(String(await buffer(found.Body))).toBe('0123456789');
  }
  expect(paths[0]).toMatch(/^\/bucket\/a\/b /);
  expect(paths[1]).toBe(paths[0]);
});

test('the object store reads without the SDK', async () => {
  const agents: (string | undefined)[] = [];
  const { endpoint } = await start(({ headers }, response) => {
    agents.push(headers['user-agent']);
    response.writeHead(200, FACTS).end('0123456789');
  });
  const options = { endpoint, region, bucket: 'bucket', forcePathStyle: true };
  const store = new S3ObjectStore({ ...options, ...credentials });
  expect(String(await buffer((await store.get('a/b')).body))).toBe('0123456789');
  store.close();
  // The SDK names itself.
  expect(agents).toEqual([undefined]);
});

test.each([403, 404, 416, 429, 500, 503])('leaves the status %d to the SDK', async (status) => {
  const started = await start((_request, response) => response.writeHead(status).end('<Error/>'));
  expect(await started.reads.get('a/b')).toBeNull();
});

test('frees the connection of a response that it leaves to the SDK', async () => {
  const connections = new Set<Socket>();
  const started = await start(({ socket }, response) => {
    connections.add(socket);
    response.writeHead(404).end('<Error/>');
  }, 1_000);
  // S3Reads has two connections.
  for (let read = 1; read <= 3; read += 1) expect(await started.reads.get('a/b')).toBeNull();
  expect(connections.size).toBeLessThanOrEqual(2);
});

test.each([
  ['without an entity tag', { ETag: [], 'Content-Range': 'bytes 0-9/10' }, 'lacks'],
  ['of another range', { 'Content-Range': 'bytes 1-9/10' }, 'ignored the range'],
])('the object store closes the connection of a response %s', async (_, headers, message) => {
  const { promise: closed, resolve: onClose } = Promise.withResolvers<string>();
  const { endpoint } = await start(({ socket }, response) => {
    socket.once('close', () => onClose('closed'));
    response.writeHead(206, { ...FACTS, ...headers }).write('01234');
  });
  const options = { endpoint, region, bucket: 'bucket', forcePathStyle: true };
  const store = new S3ObjectStore({ ...options, ...credentials });
  await expect(store.get('a/b', { start: 0, end: 9 })).rejects.toThrow(message);
  // An idle connection closes after 20 seconds.
  expect(await Promise.race([closed, delay(10_000, 'open', { ref: false })])).toBe('closed');
  store.close();
});

test('leaves a broken and an idle connection to the SDK', async () => {
  let isBroken = true;
  const started = await start(({ socket }) => {
    if (isBroken) socket.destroy();
  }, 50);
  expect(await started.reads.get('a/b')).toBeNull();
  isBroken = false;
  expect(await started.reads.get('a/b')).toBeNull();
});

test('an object whose connection becomes idle ends with an error', async () => {
  const started = await start((_request, response) => response.writeHead(200, FACTS).write('01234'), 500);
  const found = await started.reads.get('a/b');
  await expect(found && buffer(found.Body)).rejects.toThrow();
});

test('uses the clock that the SDK has corrected', async () => {
  const serverTime = Date.now() + HOUR_MS;
  const started = await start(({ headers }, response) => {
    const [, date, time] = /^(\d{8})T(\d{6})Z$/.exec(String(headers['x-amz-date'])) ?? [];
    const iso = `${date?.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time?.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`;
    response.setHeader('Date', new Date(serverTime).toUTCString());
    if (Math.abs(Date.parse(iso) - serverTime) < HOUR_MS / 4)
      response.writeHead(200, FACTS).end('0123456789');
    else response.writeHead(403).end('<Error><Code>RequestTimeTooSkewed</Code></Error>');
  });
  expect(await started.reads.get('a/b')).toBeNull();
  const { Body } = await started.client.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'a/b' }));
  await Body?.transformToByteArray();
  const found = await started.reads.get('a/b');
  expect(found && String(await buffer(found.Body))).toBe('0123456789');
});
