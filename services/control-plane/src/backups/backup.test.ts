import { expect, test } from '@jest/globals';
import { plannedCopies } from './backup.ts';

async function* entries<T>(...items: T[]) {
  yield* items;
}

test('an object is copied unless its copy has the same size, and its hash is known', async () => {
  const named = ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key, bytes: 5 }));
  const copies = [
    { key: 'a', bytes: 5 },
    { key: 'b', bytes: 4 },
    { key: 'c', bytes: 5 },
    { key: 'x', bytes: 5 },
  ];
  const known = [
    { key: 'a', bytes: 5, sha256: 'of a' },
    { key: 'b', bytes: 5, sha256: 'of b' },
    { key: 'd', bytes: 5, sha256: 'of d' },
    { key: 'y', bytes: 5, sha256: 'of y' },
  ];
  const plan = await Array.fromAsync(plannedCopies(entries(...named), entries(...copies), entries(...known)));
  expect(plan.map(({ key, sha256 }) => [key, sha256])).toEqual([
    ['a', 'of a'],
    ['b', null],
    ['c', null],
    ['d', null],
    ['e', null],
  ]);
});
