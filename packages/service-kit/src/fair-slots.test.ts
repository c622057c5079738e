import { expect, test } from '@jest/globals';
import { FairSlots, QueueFullError } from './fair-slots.ts';

/** Work of participants that share slots. It records what starts, and ends on request. */
function sharedWork(slots: number, maxWaiting: number) {
  const fair = new FairSlots(slots, maxWaiting);
  const started: string[] = [];
  const running: (() => void)[] = [];
  const add = (name: string) =>
    fair.run(name.charAt(0), () => {
      started.push(name);
      return new Promise<void>((resolve) => running.push(resolve));
    });
  const endAll = async () => {
    for (let idle = 0; idle < 2; ) {
      await new Promise(setImmediate);
      const end = running.shift();
      idle = end === undefined ? idle + 1 : 0;
      end?.();
    }
  };
  return { add, endAll, started };
}

test('work starts at once while a slot is free, also after work that failed', async () => {
  const fair = new FairSlots(1, 0);
  await expect(fair.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await fair.run('a', async () => 'done')).toBe('done');
});

test('participants get slots in turn, whatever the number of their works', async () => {
  const { add, endAll, started } = sharedWork(1, 10);
  const works = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(add);
  await endAll();
  await Promise.all(works);
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('the queue has a limit, and the participant with the most waiting work is refused', async () => {
  const { add, endAll, started } = sharedWork(2, 3);
  const works = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'a6', 'c1'].map((name) =>
    add(name).then(
      () => null,
      (error: unknown) => (error instanceof QueueFullError ? name : error),
    ),
  );
  await endAll();
  // b1 takes the place of a5, b2 that of a4. a6 has as much waiting as b2 has, and comes last; c1 takes the place of b2.
  expect(await Promise.all(works)).toEqual([null, null, null, 'a4', 'a5', null, 'b2', 'a6', null]);
  expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
});
