import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CreateBucketCommand, DeleteBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { withEnvironmentProxy } from '@framelane/test-kit/environment-proxy';
import { FakeS3, type Fault, type Operation } from '@framelane/test-kit/fake-s3';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { NotResumableError, ObjectNotFoundError } from '../src/object-store.ts';
import { S3ObjectStore, type S3Options } from '../src/s3-object-store.ts';
import { objectStoreContract } from './object-store.contract.ts';

const MIB = 1024 * 1024;
const never = new AbortController().signal;
const noneIsLive = async () => false;
const inAnHour = () => new Date(Date.now() + 3_600_000);

let fake: FakeS3;

function fakeOptions(): S3Options {
  return {
    endpoint: fake.endpoint,
    region: 'us-east-1',
    bucket: fake.bucket,
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    forcePathStyle: true,
  };
}

beforeAll(async () => {
  fake = await FakeS3.start();
});

afterAll(() => fake.stop());

afterEach(() => fake.reset());

const { S3_TEST_ENDPOINT, S3_TEST_REGION, S3_TEST_ACCESS_KEY_ID, S3_TEST_SECRET_ACCESS_KEY } = process.env;
if (S3_TEST_ENDPOINT) {
  realServerContract({
    endpoint: S3_TEST_ENDPOINT,
    region: S3_TEST_REGION ?? 'us-east-1',
    bucket: `framelane-${randomUUID()}`,
    accessKeyId: S3_TEST_ACCESS_KEY_ID ?? '',
    secretAccessKey: S3_TEST_SECRET_ACCESS_KEY ?? '',
    forcePathStyle: true,
  });
} else {
  const opened: S3ObjectStore[] = [];
  objectStoreContract('S3ObjectStore', {
    create: async () => {
      const store = new S3ObjectStore(fakeOptions());
      opened.push(store);
      return store;
    },
    dispose: async () => {
      for (const store of opened.splice(0)) store.close();
    },
  });
}

/** Runs the contract in a new bucket on the server that the environment names. */
function realServerContract(options: S3Options): void {
  const { endpoint, region, bucket, forcePathStyle, ...credentials } = options;
  const admin = new S3Client({ endpoint: endpoint ?? '', region, forcePathStyle, credentials });
  const store = new S3ObjectStore(options);
  beforeAll(async () => {
    await admin.send(new CreateBucketCommand({ Bucket: bucket }));
  });
  afterAll(async () => {
    await admin.send(new DeleteBucketCommand({ Bucket: bucket }));
    admin.destroy();
    store.close();
  });
  objectStoreContract(`S3ObjectStore at ${endpoint}`, {
    create: async () => store,
    dispose: async () => {
      await store.abortStaleUploads(inAnHour(), noneIsLive);
      // Sends one request if there is nothing to delete. On a real server, each request takes long.
      const list = new ListObjectsV2Command({ Bucket: bucket, Delimiter: '/' });
      const { CommonPrefixes: prefixes = [] } = await admin.send(list);
      for (const { Prefix: prefix = '' } of prefixes) await store.deletePrefix(prefix);
    },
  });
}

test('no request uses the proxy of the environment', async () => {
  const store = new S3ObjectStore(fakeOptions());
  const proxied = await withEnvironmentProxy(async () => {
    await store.put('ws/a', Buffer.from('a'), 'text/plain');
    await buffer((await store.get('ws/a')).body);
    // The SDK repeats the request.
    fake.inject('GetObject', 'cut', 1);
    await buffer((await store.get('ws/a')).body);
    await store.deletePrefix('ws/');
  });
  store.close();
  expect(proxied).toEqual([]);
});

test('presigned URLs have the public endpoint and expire', async () => {
  const store = new S3ObjectStore({ ...fakeOptions(), publicEndpoint: 'https://media.example' });
  const url = new URL(await store.presign('a/b', 60));
  expect(url.origin).toBe('https://media.example');
  expect(url.pathname).toBe(`/${fake.bucket}/a/b`);
  expect(url.searchParams.get('X-Amz-Expires')).toBe('60');
  expect(url.searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/);
  expect(url.href).not.toContain('secret');
  expect(url.search).not.toContain('response-');
  store.close();
});

