import { expect, test } from '@jest/globals';
import { STARTUP_BOUNDS, startupPercentile } from './startup-times.ts';

test('the bounds go from 50 ms to about a minute, and grow', () => {
  expect(STARTUP_BOUNDS[0]).toBe(50);
  expect(STARTUP_BOUNDS.at(-1)).toBeGreaterThan(60_000);
  expect(STARTUP_BOUNDS).toEqual(STARTUP_BOUNDS.toSorted((a, b) => a - b));
});

test('a percentile is the upper bound of the class that reaches it', () => {
  const counts = new Map([
    [20, 5],
    [2, 94],
    [5, 1],
  ]);
  expect(startupPercentile(counts, 0.5)).toBe(0.078);
  expect(startupPercentile(counts, 0.94)).toBe(0.078);
  expect(startupPercentile(counts, 0.95)).toBe(0.153);
  expect(startupPercentile(counts, 0.96)).toBe(4.337);
});

test('longer times than the last bound count as the last bound', () => {
  expect(startupPercentile(new Map([[STARTUP_BOUNDS.length, 1]]), 0.5)).toBe(63.109);
});

test('without views there is none', () => {
  expect(startupPercentile(new Map(), 0.5)).toBeNull();
});
