import { describe, expect, test } from '@jest/globals';
import { asOwn, DEFAULT_PERIOD, queryOfPeriod, readPeriod, writePeriod } from './period.ts';

const NOW = Date.parse('2026-11-30T00:30:00Z');
const own = (from: string, to: string) => ({ days: 'own' as const, from, to });

test.each(['days=30', 'from=2026-11-01&to=2026-11-07', 'from=2026-11-01&to=', 'from=&to=2026-11-07'])(
  'the address %p is read and written',
  (search) => {
    expect(writePeriod(readPeriod(search))).toBe(search);
  },
);

test.each(['', 'days=8', 'days=own', 'from=yesterday&to=2026-13-01', 'from=&to='])(
  'the address %p shows the last 7 days',
  (search) => {
    expect(readPeriod(search)).toEqual(DEFAULT_PERIOD);
  },
);

describe('the query', () => {
  test('of the last days includes today in UTC, and has no end', () => {
    // On a machine in UTC, the test could not fail without this. Jest's own runtime, which runs mutation tests, ignores it.
    process.env.TZ = 'America/New_York';
    expect(queryOfPeriod(readPeriod('days=7'), NOW)).toEqual({ query: { from: '2026-11-24' } });
    expect(queryOfPeriod(readPeriod('days=30'), NOW)).toEqual({ query: { from: '2026-11-01' } });
  });

  test('of an own period includes its last day', () => {
    const query = { from: '2026-10-01', to: '2026-11-01' };
    expect(queryOfPeriod(own('2026-10-01', '2026-10-31'), NOW)).toEqual({ query });
  });

  test.each(['', '2026-11-30', '2026-12-24'])('of an own period to %p ends now', (to) => {
    expect(queryOfPeriod(own('2026-11-30', to), NOW)).toEqual({ query: { from: '2026-11-30' } });
  });

  test.each([
    ['', '2026-11-01', 'Choose the first day.'],
    ['2026-11-02', '2026-11-01', 'The first day must not be after the last day.'],
    ['2026-12-01', '', 'The first day must not be after the last day.'],
    ['2025-10-31', '2026-11-01', 'Choose at most 366 days.'],
  ])('from %p to %p says what is wrong', (from, to, problem) => {
    expect(queryOfPeriod(own(from, to), NOW)).toEqual({ problem });
  });

  test('can have 366 days', () => {
    expect(queryOfPeriod(own('2025-11-01', '2026-11-01'), NOW)).toHaveProperty('query');
  });
});

test('an own period begins with the days that were shown', () => {
  expect(asOwn(DEFAULT_PERIOD, NOW)).toEqual(own('2026-11-24', '2026-11-30'));
  expect(asOwn(own('2026-01-01', ''), NOW)).toEqual(own('2026-01-01', ''));
});
