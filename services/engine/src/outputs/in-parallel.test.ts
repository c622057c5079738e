import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { inParallel } from './in-parallel.ts';

const { signal } = new AbortController();
const items = [...Array(20).keys()];

test('some items are worked on at a time, and the results are in their order', async () => {
  let active = 0;
  let most = 0;
  const results = await inParallel(
    items,
    async (item) => {
      active += 1;
      most = Math.max(most, active);
      for (let turns = item % 3; turns >= 0; turns -= 1) await setImmediate();
      active -= 1;
      return 2 * item;
    },
    signal,
  );
  expect(results).toEqual(items.map((item) => 2 * item));
  expect(most).toBe(4);
});

test('after a failure nothing begins, and what has begun has ended', async () => {
  const failure = new Error('The segment is missing');
  let begun = 0;
  let ended = 0;
  const work = async (item: number) => {
    begun += 1;
    if (item === 1) throw failure;
    for (let turns = 0; turns < 5; turns += 1) await setImmediate();
    ended += 1;
  };
  await expect(inParallel(items, work, signal)).rejects.toBe(failure);
  expect([begun, ended]).toEqual([4, 3]);
});
