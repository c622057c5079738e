import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { ObjectStore, ResumableWriter } from '@framelane/object-store/object-store';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { TusClient } from '@framelane/test-kit/tus-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FakeTicket } from './support/fake-control-plane.ts';
import { ONLY_RECEIVES, startTestEngine, type TestEngine, withFaults } from './support/test-engine.ts';

const MIB = 1024 ** 2;
const PART = 8 * MIB;
const FILE = randomBytes(4 * PART + 1);

let storage: FakeS3;
let store: S3ObjectStore;
/** Faults of the writers that the engine opens from now on. */
let writerFaults: (writer: ResumableWriter) => Partial<ResumableWriter>;
let engine: TestEngine;
let ticket: FakeTicket;
let client: TusClient;

beforeAll(async () => {
  storage = await FakeS3.start();
  store = new S3ObjectStore({
    endpoint: storage.endpoint,
    region: 'us-east-1',
    bucket: storage.bucket,
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    forcePathStyle: true,
  });
  const resume: ObjectStore['resume'] = async (...args) => {
    const writer = await store.resume(...args);
    return withFaults(writer, writerFaults(writer));
  };
  engine = await startTestEngine({
    env: ONLY_RECEIVES,
    limits: { registerSeconds: 0, idleSeconds: 1, maxConcurrent: 3 },
    wrapObjects: () => withFaults<ObjectStore>(store, { resume }),
  });
});
beforeEach(() => {
  writerFaults = () => ({});
  ticket = engine.controlPlane.issue();
  client = new TusClient(ticket.token);
});
afterEach(() => {
  storage.heal();
  engine.controlPlane.gate = Promise.resolve();
  engine.controlPlane.broken.clear();
});
afterAll(async () => {
  await engine.stop();
  store.close();
  await storage.stop();
});

const create = async (length: number) => `${engine.url}${await client.create(engine.url, length)}`;
const offsetOf = async (url: string) => Number((await client.head(url))?.headers['upload-offset']);
const resumable = (url: string) => {
  const upload = engine.controlPlane.resumables.get(url.split('/').at(-1) ?? '');
  if (upload === undefined) throw new Error(`No upload at ${url}`);
  return upload;
};
/** The keys of all objects that the uploads of the ticket have stored. */
const keys = () => [...storage.objects.keys()].filter((key) => key.includes(ticket.videoId));

async function expectStored(content: Buffer): Promise<void> {
  const stored = await buffer((await store.get(ticket.sources.at(-1) ?? '')).body);
  expect(stored.equals(content)).toBe(true);
  expect(engine.controlPlane.completions.filter(({ videoId }) => videoId === ticket.videoId)).toHaveLength(1);
}

describe('sizes', () => {
  test.each([
    ['exactly a part', PART, [PART]],
    ['a part and a byte', PART + 1, [PART, PART + 1]],
    ['a byte before and after the end of a part', 2 * PART, [PART - 1, PART + 1, 2 * PART]],
  ])('%s', async (_name, length, ends) => {
    const content = FILE.subarray(0, length);
    const url = await create(length);
    let start = 0;
    for (const end of ends) {
      expect(await client.patch(url, content, start, end)).toMatchObject({ status: 204 });
      start = end;
    }
    await expectStored(content);
    expect(keys()).toEqual([ticket.sources.at(-1)]);
  });

  test('200 PATCHes of 64 KiB', async () => {
    const size = 64 * 1024;
    const content = FILE.subarray(0, 200 * size);
    const url = await create(content.byteLength);
    for (let start = 0; start < content.byteLength; start += size) {
      const response = await client.patch(url, content, start, start + size);
      expect([response?.status, response?.headers['upload-offset']]).toEqual([204, String(start + size)]);
    }
    await expectStored(content);
    expect(resumable(url).epoch).toBe(1);
    expect(engine.controlPlane.completions.at(-1)?.sha256).toBe(
      createHash('sha256').update(content).digest('hex'),
    );
    expect(keys()).toEqual([ticket.sources.at(-1)]);
  });
});

