import { describe, expect, test } from '@jest/globals';
import { firstDay, periodWords, readAddress, rowsOf, toCsv, usedPercent } from './figures.ts';

const DAYS = [
  { date: '2026-10-30', storageBytes: null, transcodedMinutes: 1.5, bandwidthBytes: 10 },
  { date: '2026-10-31', storageBytes: 500, transcodedMinutes: 0, bandwidthBytes: 20 },
  { date: '2026-11-01', storageBytes: 700, transcodedMinutes: 2.25, bandwidthBytes: 30 },
  { date: '2026-11-02', storageBytes: null, transcodedMinutes: 0, bandwidthBytes: 0 },
];

test('an address with unknown values shows the days of the present month', () => {
  expect(readAddress('')).toEqual({ months: '0', step: 'day' });
  expect(readAddress('months=7&by=week')).toEqual({ months: '0', step: 'day' });
  expect(readAddress('months=11&by=month')).toEqual({ months: '11', step: 'month' });
});

test('a period begins with a month in UTC, also in another year', () => {
  // On a machine in UTC, the test could not fail without this. Jest's own runtime, which runs mutation tests, ignores it.
  process.env.TZ = 'Asia/Tokyo';
  const now = Date.parse('2026-01-31T23:00:00Z');
  expect([0, 1, 11].map((months) => firstDay(months, now))).toEqual([
    '2026-01-01',
    '2025-12-01',
    '2025-02-01',
  ]);
});

describe('rows', () => {
  test('by day have the figures of each day', () => {
    expect(rowsOf(DAYS, 'day').map(({ period, storageBytes }) => [period, storageBytes])).toEqual([
      ['2026-10-30', null],
      ['2026-10-31', 500],
      ['2026-11-01', 700],
      ['2026-11-02', null],
    ]);
  });

  test('by month have sums, and the last storage that is known', () => {
    expect(rowsOf(DAYS, 'month')).toEqual([
      { period: '2026-10', storageBytes: 500, transcodedMinutes: 1.5, bandwidthBytes: 30 },
      { period: '2026-11', storageBytes: 700, transcodedMinutes: 2.25, bandwidthBytes: 30 },
    ]);
  });

  test('as CSV have an empty field for what is not known', () => {
    expect(toCsv(rowsOf(DAYS.slice(0, 2), 'day'))).toBe(
      'period,storage_bytes,transcoded_minutes,bandwidth_bytes\r\n2026-10-30,,1.5,10\r\n2026-10-31,500,0,20\r\n',
    );
  });
});

test.each([
  [5, 20, 25],
  [30, 20, 100],
  [0, 0, 100],
  [5, null, null],
])('%d of %p are %p per cent', (used, limit, percent) => {
  expect(usedPercent(used, limit)).toBe(percent);
});

test('a period in words is of its day or month in UTC', () => {
  const day = new Date(2026, 10, 1).toLocaleDateString(undefined, { dateStyle: 'medium' });
  expect(periodWords('2026-11-01')).toBe(day);
  expect(periodWords('2026-11')).toMatch(/2026/);
  expect(periodWords('2026-11')).not.toMatch(/\b0?1\b/);
});
