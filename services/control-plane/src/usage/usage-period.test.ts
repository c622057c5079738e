import { describe, expect, test } from '@jest/globals';
import { everyDay, outerDays, usagePeriod } from './usage-period.ts';

const NOW = new Date('2026-11-21T05:06:07.890Z');

function period(from?: string, to?: string, now = NOW): [string, string] {
  const found = usagePeriod(
    {
      from: from === undefined ? undefined : new Date(from),
      to: to === undefined ? undefined : new Date(to),
    },
    now,
  );
  return [found.from.toISOString(), found.to.toISOString()];
}

describe('the period', () => {
  test('is by default this month so far', () => {
    expect(period()).toEqual(['2026-11-01T00:00:00.000Z', '2026-11-21T05:06:07.890Z']);
    const newYear = new Date('2027-01-01T00:00:00.001Z');
    expect(period(undefined, undefined, newYear)).toEqual([
      '2027-01-01T00:00:00.000Z',
      '2027-01-01T00:00:00.001Z',
    ]);
  });

  test('keeps whole days unchanged', () => {
    expect(period('2026-10-01', '2026-11-01')).toEqual([
      '2026-10-01T00:00:00.000Z',
      '2026-11-01T00:00:00.000Z',
    ]);
  });

  test('is widened to whole days in UTC', () => {
    expect(period('2026-10-05T12:00:00Z', '2026-10-05T12:00:01Z')).toEqual([
      '2026-10-05T00:00:00.000Z',
      '2026-10-06T00:00:00.000Z',
    ]);
    expect(period('2026-10-05T01:00:00+02:00', '2026-10-06T01:00:00+02:00')).toEqual([
      '2026-10-04T00:00:00.000Z',
      '2026-10-06T00:00:00.000Z',
    ]);
  });

  test('`from` defaults to the first day of the month of `to`; `to` defaults to now', () => {
    expect(period(undefined, '2026-10-15')).toEqual(['2026-10-01T00:00:00.000Z', '2026-10-15T00:00:00.000Z']);
    expect(period(undefined, '2026-11-01')).toEqual(['2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z']);
    expect(period('2026-09-30')).toEqual(['2026-09-30T00:00:00.000Z', '2026-11-21T05:06:07.890Z']);
  });

  test.each([
    ['2026-11-02', '2026-11-01'],
    ['2026-11-02', '2026-11-02'],
    ['2026-11-02T12:00:00Z', '2026-11-02T11:00:00Z'],
    ['2026-11-22', undefined],
  ])('must end after it begins: %s to %s', (from, to) => {
    expect(() => period(from, to)).toThrow(/query\/to must be later than from/);
  });
});

describe('the days of a period', () => {
  const of = (from: string, to: string) => ({ from: new Date(from), to: new Date(to) });

  test('are all days that overlap with it', () => {
    const november = of('2026-11-01', '2026-11-03T05:00:00Z');
    expect(outerDays(november)).toEqual({ first: '2026-11-01', last: '2026-11-03' });
    expect(everyDay(november)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
    const oneDay = of('2026-11-01', '2026-11-02');
    expect(outerDays(oneDay)).toEqual({ first: '2026-11-01', last: '2026-11-01' });
    expect(everyDay(oneDay)).toEqual(['2026-11-01']);
  });

  test('are listed for at most a year', () => {
    expect(everyDay(of('2028-01-01', '2029-01-01'))).toHaveLength(366);
    expect(() => everyDay(of('2028-01-01', '2029-01-02'))).toThrow(
      /query\/groupBy is for a period of at most 366 days/,
    );
  });
});