describe('a client that', () => {
  test('sends nothing for too long is disconnected, and what it sent is kept', async () => {
    const url = await create(FILE.byteLength);
    const held = client.holdPatch(url, 0, FILE.byteLength);
    held.request.write(FILE.subarray(0, PART + 5));
    expect(await held.response).toBeUndefined();
    await until(() => resumable(url).checkpoint?.durableBytes === PART + 5);
    expect(await offsetOf(url)).toBe(PART + 5);
    await client.patch(url, FILE, PART + 5);
    await expectStored(FILE);
  });

  test('waits for the object store gets no timeout', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    writerFaults = (writer) => ({
      write: async (chunk) => {
        await promise;
        return writer.write(chunk);
      },
    });
    const content = FILE.subarray(0, MIB);
    const url = await create(MIB);
    const response = client.patch(url, content, 0);
    // Longer than the idle timeout.
    const timer = setTimeout(resolve, 1_700);
    expect(await response).toMatchObject({ status: 204 });
    clearTimeout(timer);
    await expectStored(content);
  });

  test('sends another request before an earlier one has begun: only the latest counts', async () => {
    const saving = Promise.withResolvers<void>();
    writerFaults = (writer) => ({
      settle: async () => {
        await saving.promise;
        return writer.settle();
      },
    });
    const url = await create(FILE.byteLength);
    const requests = () =>
      engine.controlPlane.requests.filter((path) => path === INTERNAL_PATHS.openResumable).length;
    const before = requests();
    const first = client.holdPatch(url, 0, FILE.byteLength);
    first.request.write(FILE.subarray(0, 1000));
    await until(() => resumable(url).checkpoint !== null);
    const second = client.holdPatch(url, 1000, FILE.byteLength - 1000);
    second.request.write(FILE.subarray(1000, 1500));
    expect(await first.response).toBeUndefined();
    await until(() => requests() === before + 2);
    const head = client.head(url);
    expect(await second.response).toBeUndefined();
    saving.resolve();
    const offset = Number((await head)?.headers['upload-offset']);
    expect([0, 1000]).toContain(offset);
    await client.patch(url, FILE, offset);
    await expectStored(FILE);
  });
});

describe('an object store that', () => {
  test('is full: 507, and the upload continues when there is room', async () => {
    const url = await create(FILE.byteLength);
    writerFaults = () => ({
      write: async () => {
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      },
    });
    expect(await client.patch(url, FILE, 0)).toMatchObject({ status: 507, code: 'insufficient_storage' });
    writerFaults = () => ({});
    await client.patch(url, FILE, await offsetOf(url));
    await expectStored(FILE);
  });

  test('refuses parts: 503, and no acknowledged byte is lost', async () => {
    const url = await create(FILE.byteLength);
    expect(await client.patch(url, FILE, 0, PART + 7)).toMatchObject({ status: 204 });
    storage.inject('UploadPart', 'forbidden');
    expect(await client.patch(url, FILE, PART + 7, 3 * PART)).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.any(String) },
    });
    storage.heal();
    expect(await offsetOf(url)).toBe(PART + 7);
    await client.patch(url, FILE, PART + 7);
    await expectStored(FILE);
  });

  test('refuses small objects: 503, and no acknowledged byte is lost', async () => {
    const url = await create(FILE.byteLength);
    expect(await client.patch(url, FILE, 0, 9)).toMatchObject({ status: 204 });
    storage.inject('PutObject', 'forbidden');
    expect(await client.patch(url, FILE, 9, 20)).toMatchObject({ status: 503 });
    storage.heal();
    expect(await offsetOf(url)).toBe(9);
    await client.patch(url, FILE, 9);
    await expectStored(FILE);
  });

  test('cannot complete the object: 503, and a HEAD completes it later', async () => {
    const url = await create(FILE.byteLength);
    storage.inject('CompleteUpload', 'forbidden');
    expect(await client.patch(url, FILE, 0)).toMatchObject({ status: 503 });
    expect(await client.head(url)).toMatchObject({ status: 423 });
    storage.heal();
    expect(await offsetOf(url)).toBe(FILE.byteLength);
    await expectStored(FILE);
  });

  test('is down when an upload is opened: the ticket is free again', async () => {
    const url = await create(FILE.byteLength);
    storage.inject('CreateUpload', 'forbidden');
    // More often than the engine has slots.
    for (let failures = 0; failures < 4; failures += 1) {
      expect(await client.head(url)).toMatchObject({ status: 423 });
      expect(ticket.transferId).toBeNull();
    }
    storage.heal();
    await client.patch(url, FILE, 0);
    await expectStored(FILE);
  });

  test('has lost a part of what it confirmed: 410, and a new upload can be created', async () => {
    const url = await create(FILE.byteLength);
    await client.patch(url, FILE, 0, 1000);
    const lost = await until(() => keys().find((key) => key.includes('.tail/')));
    storage.objects.delete(lost);
    // As if another engine had opened the upload, so that the engine must read the stored bytes.
    resumable(url).epoch += 1;
    expect(await client.patch(url, FILE, 1000)).toMatchObject({ status: 410, code: 'upload_ended' });
    await client.patch(await create(FILE.byteLength), FILE, 0);
    await expectStored(FILE);
  });
});

