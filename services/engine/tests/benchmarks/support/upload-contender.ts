/**
 * One way to upload a file to an object store, in its own process: `node upload-contender.ts <kind> <settings>`.
 *
 * - `form` and `resumable`: an engine; `tus`: `@tus/server` with its S3 store. They send their port to the parent.
 * - `sdk`: no server; uploads with the S3 SDK. The parent's message says how many bytes.
 *
 * Responds to the message `cost` with its CPU time and peak memory.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { S3ObjectStore, type S3Options } from '@framelane/object-store/s3-object-store';
import { S3Store } from '@tus/s3-store';
import { Server as TusServer } from '@tus/server';
import { Engine } from '../../../src/engine.ts';
import { quietLogger, testConfig } from '../../support/test-engine.ts';

export type ContenderKind = 'form' | 'resumable' | 'sdk' | 'tus';

type Settings = { store: S3Options; controlPlaneUrl: string; workDir: string };

/** The same values as in s3-object-store.ts, so that the results are comparable. */
const PART_BYTES = 8 * 1024 ** 2;
const PARALLEL_PARTS = 4;

const [kind = '', json = ''] = process.argv.slice(2);
const settings = JSON.parse(json) as Settings;

if (kind === 'tus') await startTus();
else if (kind === 'sdk') process.send?.({ port: 0 });
else await startFramelane();

process.on('message', (message: { upload: number } | 'cost') => {
  if (message === 'cost') process.send?.(cost());
  else void uploadBySdk(message.upload).then(() => process.send?.('done'));
});
process.on('disconnect', () => process.exit());

function cost(): { cpuSeconds: number; peakBytes: number } {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  return { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakBytes: maxRSS * 1024 };
}

async function startFramelane(): Promise<void> {
  const logger = quietLogger();
  const bus = new InProcessBus({ logger });
  await bus.consume('control-plane.events', { prefetch: 10 }, async () => {});
  const config = testConfig(settings.controlPlaneUrl, settings.workDir);
  const engine = Engine.create(config, { bus, objects: new S3ObjectStore(settings.store), logger });
  const { port } = await engine.start();
  process.send?.({ port });
}

async function startTus(): Promise<void> {
  const { bucket } = settings.store;
  const datastore = new S3Store({ partSize: PART_BYTES, s3ClientConfig: { bucket, ...clientSettings() } });
  const tus = new TusServer({ path: '/files', datastore });
  const server = createServer((req, res) => void tus.handle(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.({ port: (server.address() as AddressInfo).port });
}

async function uploadBySdk(bytes: number): Promise<void> {
  const client = new S3Client({ ...clientSettings(), requestChecksumCalculation: 'WHEN_REQUIRED' });
  await new Upload({
    client,
    params: { Bucket: settings.store.bucket, Key: `sdk/${randomUUID()}`, Body: Readable.from(pieces(bytes)) },
    partSize: PART_BYTES,
    queueSize: PARALLEL_PARTS,
  }).done();
  client.destroy();
}

function* pieces(bytes: number): Generator<Buffer> {
  // The size of a read from a socket.
  const piece = randomBytes(64 * 1024);
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece.subarray(0, bytes - sent);
}

function clientSettings() {
  const { region, accessKeyId, secretAccessKey, endpoint, forcePathStyle } = settings.store;
  return {
    region,
    forcePathStyle,
    credentials: { accessKeyId, secretAccessKey },
    ...(endpoint !== undefined && { endpoint }),
  };
}
