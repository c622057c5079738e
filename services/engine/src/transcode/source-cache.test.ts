import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { ByteRanges } from '../source/byte-ranges.ts';
import { SourceCache } from './source-cache.ts';

const CONTENT = Buffer.from('0123456789');
const SOURCE = {
  videoId: 'vid_1',
  sourceKey: 'sources/ws/vid_1/xfr_1/original',
  sourceBytes: CONTENT.byteLength,
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-source-cache-'));
  await mkdir(join(directory, 'cache'));
});
afterEach(() => rm(directory, { recursive: true }));

type FetchRange = ObjectStore['fetchRange'];

/** Writes a range of the source. */
const writeRange: FetchRange = async (_key, { start, end }, path, { onWritten }) => {
  const file = await open(path, 'r+');
  await file.write(CONTENT, start, end + 1 - start, start);
  await file.close();
  onWritten(end + 1);
};

/** A cache, and the downloads of its store, which `fetch` replaces. */
function cacheOf({ fetchesAsLinks = false, fetch = writeRange } = {}) {
  const fetched: number[] = [];
  const fetchRange = jest.fn<FetchRange>(fetch);
  const fetchToFile = jest.fn((_key: string, path: string) => writeFile(path, CONTENT));
  const objects = { fetchRange, fetchToFile } as Partial<ObjectStore> as ObjectStore;
  const onFetched = (bytes: number) => void fetched.push(bytes);
  const cache = new SourceCache({ folder: join(directory, 'cache'), objects, fetchesAsLinks, onFetched });
  const link = (name: string, parts?: ByteRanges, signal = new AbortController().signal) =>
    cache.link(SOURCE, join(directory, name), signal, parts);
  const ranges = () => fetchRange.mock.calls.map(([, { start, end }]) => [start, end]);
  const add = async (videoId: string) => {
    const path = join(directory, `source-of-${videoId}`);
    await writeFile(path, CONTENT);
    await cache.add({ ...SOURCE, videoId }, path);
  };
  return { cache, fetchToFile, fetchRange, fetched, link, ranges, add };
}

const contentOf = (name: string) => readFile(join(directory, name), 'latin1');
const WHOLE = String(CONTENT);

test('fetches a source once for jobs at the same time and later ones', async () => {
  const { cache, ranges, link } = cacheOf();
  expect(cache.has(SOURCE.videoId)).toBe(false);
  await Promise.all([link('a'), link('b')]);
  await link('c');
  expect(ranges()).toEqual([[0, 9]]);
  expect(await Promise.all(['a', 'b', 'c'].map(contentOf))).toEqual(Array(3).fill(WHOLE));
  expect((await stat(join(directory, 'a'))).nlink).toBe(4);
  expect(cache.has(SOURCE.videoId)).toBe(true);
});

test('fetches each part once, and nothing else', async () => {
  const { cache, ranges, link } = cacheOf();
  const parts: ByteRanges = [
    [0, 2],
    [5, 7],
  ];
  expect(cache.missingBytes(SOURCE, parts)).toBe(4);
  await link('a', parts);
  expect(await contentOf('a')).toBe('01\0\0\x0056\0\0\0');
  await Promise.all([link('b', parts), link('c', [[1, 6]]), link('d', [[0, 1]])]);
  expect(await contentOf('c')).toBe('0123456\0\0\0');
  expect(cache.missingBytes(SOURCE)).toBe(3);
  await link('e');
  expect(await contentOf('e')).toBe(WHOLE);
  expect(ranges()).toEqual([
    [0, 1],
    [5, 6],
    [2, 4],
    [7, 9],
  ]);
  expect(cache.missingBytes(SOURCE)).toBe(0);
});

test('counts the bytes that are copied from the store', async () => {
  const inSteps: FetchRange = async (key, _range, path, options) => {
    await writeRange(key, { start: 0, end: 3 }, path, options);
    await writeRange(key, { start: 4, end: 9 }, path, options);
  };
  const { cache, fetched, link, fetchToFile } = cacheOf({ fetch: inSteps });
  await link('a');
  await cache.fetch(SOURCE, join(directory, 'b'), new AbortController().signal);
  expect(fetchToFile).toHaveBeenCalledTimes(1);
  expect(fetched).toEqual([4, 6, 10]);
});

test('a failed download fails its job only; the next job continues it', async () => {
  const fetch: FetchRange = async (key, range, path, options) => {
    if (range.start > 0) return writeRange(key, range, path, options);
    await writeRange(key, { start: 0, end: 3 }, path, options);
    throw new Error('reset');
  };
  const { ranges, link } = cacheOf({ fetch });
  const [first, second] = [link('a'), link('b')];
  await expect(first).rejects.toThrow('reset');
  await second;
  await link('a');
  expect(ranges()).toEqual([
    [0, 9],
    [4, 9],
  ]);
  expect(await Promise.all(['a', 'b'].map(contentOf))).toEqual([WHOLE, WHOLE]);
});

