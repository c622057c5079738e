import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { ObjectNotFoundError, type StoredObject } from '@framelane/object-store/object-store';
import { collectGarbage } from '@framelane/test-kit/collect-garbage';
import { until } from '@framelane/test-kit/until';
import { describe, expect, jest, test } from '@jest/globals';
import { Metrics } from '../metrics/metrics.ts';
import { type ReadableObject, StoredReads } from './stored-reads.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Reads of objects in memory, which `get` returns. */
function readsOf(contents: Record<string, Buffer>, { cacheBytes = 16 * MIB, waitMs = 5_000 } = {}) {
  const metrics = new Metrics();
  const get = jest.fn(async (key: string, range?: { start: number; end: number }): Promise<StoredObject> => {
    const content = contents[key];
    if (content === undefined) throw new ObjectNotFoundError(key);
    const body = Readable.from([content.subarray(range?.start, (range?.end ?? content.length) + 1)]);
    return { bytes: content.byteLength, etag: '"e"', modifiedAt: new Date(), body };
  });
  const reads = new StoredReads({ objects: { get }, metrics, cacheBytes, waitMs });
  const object = (key: string, shared = true): ReadableObject => ({
    key,
    bytes: contents[key]?.byteLength ?? 10,
    shared,
    missing: (error) => error,
  });
  const readAll = (key: string, shared?: boolean) => {
    const asked = object(key, shared);
    return Array.fromAsync(reads.read(asked, { start: 0, end: asked.bytes - 1 }));
  };
  const metric = async (line: string) => (await metrics.registry.metrics()).includes(`\n${line}\n`);
  return { reads, get, object, readAll, metric };
}

describe('shared objects', () => {
  test('are read once, whole, and then come from the cache', async () => {
    const content = randomBytes(MIB);
    const { reads, get, object, readAll, metric } = readsOf({ a: content });
    const [first, second] = await Promise.all([readAll('a'), readAll('a')]);
    expect([Buffer.concat(first).equals(content), Buffer.concat(second).equals(content)]).toEqual([
      true,
      true,
    ]);
    const range = await Array.fromAsync(reads.read(object('a'), { start: 10, end: 19 }));
    expect(Buffer.concat(range).equals(content.subarray(10, 20))).toBe(true);
    expect(get).toHaveBeenCalledTimes(1);
    for (const result of ['hit', 'coalesced', 'miss']) {
      expect(await metric(`framelane_segment_cache_requests_total{result="${result}"} 1`)).toBe(true);
    }
    expect(await metric(`framelane_stored_file_memory_bytes{use="cached"} ${MIB}`)).toBe(true);
  });

  test('leave the cache in the order of their last use', async () => {
    const names = Array.from({ length: 17 }, (_, number) => `object-${number}`);
    const { get, readAll } = readsOf(Object.fromEntries(names.map((name) => [name, randomBytes(MIB)])));
    for (const name of names.slice(0, 16)) await readAll(name);
    await readAll('object-0');
    await readAll('object-16');
    get.mockClear();
    await readAll('object-0');
    expect(get).not.toHaveBeenCalled();
    await readAll('object-1');
    expect(get).toHaveBeenCalledTimes(1);
  });

  test('are read again after a failure', async () => {
    const { get, readAll } = readsOf({ a: randomBytes(10) });
    get.mockRejectedValueOnce(new Error('connect ECONNREFUSED'));
    await expect(readAll('a')).rejects.toThrow('The storage cannot be reached at the moment.');
    expect(await readAll('a')).toHaveLength(1);
  });

  test('are not cached when they are large, or the cache has no memory', async () => {
    for (const { bytes, cacheBytes } of [{ bytes: 2 * MIB }, { bytes: 10, cacheBytes: 0 }]) {
      const { get, readAll, metric } = readsOf(
        { a: randomBytes(bytes) },
        { ...(cacheBytes === 0 && { cacheBytes }) },
      );
      await readAll('a');
      get.mockClear();
      await readAll('a');
      expect(get).toHaveBeenCalled();
      expect(await metric('framelane_stored_file_memory_bytes{use="cached"} 0')).toBe(true);
      expect(await metric('framelane_segment_cache_requests_total{result="miss"} 2')).toBe(true);
    }
  });
});

test('other objects are read in pieces', async () => {
  const content = randomBytes(2.5 * MIB);
  const { get, readAll } = readsOf({ a: content });
  const pieces = await readAll('a', false);
  expect(pieces.map((piece) => piece.byteLength)).toEqual([MIB, MIB, 0.5 * MIB]);
  expect(Buffer.concat(pieces).equals(content)).toBe(true);
  expect(get).toHaveBeenCalledTimes(3);
});

