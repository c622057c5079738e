import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Allotment, AllotmentExhaustedError } from './allotment.ts';

const WAIT_MS = 1000;

beforeEach(() => void jest.useFakeTimers());
// In this order: the mocks replace functions of the fake timers.
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** Requests shares in this order, and records what becomes of each one. */
function requestShares(allotment: Allotment, amounts: number[]) {
  const states = amounts.map(() => 'waiting');
  const returns = amounts.map((amount, at) => {
    const { promise, resolve } = Promise.withResolvers<() => void>();
    allotment.take(amount).then(
      (giveBack) => {
        states[at] = 'taken';
        resolve(giveBack);
      },
      (error: unknown) => {
        states[at] = error instanceof AllotmentExhaustedError ? 'exhausted' : String(error);
      },
    );
    return async () => (await promise)();
  });
  /** Lets `ms` pass. Resolves with the states after that. */
  const after = async (ms: number) => {
    await jest.advanceTimersByTimeAsync(ms);
    return [...states];
  };
  return { returns, after };
}

describe('shares of an allotment', () => {
  test('are taken at once, up to the limit', async () => {
    const allotment = new Allotment(10, WAIT_MS);
    const { after } = requestShares(allotment, [4, 6, 1]);
    expect(await after(0)).toEqual(['taken', 'taken', 'waiting']);
    expect(allotment.taken).toBe(10);
  });

  test('are at most the whole limit', async () => {
    const allotment = new Allotment(10, WAIT_MS);
    const { returns, after } = requestShares(allotment, [25]);
    expect(await after(0)).toEqual(['taken']);
    expect(allotment.taken).toBe(10);
    await returns[0]?.();
    expect(allotment.taken).toBe(0);
  });

  test('wait for the return of others, first come, first served', async () => {
    const allotment = new Allotment(10, WAIT_MS);
    const { returns, after } = requestShares(allotment, [5, 5, 7, 1, 2]);
    await returns[0]?.();
    // The last two would be available, but were requested later.
    expect(await after(0)).toEqual(['taken', 'taken', 'waiting', 'waiting', 'waiting']);
    expect(allotment.taken).toBe(5);
    await returns[1]?.();
    expect(await after(0)).toEqual(['taken', 'taken', 'taken', 'taken', 'taken']);
    expect(allotment.taken).toBe(10);
    await returns[2]?.();
    expect(allotment.taken).toBe(3);
  });

  test('that are not available before the timeout are refused', async () => {
    const allotment = new Allotment(10, WAIT_MS);
    const { returns, after } = requestShares(allotment, [10, 1]);
    expect(await after(WAIT_MS - 1)).toEqual(['taken', 'waiting']);
    expect(await after(1)).toEqual(['taken', 'exhausted']);
    await returns[0]?.();
    expect(allotment.taken).toBe(0);
  });

  test('let the next one proceed if they are refused', async () => {
    const allotment = new Allotment(10, WAIT_MS);
    const first = requestShares(allotment, [5, 6]);
    await first.after(1);
    const second = requestShares(allotment, [5]);
    expect(await second.after(WAIT_MS - 2)).toEqual(['waiting']);
    expect(await second.after(1)).toEqual(['taken']);
    expect(await first.after(0)).toEqual(['taken', 'exhausted']);
    expect(allotment.taken).toBe(10);
  });

  test('are not refused after they were taken', async () => {
    const allotment = new Allotment(10, WAIT_MS);
    const { returns, after } = requestShares(allotment, [10, 10]);
    const clear = jest.spyOn(globalThis, 'clearTimeout');
    await returns[0]?.();
    expect(clear).toHaveBeenCalledTimes(1);
    expect(await after(WAIT_MS)).toEqual(['taken', 'taken']);
    expect(allotment.taken).toBe(10);
  });
});
