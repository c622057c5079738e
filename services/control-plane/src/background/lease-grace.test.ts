import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { LeaseGrace } from './lease-grace.ts';

const LEASE = 8;

let check: () => Promise<void>;
let grace: LeaseGrace;
beforeEach(() => {
  jest.useFakeTimers();
  check = async () => {};
  grace = new LeaseGrace({ check: () => check(), shortestLeaseSeconds: LEASE });
});
afterEach(() => {
  grace.stop();
  jest.useRealTimers();
});

const after = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1000);

test('the grace begins when the checks begin', async () => {
  expect(grace.hasPassed(0)).toBe(false);
  grace.start();
  await after(LEASE - 0.1);
  expect(grace.hasPassed(LEASE)).toBe(false);
  await after(0.2);
  expect(grace.hasPassed(LEASE)).toBe(true);
  expect(grace.hasPassed(2 * LEASE)).toBe(false);
});

test('the grace begins again after a break', async () => {
  grace.start();
  await after(2 * LEASE);
  check = () => Promise.reject(new Error('unavailable'));
  await after(LEASE * 0.75);
  expect(grace.hasPassed(0)).toBe(false);
  check = async () => {};
  await after(LEASE / 4);
  expect(grace.hasPassed(0)).toBe(true);
  expect(grace.hasPassed(LEASE)).toBe(false);
  await after(LEASE);
  expect(grace.hasPassed(LEASE)).toBe(true);
});

test('the grace continues after a single failed check', async () => {
  grace.start();
  await after(2 * LEASE);
  check = () => Promise.reject(new Error('too slow'));
  await after(LEASE / 4);
  check = async () => {};
  await after(LEASE / 4);
  expect(grace.hasPassed(LEASE)).toBe(true);
});

test('the grace continues through an interruption of at most half of the shortest lease', async () => {
  grace.start();
  await after(2 * LEASE);
  check = () => Promise.reject(new Error('unavailable'));
  await after(LEASE / 2);
  expect(grace.hasPassed(LEASE)).toBe(true);
  await after(0.001);
  expect(grace.hasPassed(LEASE)).toBe(false);
});

test('one check runs at a time, and none after a stop', async () => {
  let checks = 0;
  let hangs = true;
  check = () => {
    checks += 1;
    return hangs ? new Promise(() => {}) : Promise.resolve();
  };
  grace.start();
  await after(LEASE);
  expect(checks).toBe(1);

  hangs = false;
  grace = new LeaseGrace({ check: () => check(), shortestLeaseSeconds: LEASE });
  grace.start();
  await after(LEASE);
  expect(checks).toBe(6);
  grace.stop();
  await after(LEASE);
  expect(checks).toBe(6);
});

test('the grace begins again after the machine was suspended', async () => {
  grace.start();
  await after(2 * LEASE);
  jest.setSystemTime(Date.now() + 10 * LEASE * 1000);
  expect(grace.hasPassed(0)).toBe(false);
  await after(LEASE / 4);
  expect(grace.hasPassed(0)).toBe(true);
  expect(grace.hasPassed(LEASE)).toBe(false);
});

test('the grace begins again after the clock was set back', async () => {
  grace.start();
  await after(2 * LEASE);
  jest.setSystemTime(Date.now() - 10 * LEASE * 1000);
  await after(LEASE / 4);
  expect(grace.hasPassed(LEASE)).toBe(false);
  await after(LEASE);
  expect(grace.hasPassed(LEASE)).toBe(true);
});

test('the grace begins again after a check that took as long as a break', async () => {
  grace.start();
  await after(2 * LEASE);
  const { promise, resolve } = Promise.withResolvers<void>();
  check = () => promise;
  await after(LEASE);
  expect(grace.hasPassed(0)).toBe(false);
  resolve();
  await after(0);
  expect(grace.hasPassed(0)).toBe(true);
  expect(grace.hasPassed(LEASE)).toBe(false);
});