test('a job that is aborted while another one downloads ends after that download', async () => {
  const { promise: fetched, reject } = Promise.withResolvers<void>();
  const { fetchRange, link } = cacheOf({ fetch: () => fetched });
  const aborted = new AbortController();
  const first = link('a');
  const second = link('b', undefined, aborted.signal);
  aborted.abort(new Error('stopped'));
  await until(() => fetchRange.mock.calls[0]);
  reject(new Error('reset'));
  await expect(first).rejects.toThrow('reset');
  await expect(second).rejects.toThrow('stopped');
});

test('the source that was used least recently is removed, unless a job holds it', async () => {
  const { cache, fetchRange, link, add } = cacheOf();
  for (const videoId of [SOURCE.videoId, 'vid_2', 'vid_3']) await add(videoId);
  const cached = () => [SOURCE.videoId, 'vid_2', 'vid_3'].filter((videoId) => cache.has(videoId));
  const release = cache.hold(SOURCE.videoId);
  const releaseAgain = cache.hold(SOURCE.videoId);
  expect(await cache.removeLeastRecentlyUsed()).toBe(true);
  expect(cached()).toEqual([SOURCE.videoId, 'vid_3']);
  releaseAgain();
  await cache.removeLeastRecentlyUsed();
  expect(cached()).toEqual([SOURCE.videoId]);
  expect(await cache.removeLeastRecentlyUsed()).toBe(false);
  await link('a');
  expect(fetchRange).not.toHaveBeenCalled();
  release();
  expect(await cache.removeLeastRecentlyUsed()).toBe(true);
  expect(await readdir(join(directory, 'cache'))).toEqual([]);
  expect(await contentOf('a')).toBe(WHOLE);
});

test('a source that a job has used again is removed after the others', async () => {
  const { cache, add } = cacheOf();
  for (const videoId of ['vid_1', 'vid_2']) await add(videoId);
  cache.hold('vid_1')();
  await cache.removeLeastRecentlyUsed();
  expect(['vid_1', 'vid_2'].filter((videoId) => cache.has(videoId))).toEqual(['vid_1']);
});

test('nothing happens if a source that is not cached is released or removed', async () => {
  const { cache, link } = cacheOf();
  cache.hold(SOURCE.videoId)();
  await cache.remove(SOURCE.videoId);
  // A later use caches the source again.
  const release = cache.hold(SOURCE.videoId);
  await link('a');
  release();
  expect(cache.has(SOURCE.videoId)).toBe(true);
});

test('the source of a video that was deleted is removed once no job holds it', async () => {
  const { cache, link } = cacheOf();
  const release = cache.hold(SOURCE.videoId);
  const releaseOther = cache.hold(SOURCE.videoId);
  await link('a');
  await cache.remove(SOURCE.videoId);
  release();
  expect(cache.has(SOURCE.videoId)).toBe(true);
  releaseOther();
  expect(cache.has(SOURCE.videoId)).toBe(false);
  await until(async () => (await readdir(join(directory, 'cache'))).length === 0);
});

test('an idle source is removed', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  try {
    const { cache, link } = cacheOf();
    const use = async (name: string) => {
      const release = cache.hold(SOURCE.videoId);
      await link(name);
      return release;
    };
    (await use('a'))();
    jest.advanceTimersByTime(9 * 60_000);
    const release = await use('b');
    jest.advanceTimersByTime(11 * 60_000);
    release();
    jest.advanceTimersByTime(9 * 60_000);
    expect(cache.has(SOURCE.videoId)).toBe(true);
    jest.advanceTimersByTime(60_000);
    expect(cache.has(SOURCE.videoId)).toBe(false);
    // Only the last use counts, not an earlier one, and not one before a removal.
    (await use('c'))();
    jest.advanceTimersByTime(4 * 60_000);
    (await use('d'))();
    jest.advanceTimersByTime(4 * 60_000);
    await cache.removeLeastRecentlyUsed();
    (await use('e'))();
    jest.advanceTimersByTime(7 * 60_000);
    expect(cache.has(SOURCE.videoId)).toBe(true);
  } finally {
    jest.useRealTimers();
  }
});

test('caches nothing if downloads are links to stored objects', async () => {
  const { cache, fetchToFile, fetchRange, fetched, link, add } = cacheOf({ fetchesAsLinks: true });
  expect(cache.missingBytes(SOURCE)).toBe(0);
  await link('a', [[0, 2]]);
  await add(SOURCE.videoId);
  await link('b');
  expect(fetchToFile).toHaveBeenCalledTimes(2);
  expect(fetched).toEqual([]);
  expect(fetchRange).not.toHaveBeenCalled();
  expect(await readdir(join(directory, 'cache'))).toEqual([]);
});
