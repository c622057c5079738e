import { expect, test } from '@jest/globals';
import { changeWords, formatWatchTime, twoWeeksAgo, weekOf } from './week.ts';

test('the report begins thirteen days before today', () => {
  expect(twoWeeksAgo(Date.UTC(2026, 10, 30, 23, 59))).toBe('2026-11-17');
  expect(twoWeeksAgo(Date.UTC(2026, 2, 1))).toBe('2026-02-16');
});

test('the week is the last seven days', () => {
  const days = Array.from({ length: 14 }, (_, at) => ({
    date: new Date(Date.UTC(2026, 10, 17 + at)).toISOString().slice(0, 10),
    views: at < 7 ? 1 : 2,
    watchSeconds: at < 7 ? 1000 : 10,
  }));
  const week = weekOf(days);
  expect(week).toMatchObject({ views: 14, watchSeconds: 70, viewsBefore: 7 });
  expect(week.days.map(({ date }) => date)).toEqual(days.slice(7).map(({ date }) => date));
});

test('the change is in percent of the week before', () => {
  expect(changeWords({ views: 150, viewsBefore: 100 })).toBe('50 % more than in the week before');
  expect(changeWords({ views: 0, viewsBefore: 3 })).toBe('100 % fewer than in the week before');
  expect(changeWords({ views: 1000, viewsBefore: 1001 })).toBe('as many as in the week before');
  expect(changeWords({ views: 5, viewsBefore: 0 })).toBeUndefined();
});

test.each([
  [0, '0 s'],
  [59.4, '59 s'],
  [59.6, '1 min'],
  [3569, '59 min'],
  [3570, '1.0 h'],
  [35_820, '10 h'],
  [360_000, '100 h'],
])('%p seconds are %p', (seconds, words) => expect(formatWatchTime(seconds)).toBe(words));
