import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { concurrently } from './concurrently.ts';

async function* numbers(count: number) {
  for (let number = 0; number < count; number += 1) yield number;
}

test('results are in the order of the items, of which at most some are worked on', async () => {
  const ends: (() => void)[] = [];
  let [running, most] = [0, 0];
  const results = concurrently(numbers(5), 3, async (number) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    return number;
  });
  const all = Array.fromAsync(results);
  // Those that run end in the reverse order.
  for (const count of [3, 2]) {
    while (ends.length < count) await setImmediate();
    for (const end of ends.splice(0).reverse()) end();
  }
  expect(await all).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(3);
});

test('a failure ends the work, after what runs has ended', async () => {
  const ended: number[] = [];
  const second = Promise.withResolvers<void>();
  const results = concurrently(numbers(10), 2, async (number) => {
    if (number === 0) throw new Error('failed');
    await second.promise;
    ended.push(number);
  });
  const all = Array.fromAsync(results);
  second.resolve();
  await expect(all).rejects.toThrow('failed');
  expect(ended).toEqual([1]);
});
