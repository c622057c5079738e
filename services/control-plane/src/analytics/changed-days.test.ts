import { expect, test } from '@jest/globals';
import { ChangedDays, type KindOfDay, SLICE } from './changed-days.ts';

type Day = { key: string; reports: number };

const LARGE = SLICE + 1;

/** Days that are found two at a time, and what was done with them. */
function changing(...initially: Day[]) {
  let changed = initially;
  let now = 1000;
  const done: string[] = [];
  const fails = new Set<string>();
  const work = (name: string) => async (days: readonly Day[]) => {
    done.push(`${name} ${days.map(({ key }) => key).join(' ')}`);
    if (name === 'large') now += 10;
    const failing = days.find(({ key }) => fails.has(`${name} ${key}`));
    if (failing !== undefined) throw new Error(`${failing.key} fails`);
  };
  const kind: KindOfDay<Day> = {
    keyOf: ({ key }) => key,
    find: async (after) => changed.filter(({ key }) => key > (after?.key ?? '')).slice(0, 2),
    sumUp: work('small'),
    sumUpLarge: (day) => work('large')([day]),
    end: async (days) => {
      await work('end')(days);
      changed = changed.filter((day) => !days.includes(day));
    },
  };
  const days = new ChangedDays(kind, () => now);
  return {
    fails,
    change: (day: Day) => {
      changed = [...changed.filter(({ key }) => key !== day.key), day].toSorted((a, b) =>
        a.key.localeCompare(b.key),
      );
    },
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    sumUp: async () => {
      const outcome = await days.sumUp().then(
        () => [],
        (error: AggregateError) => error.errors.map(({ message }: Error) => message),
      );
      return [...done.splice(0), ...outcome];
    },
  };
}

test('a batch has at most a slice; large days come last, each alone', async () => {
  const { sumUp } = changing(
    { key: 'a', reports: LARGE },
    { key: 'b', reports: SLICE - 1 },
    { key: 'c', reports: 1 },
    { key: 'd', reports: 0 },
    { key: 'e', reports: SLICE },
    { key: 'f', reports: SLICE },
  );
  expect(await sumUp()).toEqual([
    ...['small b', 'end b', 'small c d', 'end c d', 'small e', 'end e', 'small f', 'end f'],
    ...['large a', 'end a'],
  ]);
  expect(await sumUp()).toEqual([]);
});

test('a day that fails stops no other, and is repeated in the next run', async () => {
  const { sumUp, fails } = changing(
    { key: 'a', reports: 1 },
    { key: 'b', reports: 1 },
    { key: 'c', reports: 1 },
  );
  fails.add('small a').add('end c');
  expect(await sumUp()).toEqual([
    ...['small a b', 'small a', 'small b', 'end b', 'small c', 'end c'],
    ...['a fails', 'c fails'],
  ]);
  fails.clear();
  expect(await sumUp()).toEqual(['small a c', 'end a c']);
});

test('a large day rests for nine times as long as it took', async () => {
  const { sumUp, change, pass } = changing({ key: 'a', reports: LARGE });
  expect(await sumUp()).toEqual(['large a', 'end a']);
  change({ key: 'a', reports: LARGE });
  change({ key: 'b', reports: LARGE });
  expect(await sumUp()).toEqual(['large b', 'end b']);
  pass(79);
  expect(await sumUp()).toEqual([]);
  pass(1);
  expect(await sumUp()).toEqual(['large a', 'end a']);
});

test('a large day that fails is done once, rests too, and stops no other', async () => {
  const { sumUp, fails, pass } = changing({ key: 'a', reports: LARGE }, { key: 'b', reports: LARGE });
  fails.add('large a');
  expect(await sumUp()).toEqual(['large a', 'large b', 'end b', 'a fails']);
  expect(await sumUp()).toEqual([]);
  pass(80);
  expect(await sumUp()).toEqual(['large a', 'a fails']);
});
