import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { SourceCache } from './source-cache.ts';

const SOURCE = { videoId: 'vid_1', sourceKey: 'sources/ws/vid_1/xfr_1/original' };

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-source-cache-'));
  await mkdir(join(directory, 'kept'));
});
afterEach(() => rm(directory, { recursive: true }));

/** A cache, and the downloads of its store, which `fetch` replaces. */
function cacheOf({ areLinks = false, fetch = (path: string) => writeFile(path, 'source') } = {}) {
  const fetchToFile = jest.fn((_key: string, path: string) => fetch(path));
  const objects = { fetchToFile } as Partial<ObjectStore> as ObjectStore;
  const cache = new SourceCache({ folder: join(directory, 'kept'), objects, areLinks });
  const link = (name: string, signal = new AbortController().signal) =>
    cache.link(SOURCE, join(directory, name), signal);
  return { cache, fetchToFile, link };
}

const contentOf = (name: string) => readFile(join(directory, name), 'utf8');

test('fetches a source once for jobs at the same time and later ones', async () => {
  const { cache, fetchToFile, link } = cacheOf();
  expect(cache.has(SOURCE.videoId)).toBe(false);
  await Promise.all([link('a'), link('b')]);
  await link('c');
  expect(fetchToFile).toHaveBeenCalledTimes(1);
  expect(await Promise.all(['a', 'b', 'c'].map(contentOf))).toEqual(Array(3).fill('source'));
  expect((await stat(join(directory, 'a'))).nlink).toBe(4);
  expect(cache.has(SOURCE.videoId)).toBe(true);
});

test('a failed download fails its job only; the next job downloads again, over what is there', async () => {
  const results = [() => Promise.reject(new Error('reset')), (path: string) => writeFile(path, 'source')];
  const { fetchToFile, link } = cacheOf({ fetch: (path) => results.shift()?.(path) ?? Promise.reject() });
  const [first, second] = [link('a'), link('b')];
  await expect(first).rejects.toThrow('reset');
  await second;
  await writeFile(join(directory, 'c'), 'a part');
  await link('c');
  expect(fetchToFile).toHaveBeenCalledTimes(2);
  expect(await contentOf('c')).toBe('source');
});

test('a job that is aborted while another one downloads does not wait for ever', async () => {
  const { promise: fetched, reject } = Promise.withResolvers<void>();
  const { link } = cacheOf({ fetch: () => fetched });
  const aborted = new AbortController();
  const first = link('a');
  const second = link('b', aborted.signal);
  aborted.abort(new Error('stopped'));
  reject(new Error('reset'));
  await expect(first).rejects.toThrow('reset');
  await expect(second).rejects.toThrow('stopped');
});

test('the source that was used least recently gives way, unless a job holds it', async () => {
  const { cache, fetchToFile, link } = cacheOf();
  await writeFile(join(directory, 'planned'), 'source');
  for (const videoId of [SOURCE.videoId, 'vid_2', 'vid_3']) {
    await cache.keep(videoId, join(directory, 'planned'));
  }
  const kept = () => [SOURCE.videoId, 'vid_2', 'vid_3'].filter((videoId) => cache.has(videoId));
  const release = cache.hold(SOURCE.videoId);
  const releaseAgain = cache.hold(SOURCE.videoId);
  expect(await cache.removeOldest()).toBe(true);
  expect(kept()).toEqual([SOURCE.videoId, 'vid_3']);
  releaseAgain();
  await cache.removeOldest();
  expect(kept()).toEqual([SOURCE.videoId]);
  expect(await cache.removeOldest()).toBe(false);
  await link('a');
  expect(fetchToFile).not.toHaveBeenCalled();
  release();
  expect(await cache.removeOldest()).toBe(true);
  expect(await readdir(join(directory, 'kept'))).toEqual([]);
  expect(await contentOf('a')).toBe('source');
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
  await until(async () => (await readdir(join(directory, 'kept'))).length === 0);
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
  } finally {
    jest.useRealTimers();
  }
});

test('keeps nothing if downloads are links to stored objects', async () => {
  const { cache, fetchToFile, link } = cacheOf({ areLinks: true });
  expect(cache.has(SOURCE.videoId)).toBe(true);
  await link('a');
  await cache.keep(SOURCE.videoId, join(directory, 'a'));
  await link('b');
  expect(fetchToFile).toHaveBeenCalledTimes(2);
  expect(await readdir(join(directory, 'kept'))).toEqual([]);
});