test('presigned URLs have the time of the server if the clock of the machine is wrong', async () => {
  const store = new S3ObjectStore(fakeOptions());
  const realNow = Date.now;
  const now = jest.spyOn(Date, 'now').mockImplementation(() => realNow() - 3_600_000);
  try {
    await store.head('a/b');
    const url = new URL(await store.presign('a/b', 60));
    const [, ...parts] = /^(....)(..)(..T..)(..)(..Z)$/.exec(url.searchParams.get('X-Amz-Date') ?? '') ?? [];
    const [year, month, day, minute, second] = parts;
    const signedAt = Date.parse(`${year}-${month}-${day}:${minute}:${second}`);
    expect(Math.abs(signedAt - realNow())).toBeLessThan(60_000);
  } finally {
    now.mockRestore();
    store.close();
  }
});

test('a part that a hanging process has replaced by unverified bytes does not get into the object', async () => {
  const store = new S3ObjectStore(fakeOptions());
  const key = 's/v/x/original';
  const begun = await store.beginResumable(key, 'video/mp4');
  const hanging = await store.resume(key, begun, 9 * MIB);
  const next = await store.resume(key, { ...begun, laterBytesUntrusted: true }, 9 * MIB);
  for (const writer of [next, hanging]) {
    await writer.write(randomBytes(9 * MIB));
    await writer.settle();
  }
  await expect(next.complete()).rejects.toThrow(NotResumableError);
  expect(await store.head(key)).toBeNull();
  for (const writer of [next, hanging]) await writer.close();
  store.close();
});

test('open objects that nobody reads delay no other request', async () => {
  const store = new S3ObjectStore(fakeOptions());
  await store.put('a/b', randomBytes(100_000), 'video/mp2t');
  const opened = Array.from({ length: 300 }, () => store.get('a/b'));
  await until(() => fake.log.filter((operation) => operation === 'GetObject').length >= 64);
  await store.check();
  expect(await store.head('a/b')).toMatchObject({ bytes: 100_000 });
  for (const object of opened) (await object).body.destroy();
  store.close();
});

