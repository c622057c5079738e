import { expect, test } from '@jest/globals';
import { trendOf } from './error-trend.ts';

test('each of the last eight days in UTC has a number, the oldest first', () => {
  const daily = [
    { day: '2026-11-23', count: 5 },
    { day: '2026-11-28', count: 2 },
    { day: '2026-11-30', count: 7 },
  ];
  const trend = trendOf(daily, Date.parse('2026-11-30T00:00:01Z'));
  expect(trend.map(({ count }) => count)).toEqual([5, 0, 0, 0, 0, 2, 0, 7]);
  expect([trend[0]?.day, trend[7]?.day]).toEqual(['2026-11-23', '2026-11-30']);
});

test('a day before is not shown', () => {
  const trend = trendOf([{ day: '2026-11-22', count: 5 }], Date.parse('2026-11-30T23:59:59Z'));
  expect(trend.every(({ count }) => count === 0)).toBe(true);
});
