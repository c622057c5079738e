import { expect, test } from '@jest/globals';
import { SharedLookups } from './shared-lookups.ts';

/** Counts its lookups, and answers with the number of the one. */
function counted() {
  const lookups = new SharedLookups<number>();
  let count = 0;
  return {
    ask: (name = 'a') =>
      lookups.get(name, async () => {
        count += 1;
        return count;
      }),
  };
}

test('calls of the same moment share a lookup', async () => {
  const { ask } = counted();
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
});

test('each name has its own', async () => {
  const { ask } = counted();
  expect(await Promise.all([ask('a'), ask('b'), ask('a')])).toEqual([1, 2, 1]);
});

test('a call that comes while a lookup is under way waits for a later one', async () => {
  const lookups = new SharedLookups<string>();
  const begun = Promise.withResolvers<void>();
  const old = Promise.withResolvers<string>();
  const first = lookups.get('a', () => {
    begun.resolve();
    return old.promise;
  });
  await begun.promise;
  expect(await lookups.get('a', async () => 'new')).toBe('new');
  old.resolve('old');
  expect(await first).toBe('old');
});

test('a lookup that fails fails for all who share it, and for no one after', async () => {
  const lookups = new SharedLookups<string>();
  const fail = () => Promise.reject(new Error('The database is away'));
  const both = await Promise.allSettled([lookups.get('a', fail), lookups.get('a', fail)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await lookups.get('a', async () => 'there')).toBe('there');
});
