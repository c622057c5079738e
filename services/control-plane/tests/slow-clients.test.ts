import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { segmentKey } from '@framelane/object-store/object-keys';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { FOLDER } from './support/manifest.ts';

/** More than the connections of an S3 client. */
const CLIENTS = 300;
/** Large enough to fill the buffers of a connection. */
const SEGMENT = randomBytes(6_000_000);
const SOURCE = randomBytes(12_000_000);

let s3: FakeS3;
let objects: S3ObjectStore;
let plane: TestControlPlane;
let videoId: string;
const logger = createLogger({ service: 'control-plane', level: 'silent' });
const logged = [jest.spyOn(logger, 'error'), jest.spyOn(logger, 'warn')];
const clients: Client[] = [];

beforeAll(async () => {
  s3 = await FakeS3.start();
  objects = new S3ObjectStore({
    endpoint: s3.endpoint,
    region: 'us-east-1',
    bucket: s3.bucket,
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    forcePathStyle: true,
  });
  plane = await startControlPlane(undefined, {}, { logger, objects });
  const { uploadToken, ...ticket } = await plane.ticket();
  videoId = ticket.videoId;
  const { sourceKey } = await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.complete(videoId, attempt);
  await plane.db
    .updateTable('renditions')
    .set({ segment_bytes: [0, 1, 2, 3].map(() => SEGMENT.byteLength) })
    .where('name', '=', '360p')
    .execute();
  const source = plane.db.updateTable('artifacts').set({ bytes: SOURCE.byteLength });
  await source.where('kind', '=', 'source').execute();
  const video = { workspaceId: plane.workspaceId, videoId, attempt, folder: FOLDER };
  for (const sequence of [0, 1, 2, 3]) {
    await objects.put(segmentKey(video, '360p', sequence, 'ts'), SEGMENT, 'video/mp2t');
  }
  await objects.put(segmentKey(video, 'audio', 0, 'ts'), SEGMENT.subarray(0, 96_000), 'video/mp2t');
  await objects.put(sourceKey, SOURCE, 'video/mp4');
});
afterAll(async () => {
  for (const client of clients) client.close();
  await plane.stop();
  objects.close();
  await s3.stop();
});

/** A client that reads nothing until `readAll`. */
class Client {
  readonly #socket: Socket;
  constructor(path: string, headers: Record<string, string> = {}) {
    this.#socket = connect(Number(new URL(plane.url).port), '127.0.0.1');
    this.#socket.pause();
    const lines = Object.entries({ host: 'framelane.test', connection: 'close', ...headers });
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
    clients.push(this);
  }

  /** The body. */
  async readAll(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    this.#socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    this.#socket.resume();
    await once(this.#socket, 'end');
    const response = Buffer.concat(chunks);
    return response.subarray(response.indexOf('\r\n\r\n') + 4);
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** The sum of a metric over its labels. */
async function metric(name: string, labels = '.*'): Promise<number> {
  const { text } = await request(plane.engine.internalUrl).get('/metrics');
  const values = [...text.matchAll(new RegExp(`^framelane_${name}\\{${labels}\\} (\\d+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

const unsentBytes = () => metric('stored_file_memory_bytes', 'use="unsent"');

test('hundreds of paused clients neither hold connections of the object store nor delay other requests', async () => {
  const segments = `/v1/hls/${plane.workspaceId}/${videoId}/360p`;
  for (let count = 0; count < CLIENTS; count += 1) {
    new Client(`${segments}/${count % 4}.ts`);
    if (count % 10 === 0) new Client(`/v1/videos/${videoId}/source`, plane.credentials);
  }
  await until(async () => (await metric('segment_cache_requests_total')) === CLIENTS);
  await until(() => s3.downloads === 0);
  expect(await unsentBytes()).toBeGreaterThan(0);

  const [ready, video, segment] = await Promise.all([
    request(plane.url).get('/readyz'),
    request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials),
    request(plane.url).get(`/v1/hls/${plane.workspaceId}/${videoId}/audio/0.ts`).responseType('blob'),
  ]);
  expect([ready.status, video.status, segment.status]).toEqual([200, 200, 200]);
  expect(SEGMENT.subarray(0, 96_000).equals(segment.body)).toBe(true);
  expect(await unsentBytes()).toBeLessThanOrEqual(256 * 1024 ** 2);

  // As the object store closes idle connections during a long pause.
  s3.hangUp();
  for (const client of clients.slice(0, 4)) {
    const body = await client.readAll();
    expect(body.equals(SEGMENT) || body.equals(SOURCE)).toBe(true);
  }
  for (const client of clients) client.close();
  await until(async () => (await unsentBytes()) === 0);
  const events = logged.flatMap((log) => log.mock.calls.map(([event]) => String(event)));
  // The test reads the metrics again and again, for which a busy machine may be too slow.
  expect(events.filter((event) => event !== 'metrics.database_not_read')).toEqual([]);
});
