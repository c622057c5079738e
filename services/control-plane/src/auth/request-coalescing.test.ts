import { expect, test } from '@jest/globals';
import { RequestCoalescing } from './request-coalescing.ts';

test('calls of the same turn share one lookup for each name', async () => {
  const lookups = new RequestCoalescing<number>();
  let count = 0;
  const get = (name: string) =>
    lookups.get(name, async () => {
      count += 1;
      return count;
    });
  const calls = [get('a'), get('b'), get('a'), Promise.resolve().then(() => get('a'))];
  expect(await Promise.all(calls)).toEqual([1, 2, 1, 1]);
});

test('a call during a lookup starts a new one', async () => {
  const lookups = new RequestCoalescing<string>();
  const started = Promise.withResolvers<void>();
  const result = Promise.withResolvers<string>();
  const first = lookups.get('a', () => {
    started.resolve();
    return result.promise;
  });
  await started.promise;
  expect(await lookups.get('a', async () => 'new')).toBe('new');
  result.resolve('old');
  expect(await first).toBe('old');
});

test('a failed lookup rejects for every caller that shares it, and the next call starts a new one', async () => {
  const lookups = new RequestCoalescing<string>();
  const fail = () => Promise.reject(new Error('The database is unavailable'));
  const both = await Promise.allSettled([lookups.get('a', fail), lookups.get('a', fail)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await lookups.get('a', async () => 'found')).toBe('found');
});