describe('an engine', () => {
  test('at its limit of uploads refuses others, without taking them from another engine', async () => {
    const open = [];
    for (let count = 0; count < 3; count += 1) {
      const otherClient = new TusClient(engine.controlPlane.issue().token);
      const otherUrl = `${engine.url}${await otherClient.create(engine.url, 10)}`;
      await otherClient.patch(otherUrl, FILE, 0, 5);
      open.push({ otherClient, otherUrl });
    }
    const url = await create(FILE.byteLength);
    resumable(url).epoch = 7;
    expect(await client.head(url)).toMatchObject({ status: 423 });
    expect(await client.patch(url, FILE, 0)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(await client.send('POST', `${engine.url}/upload`)).toMatchObject({ status: 503 });
    expect(resumable(url).epoch).toBe(7);
    expect(ticket.transferId).toBeNull();
    for (const { otherClient, otherUrl } of open)
      expect(await otherClient.patch(otherUrl, FILE, 5, 10)).toMatchObject({ status: 204 });
    expect(await client.patch(url, FILE, 0)).toMatchObject({ status: 204 });
    await expectStored(FILE);
    // A complete upload occupies no slot.
    for (let requests = 0; requests < 4; requests += 1) expect(await offsetOf(url)).toBe(FILE.byteLength);
  });

  test('keeps the ticket for a request that opens an upload while the earlier session of the upload ends', async () => {
    const url = await create(FILE.byteLength);
    const held = client.holdPatch(url, 0, FILE.byteLength);
    held.request.write(FILE.subarray(0, 10));
    await until(() => resumable(url).checkpoint !== null);
    const opened = Promise.withResolvers<void>();
    engine.controlPlane.gate = opened.promise;
    const requests = engine.controlPlane.requests.length;
    const head = client.head(url);
    await until(() => engine.controlPlane.requests.length > requests);
    // A part that the store refuses ends the upload.
    storage.inject('UploadPart', 'forbidden');
    held.request.write(FILE.subarray(10, 4 * PART));
    await until(() => engine.controlPlane.requests.includes(INTERNAL_PATHS.releaseTransfer, requests));
    storage.heal();
    opened.resolve();
    expect(await head).toMatchObject({ status: 200 });
    expect(ticket.transferId).toBe(resumable(url).transferId);
    await client.patch(url, FILE, await offsetOf(url));
    await expectStored(FILE);
  });

  test('responds with 503 if the progress cannot be saved, and continues later', async () => {
    const url = await create(FILE.byteLength);
    await client.patch(url, FILE, 0, 1000);
    engine.controlPlane.broken.add(INTERNAL_PATHS.saveResumable);
    expect(await client.patch(url, FILE, 1000, 2000)).toMatchObject({ status: 503 });
    engine.controlPlane.broken.clear();
    await client.patch(url, FILE, await offsetOf(url));
    await expectStored(FILE);
  });

  test('saves what arrives after a wrong checksum, so that little is lost if it is killed', async () => {
    const content = randomBytes(36 * MIB);
    const url = await create(content.byteLength);
    const wrong = { 'Upload-Checksum': `sha1 ${createHash('sha1').update('other').digest('base64')}` };
    expect(await client.patch(url, content, 0, 1000, wrong)).toMatchObject({
      status: 460,
      code: 'checksum_mismatch',
    });
    const held = client.holdPatch(url, 0, content.byteLength);
    held.request.write(content.subarray(0, 33 * MIB));
    await until(() => (resumable(url).checkpoint?.durableBytes ?? 0) >= 32 * MIB);
    held.request.end(content.subarray(33 * MIB));
    expect(await held.response).toMatchObject({ status: 204 });
    await expectStored(content);
  });

  test('refuses a creation with first bytes while the workspace has too many uploads: 503, so that clients retry', async () => {
    ticket.crowded = true;
    const headers = {
      'Upload-Length': '10',
      'Upload-Offset': '0',
      'Content-Type': 'application/offset+octet-stream',
    };
    const response = await client.send('POST', `${engine.url}/files`, headers, FILE.subarray(0, 10));
    expect(response).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
  });
});