test('a read whose connection breaks is repeated', async () => {
  const content = randomBytes(100);
  const { get, readAll } = readsOf({ a: content });
  const broken = Readable.from([content.subarray(0, 50)]);
  get.mockResolvedValueOnce({ bytes: 100, etag: '"e"', modifiedAt: new Date(), body: broken });
  expect(Buffer.concat(await readAll('a')).equals(content)).toBe(true);
});

describe('clients that read nothing', () => {
  /** Reads the first pieces for `count` paused clients, and keeps them. */
  async function pause(
    { reads, object }: ReturnType<typeof readsOf>,
    key: string,
    count: number,
    shared = false,
  ) {
    const held = [];
    for (let client = 0; client < count; client += 1) {
      const asked = object(key, shared);
      const pieces = reads.read(asked, { start: 0, end: asked.bytes - 1 });
      held.push({ pieces, piece: (await pieces.next()).value as Buffer });
    }
    return held;
  }

  test('get small pieces when memory is scarce, without keeping cached objects in memory', async () => {
    const content = randomBytes(MIB);
    const segments = Array.from({ length: 96 }, (_, number) => [`segment-${number}`, content] as const);
    const bench = readsOf({ large: randomBytes(2 * MIB), ...Object.fromEntries(segments) });
    const held = await pause(bench, 'large', 65);
    const before = process.memoryUsage().arrayBuffers;
    for (const [key] of segments) held.push(...(await pause(bench, key, 1, true)));
    const [last] = held.slice(-1);
    expect([last?.piece.byteLength, last?.piece.buffer.byteLength]).toEqual([128 * KIB, 128 * KIB]);
    // The cache, the pieces, and some garbage.
    const limit = before + 16 * MIB + segments.length * 128 * KIB + 8 * MIB;
    await until(
      () => {
        collectGarbage();
        return process.memoryUsage().arrayBuffers < limit;
      },
      { seconds: 20 },
    );
    for (const { pieces } of held) await pieces.return();
  });

  test('do not load a segment into the cache again', async () => {
    const contents = { large: randomBytes(2 * MIB), segment: randomBytes(MIB) };
    const bench = readsOf(contents, { cacheBytes: 16 * MIB });
    await pause(bench, 'large', 65);
    const pieces = bench.reads.read(bench.object('segment'), { start: 0, end: MIB - 1 });
    await pieces.next();
    const others = Object.fromEntries(
      Array.from({ length: 16 }, (_, number) => [`${number}`, randomBytes(MIB)]),
    );
    Object.assign(contents, others);
    for (const name of Object.keys(others)) await bench.readAll(name);
    bench.get.mockClear();
    expect(
      Buffer.compare((await pieces.next()).value as Buffer, contents.segment.subarray(128 * KIB, 256 * KIB)),
    ).toBe(0);
    expect(bench.get.mock.calls).toEqual([['segment', { start: 128 * KIB, end: 256 * KIB - 1 }]]);
  });

  test('can take all memory; other requests then wait, and fail with 503', async () => {
    const bench = readsOf({ large: randomBytes(2 * MIB), small: randomBytes(10) }, { waitMs: 20 });
    const held = await pause(bench, 'large', 65 + (192 * MIB) / (128 * KIB) - 8);
    await expect(bench.readAll('large')).rejects.toMatchObject({
      code: 'unavailable',
      options: { headers: { 'Retry-After': '5' } },
    });
    expect(await bench.metric('framelane_stored_file_refusals_total 1')).toBe(true);
    for (const { pieces } of held) await pieces.return();
    expect(await bench.readAll('small')).toHaveLength(1);
    expect(await bench.metric('framelane_stored_file_memory_bytes{use="unsent"} 0')).toBe(true);
  });
});

test('at most 32 reads run at a time; the others wait, then fail with 503', async () => {
  const bench = readsOf({ a: randomBytes(10) }, { waitMs: 20 });
  const storage = Promise.withResolvers<never>();
  bench.get.mockReturnValue(storage.promise);
  const running = Array.from({ length: 32 }, () => bench.readAll('a', false));
  await expect(bench.readAll('a', false)).rejects.toMatchObject({ code: 'unavailable' });
  expect(bench.get).toHaveBeenCalledTimes(32);
  storage.reject(new Error('unavailable'));
  await Promise.allSettled(running);
});
