import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { PeriodicWrite } from './periodic-write.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Writes that end when the test says so. */
function heldWrites() {
  const ends: (() => void)[] = [];
  const write = jest.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
  return { write, endWrite: () => ends.shift()?.() };
}

test('writes at each interval until it is stopped, and once more then', async () => {
  const write = jest.fn(async () => {});
  const periodic = new PeriodicWrite(write, 5);
  periodic.start();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(write).toHaveBeenCalledTimes(2);
  await periodic.stop();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(write).toHaveBeenCalledTimes(3);
});

test('a slow write collects no others, and a flush waits for one of its own', async () => {
  const { write, endWrite } = heldWrites();
  const periodic = new PeriodicWrite(write, 5);
  periodic.start();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(write).toHaveBeenCalledTimes(1);
  let isFlushed = false;
  const flushed = periodic.flush().then(() => {
    isFlushed = true;
  });
  endWrite();
  await jest.advanceTimersByTimeAsync(0);
  expect([write.mock.calls.length, isFlushed]).toEqual([2, false]);
  endWrite();
  await flushed;
  const stopped = periodic.stop();
  await jest.advanceTimersByTimeAsync(0);
  endWrite();
  await stopped;
  expect(write).toHaveBeenCalledTimes(3);
});