describe('S3ObjectStore with a failing server', () => {
  let store: S3ObjectStore;

  beforeAll(() => {
    store = new S3ObjectStore(fakeOptions());
  });

  afterAll(() => store.close());

  const putStream = (size: number, condition: { ifAbsent?: boolean } = {}) =>
    store.putStream('a/b', Readable.from([Buffer.alloc(size, 7)]), {
      contentType: 'video/mp4',
      signal: never,
      ...condition,
    });

  test.each<[Operation, Fault]>([
    ['PutObject', 'error'],
    ['PutObject', 'cut'],
    ['PutObject', 'cut-after'],
  ])('stores a short stream although %s fails once with %s', async (operation, fault) => {
    fake.inject(operation, fault, 1);
    expect(await putStream(100)).toEqual({ bytes: 100 });
    expect(await store.head('a/b')).toMatchObject({ bytes: 100 });
  });

  test.each<[Operation, Fault]>([
    ['CreateUpload', 'error'],
    ['UploadPart', 'error'],
    ['UploadPart', 'cut'],
    ['UploadPart', 'cut-after'],
    ['CompleteUpload', 'error'],
    ['CompleteUpload', 'error-in-200'],
    ['CompleteUpload', 'cut'],
    ['CompleteUpload', 'cut-after'],
  ])('stores a long stream although %s fails once with %s', async (operation, fault) => {
    fake.inject(operation, fault, 1);
    expect(await putStream(17 * MIB)).toEqual({ bytes: 17 * MIB });
    expect(await store.head('a/b')).toMatchObject({ bytes: 17 * MIB });
    expect(fake.uploads.size).toBe(0);
  });

  test.each<[Operation, Fault]>([
    ['CreateUpload', 'error'],
    ['CreateUpload', 'forbidden'],
    ['UploadPart', 'error'],
    ['UploadPart', 'forbidden'],
    ['UploadPart', 'cut'],
    ['CompleteUpload', 'error'],
    ['CompleteUpload', 'error-in-200'],
    ['CompleteUpload', 'quiet-error-in-200'],
    ['CompleteUpload', 'cut'],
  ])('stores nothing of a long stream when %s keeps failing with %s', async (operation, fault) => {
    fake.inject(operation, fault);
    await expect(putStream(33 * MIB)).rejects.toThrow();
    expect(fake.objects.size).toBe(0);
    expect(fake.uploads.size).toBe(0);
  });

  test('retries each of many streams when all connections break at once', async () => {
    const keys = Array.from({ length: 100 }, (_, index) => `many/${index}`);
    fake.inject('PutObject', 'cut', keys.length);
    const put = (key: string) =>
      store.putStream(key, Readable.from([Buffer.from(key)]), {
        contentType: 'text/plain',
        signal: never,
      });
    await Promise.all(keys.map(put));
    expect([...fake.objects.keys()].sort()).toEqual(keys.sort());
  });

  test('stops reading a stream whose parts are refused', async () => {
    fake.inject('UploadPart', 'forbidden');
    let taken = 0;
    async function* endless() {
      for (;;) {
        taken += 1;
        yield Buffer.alloc(MIB);
      }
    }
    const body = Readable.from(endless());
    const storing = store.putStream('a/b', body, { contentType: 'video/mp4', signal: never });
    await expect(storing).rejects.toThrow(expect.objectContaining({ name: 'AccessDenied' }));
    expect(body.destroyed).toBe(true);
    expect(taken).toBeLessThan(128);
  });

  test('stores a stream while the parts of others hang', async () => {
    fake.inject('UploadPart', 'hang');
    const leaving = new AbortController();
    const content = Buffer.alloc(MIB, 7);
    const stuck = Array.from({ length: 10 }, (_, index) =>
      store.putStream(`a/${index}`, Readable.from(Array(48).fill(content)), {
        contentType: 'video/mp4',
        signal: leaving.signal,
      }),
    );
    const settled = Promise.allSettled(stuck);
    await until(async () => fake.log.filter((operation) => operation === 'UploadPart').length >= 32);
    fake.heal();

    expect(await putStream(17 * MIB)).toEqual({ bytes: 17 * MIB });

    leaving.abort();
    fake.hangUp();
    expect((await settled).map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
    expect(fake.uploads.size).toBe(0);
  });

  test.each([100, 17 * MIB])(
    'stores %d bytes with ifAbsent although the first response was lost',
    async (size) => {
      for (const operation of ['PutObject', 'CompleteUpload'] as const)
        fake.inject(operation, 'cut-after', 1);
      expect(await putStream(size, { ifAbsent: true })).toEqual({ bytes: size });
    },
  );

  test.each([100, 17 * MIB])('stores %d bytes with ifAbsent after a conflict', async (size) => {
    for (const operation of ['PutObject', 'CompleteUpload'] as const) fake.inject(operation, 'conflict', 1);
    expect(await putStream(size, { ifAbsent: true })).toEqual({ bytes: size });
  });

  test('does not count a broken connection as one of the conflicts', async () => {
    fake.inject('PutObject', 'cut', 1);
    fake.inject('PutObject', 'conflict', 3);
    expect(await putStream(100, { ifAbsent: true })).toEqual({ bytes: 100 });
  });

  test.each([100, 17 * MIB])(
    'stores %d bytes with ifAbsent where the server has no conditional writes',
    async (size) => {
      fake.knowsConditions = false;
      expect(await putStream(size, { ifAbsent: true })).toEqual({ bytes: size });
    },
  );

  test('recognises its own object when every response to the completion was lost', async () => {
    fake.inject('CompleteUpload', 'cut-after');
    expect(await putStream(17 * MIB)).toEqual({ bytes: 17 * MIB });
  });

  test('does not mistake an older object for its own', async () => {
    await putStream(17 * MIB);
    fake.inject('CompleteUpload', 'cut');
    await expect(putStream(17 * MIB)).rejects.toThrow();
  });

  test('an abort removes the multipart upload before it rejects', async () => {
    const body = new PassThrough();
    const controller = new AbortController();
    const storing = store.putStream('a/b', body, { contentType: 'video/mp4', signal: controller.signal });
    for (let part = 0; part < 20; part += 1) body.write(Buffer.alloc(MIB));
    await fake.waitFor('UploadPart');
    controller.abort();
    await expect(storing).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(fake.log).toContain('AbortUpload');
    expect(fake.uploads.size).toBe(0);
    expect(fake.objects.size).toBe(0);
  });

  test('does not mistake a refusal or a missing bucket for a missing object', async () => {
    fake.inject('HeadObject', 'forbidden');
    fake.inject('GetObject', 'forbidden');
    await expect(store.head('a/b')).rejects.toThrow();
    await expect(store.get('a/b')).rejects.toThrow(expect.objectContaining({ name: 'AccessDenied' }));

    const elsewhere = new S3ObjectStore({ ...fakeOptions(), bucket: 'none' });
    await expect(elsewhere.check()).rejects.toThrow();
    fake.reset();
    const failure = await elsewhere.get('a/b').catch((error: unknown) => error);
    expect(failure).not.toBeInstanceOf(ObjectNotFoundError);
    expect(failure).toMatchObject({ name: 'NoSuchBucket' });
    elsewhere.close();
  });

  test('continues a broken fetch from the first missing byte', async () => {
    const content = randomBytes(8 * MIB);
    await store.put('a/b', content, 'video/mp4');
    fake.inject('GetObject', 'cut-halfway', 2);
    const folder = await mkdtemp(join(tmpdir(), 's3-store-'));
    try {
      await store.fetchToFile('a/b', join(folder, 'source'), never);
      expect((await readFile(join(folder, 'source'))).equals(content)).toBe(true);
      // One half, one quarter and the rest.
      expect(fake.log.filter((operation) => operation === 'GetObject')).toHaveLength(3);
      expect(fake.bytesSent).toBeLessThan(1.5 * content.byteLength);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('continues a broken fetch of a range', async () => {
    const content = randomBytes(8 * MIB);
    await store.put('a/b', content, 'video/mp4');
    fake.inject('GetObject', 'cut-halfway', 2);
    const folder = await mkdtemp(join(tmpdir(), 's3-store-'));
    try {
      const path = join(folder, 'source');
      await writeFile(path, '');
      const range = { start: MIB, end: 5 * MIB - 1 };
      await store.fetchRange('a/b', range, path, { signal: never, onWritten: () => {} });
      expect((await readFile(path)).subarray(MIB).equals(content.subarray(MIB, 5 * MIB))).toBe(true);
      expect(fake.log.filter((operation) => operation === 'GetObject')).toHaveLength(3);
      expect(fake.bytesSent).toBeLessThan(1.5 * 4 * MIB);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('does not continue a broken fetch with another object', async () => {
    await store.put('a/b', Buffer.alloc(8 * MIB, 2), 'video/mp4');
    const others = [...fake.objects];
    await store.put('a/b', Buffer.alloc(8 * MIB, 1), 'video/mp4');
    fake.inject('GetObject', 'cut-halfway', 1);
    const folder = await mkdtemp(join(tmpdir(), 's3-store-'));
    try {
      const fetching = store.fetchToFile('a/b', join(folder, 'source'), never);
      const outcome = expect(fetching).rejects.toThrow(
        expect.objectContaining({ name: 'PreconditionFailed' }),
      );
      await fake.waitFor('GetObject');
      // At once, because the next request follows soon.
      for (const [key, object] of others) fake.objects.set(key, object);
      await outcome;
      expect(await readdir(folder)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.each([
    ['md5', ['DeleteObjects', 'DeleteObjects', 'DeleteObjects']],
    ['none', ['DeleteObjects', 'DeleteObjects', 'DeleteObject', 'DeleteObject']],
  ] as const)(
    'deletes from a server that supports %s, and remembers the method',
    async (deletions, operations) => {
      fake.deletions = deletions;
      const fresh = new S3ObjectStore(fakeOptions());
      for (const prefix of ['a', 'b']) {
        await fresh.put(`${prefix}/object`, Buffer.from('x'), 'text/plain');
        await fresh.deletePrefix(`${prefix}/`);
      }
      expect(fake.objects.size).toBe(0);
      expect(fake.log.filter((operation) => operation.startsWith('Delete'))).toEqual(operations);
      fresh.close();
    },
  );

  test('returns to the first method of deletion after temporary refusals', async () => {
    const fresh = new S3ObjectStore(fakeOptions());
    fake.inject('DeleteObjects', 'bad-request', 2);
    for (const prefix of ['a', 'b']) {
      await fresh.put(`${prefix}/object`, Buffer.from('x'), 'text/plain');
      await fresh.deletePrefix(`${prefix}/`);
    }
    expect(fake.objects.size).toBe(0);
    const operations = ['DeleteObjects', 'DeleteObjects', 'DeleteObject', 'DeleteObjects'];
    expect(fake.log.filter((operation) => operation.startsWith('Delete'))).toEqual(operations);
    fresh.close();
  });

  test.each<Fault>(['error', 'cut'])(
    'opens an object although GetObject fails once with %s',
    async (fault) => {
      await putStream(100);
      fake.inject('GetObject', fault, 1);
      expect(await buffer((await store.get('a/b')).body)).toHaveLength(100);
    },
  );

  test.each<Fault>(['error', 'cut'])(
    'tries three times to open an object whose reads fail with %s',
    async (fault) => {
      await putStream(100);
      fake.inject('GetObject', fault);
      const failure = await store.get('a/b').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(ObjectNotFoundError);
      expect(fake.log.filter((operation) => operation === 'GetObject')).toHaveLength(3);
    },
  );

  test('a read that breaks halfway rejects and leaves no file', async () => {
    await putStream(4 * MIB);
    fake.inject('GetObject', 'cut-halfway');
    const folder = await mkdtemp(join(tmpdir(), 's3-store-'));
    try {
      await expect(buffer((await store.get('a/b')).body)).rejects.toThrow();
      await expect(store.fetchToFile('a/b', join(folder, 'source'), never)).rejects.toThrow();
      expect(await readdir(folder)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.each<Fault>(['hang', 'hang-halfway'])(
    'an aborted read does not wait for a server with the fault %s',
    async (fault) => {
      await putStream(4 * MIB);
      fake.inject('GetObject', fault);
      const folder = await mkdtemp(join(tmpdir(), 's3-store-'));
      const controller = new AbortController();
      try {
        const fetching = expect(
          store.fetchToFile('a/b', join(folder, 'source'), controller.signal),
        ).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
        await fake.waitFor('GetObject');
        if (fault === 'hang-halfway') await until(async () => (await readdir(folder)).length > 0);
        controller.abort();
        await fetching;
        expect(await readdir(folder)).toEqual([]);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  test('lists and deletes more than a page', async () => {
    await putStream(1);
    const object = fake.objects.get('a/b');
    if (!object) throw new Error('not stored');
    for (let index = 0; index < 2_500; index += 1) fake.objects.set(`p/${index}`, object);

    expect(await Array.fromAsync(store.list('p/'))).toHaveLength(2_500);
    await store.deletePrefix('p/');

    expect([...fake.objects.keys()]).toEqual(['a/b']);
  });

  test('aborts more stale uploads than a page', async () => {
    const startedAt = new Date(0);
    for (const id of ['1', '2', '3', '4', '5']) {
      fake.uploads.set(id, { id, key: 'a/b', headers: {}, parts: new Map(), startedAt });
    }
    fake.pageSize = 2;
    expect(await store.abortStaleUploads(new Date(1), noneIsLive)).toBe(5);
    expect(fake.uploads.size).toBe(0);
  });

  test('does not abort stale uploads that are still being written', async () => {
    for (const key of ['a/b', 'a/c']) {
      fake.uploads.set(key, { id: key, key, headers: {}, parts: new Map(), startedAt: new Date(0) });
    }
    expect(await store.abortStaleUploads(new Date(1), async (key) => key === 'a/c')).toBe(1);
    expect([...fake.uploads.keys()]).toEqual(['a/c']);
  });

  test('aborts only the unfinished uploads below a prefix', async () => {
    for (const key of ['a/b', 'a/c', 'ab/c']) {
      fake.uploads.set(key, { id: key, key, headers: {}, parts: new Map(), startedAt: new Date() });
    }
    await store.abortUploads('a/');
    expect([...fake.uploads.keys()]).toEqual(['ab/c']);
  });

  test('names an object that could not be deleted', async () => {
    await putStream(1);
    fake.undeletable.add('a/b');
    await expect(store.deletePrefix('a/')).rejects.toThrow('1 of 1 objects were not deleted, the first a/b');
  });
});
