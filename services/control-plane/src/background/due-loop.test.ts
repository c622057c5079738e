import { createLogger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { afterEach, expect, jest, test } from '@jest/globals';
import { DueLoop, type DueWork } from './due-loop.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const NEVER_SECONDS = 3_600;

let loop: DueLoop<string> | undefined;
afterEach(() => loop?.stop());

/** A loop over rows that are due from the start. `claims` lists the limit of each claim. */
function start(
  rows: string[],
  work: Partial<DueWork<string>> & Pick<DueWork<string>, 'perform'>,
  pollSeconds = NEVER_SECONDS,
) {
  const claims: number[] = [];
  const claim = async (limit: number) => {
    claims.push(limit);
    return rows.splice(0, limit);
  };
  const made = new DueLoop({ name: 'test', concurrency: 2, claim, ...work }, { pollSeconds, logger });
  loop = made;
  made.start();
  return { claims, loop: made };
}

test('claims no more than the free slots, and the next as soon as a slot is free', async () => {
  let inProgress = 0;
  let most = 0;
  const thirdBegan = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const rows = ['a', 'b', 'c', 'd', 'e'];
  start(rows, {
    perform: async (row) => {
      inProgress += 1;
      most = Math.max(most, inProgress);
      if (row === 'c') thirdBegan.resolve();
      // One slot stays busy while the other becomes free.
      if (row === 'b') await thirdBegan.promise;
      else await Promise.resolve();
      inProgress -= 1;
      if (row === 'e') done.resolve();
    },
  });
  await done.promise;
  expect(most).toBe(2);
});

test('claims nothing while no slot is free, however often it is woken', async () => {
  const rows = ['a', 'b', 'c', 'd'];
  const slots = new Map(rows.map((row) => [row, Promise.withResolvers<void>()]));
  const begun: string[] = [];
  const { claims, loop } = start([...rows], {
    perform: (row) => {
      begun.push(row);
      return slots.get(row)?.promise ?? Promise.resolve();
    },
  });
  await until(() => begun.length === 2);
  loop.wake();
  await new Promise(setImmediate);
  expect(claims).toEqual([2]);
  slots.get('a')?.resolve();
  await until(() => begun.length === 3);
  expect(claims).toEqual([2, 1]);
  for (const { resolve } of slots.values()) resolve();
});

test('claims again after the interval, without being woken', async () => {
  const begin = performance.now();
  const { claims } = start([], { perform: async () => {} }, 0.001);
  await until(() => claims.length >= 5);
  expect(performance.now() - begin).toBeLessThan(3000);
});

test('claims again soon after a claim that failed', async () => {
  const performed = Promise.withResolvers<string>();
  let claims = 0;
  start([], {
    perform: async (row) => performed.resolve(row),
    claim: async () => {
      claims += 1;
      if (claims === 1) throw new Error('unavailable');
      return claims === 2 ? ['late'] : [];
    },
  });
  expect(await performed.promise).toBe('late');
});

test('a row that becomes due during a claim is claimed right afterwards', async () => {
  const performed = Promise.withResolvers<string>();
  const rows: string[] = [];
  start(rows, {
    perform: async (row) => performed.resolve(row),
    claim: async (limit) => {
      const found = rows.splice(0, limit);
      if (found.length === 0) {
        rows.push('late');
        loop?.wake();
      }
      return found;
    },
  });
  expect(await performed.promise).toBe('late');
});

test('work that fails stops neither the loop nor other work', async () => {
  const done = Promise.withResolvers<void>();
  start(['bad', 'good', 'last'], {
    perform: async (row) => {
      if (row === 'bad') throw new Error('no');
      if (row === 'last') done.resolve();
    },
  });
  await done.promise;
});

test('a stop interrupts the work in progress, waits for it and claims nothing more', async () => {
  const begun = Promise.withResolvers<void>();
  const interrupted = Promise.withResolvers<void>();
  let ended = false;
  const { loop, claims } = start(['a'], {
    perform: async () => {
      begun.resolve();
      await interrupted.promise;
      await new Promise(setImmediate);
      ended = true;
    },
    interrupt: () => interrupted.resolve(),
  });
  await begun.promise;
  await loop.stop();
  expect(ended).toBe(true);
  expect(claims).toEqual([2]);
});

test.each([
  ['that resolves', async () => {}],
  ['that fails', () => Promise.reject(new Error('unavailable'))],
])('renews the claim on work in progress until it ends, with a renewal %s', async (_, renewal) => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const renewed: string[] = [];
  jest.useFakeTimers({
    doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'],
  });
  try {
    const { loop } = start(['a'], {
      perform: () => {
        begun.resolve();
        return ended.promise;
      },
      renew: (row) => {
        renewed.push(row);
        return renewal();
      },
    });
    await begun.promise;
    jest.advanceTimersByTime(20_000);
    expect(renewed).toEqual(['a', 'a']);
    ended.resolve();
    await loop.stop();
    jest.advanceTimersByTime(20_000);
    expect(renewed).toEqual(['a', 'a']);
  } finally {
    jest.useRealTimers();
  }
});

test('work without `renew` can take longer than the renewal interval', async () => {
  const begun = Promise.withResolvers<void>();
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const ended = Promise.withResolvers<void>();
    const { loop } = start(['a'], {
      perform: () => {
        begun.resolve();
        return ended.promise;
      },
    });
    await begun.promise;
    expect(() => jest.advanceTimersByTime(20_000)).not.toThrow();
    ended.resolve();
    await loop.stop();
  } finally {
    jest.useRealTimers();
  }
});
