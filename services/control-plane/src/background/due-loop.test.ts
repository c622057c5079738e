import { createLogger } from '@framelane/service-kit/logger';
import { afterEach, expect, jest, test } from '@jest/globals';
import { DueLoop, type DueWork } from './due-loop.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const NEVER_MS = 3_600_000;

let loop: DueLoop<string> | undefined;
afterEach(() => loop?.stop());

/** A loop over rows that are due from the start. `claims` are the limits it has claimed with. */
function start(rows: string[], work: Partial<DueWork<string>> & Pick<DueWork<string>, 'perform'>) {
  const claims: number[] = [];
  const claim = async (limit: number) => {
    claims.push(limit);
    return rows.splice(0, limit);
  };
  const made = new DueLoop({ name: 'test', pollMs: NEVER_MS, concurrency: 2, claim, ...work }, { logger });
  loop = made;
  made.start();
  return { claims, loop: made };
}

test('claims no more than the free slots, and the next as soon as a slot is free', async () => {
  let inProgress = 0;
  let most = 0;
  const done = Promise.withResolvers<void>();
  const rows = ['a', 'b', 'c', 'd', 'e'];
  start(rows, {
    perform: async (row) => {
      inProgress += 1;
      most = Math.max(most, inProgress);
      await Promise.resolve();
      inProgress -= 1;
      if (row === 'e') done.resolve();
    },
  });
  await done.promise;
  expect(most).toBe(2);
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
      ended = true;
    },
    interrupt: () => interrupted.resolve(),
  });
  await begun.promise;
  await loop.stop();
  expect(ended).toBe(true);
  expect(claims).toEqual([2]);
});

test('renews the claim on work in progress until it ends', async () => {
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
      renew: async (row) => void renewed.push(row),
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
