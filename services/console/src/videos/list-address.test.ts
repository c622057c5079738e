import { expect, test } from '@jest/globals';
import { isFiltered, type ListAddress, readListAddress, toQuery, writeListAddress } from './list-address.ts';

const EMPTY = readListAddress('');

test('an address survives writing and reading', () => {
  const address: ListAddress = {
    ...EMPTY,
    q: 'sommer & "meer" <b>',
    status: 'ready',
    tag: 'Beach, 2026',
    from: '2026-11-01',
    to: '2026-11-30',
    order: 'asc',
    cursor: 'abc',
  };
  expect(readListAddress(writeListAddress(address))).toEqual(address);
});

test('unknown values are left out, and an empty address has an empty query', () => {
  expect(readListAddress('?status=gone&from=yesterday&to=2026-02-99&order=up&x=1')).toEqual(EMPTY);
  expect(writeListAddress(EMPTY)).toBe('');
  expect(toQuery(EMPTY)).toEqual({});
});

test('the order and the page are no filters', () => {
  expect(isFiltered({ ...EMPTY, order: 'asc', cursor: 'abc' })).toBe(false);
  expect(isFiltered({ ...EMPTY, tag: 'a' })).toBe(true);
});

test('the last day is a whole day in the time zone of the browser', () => {
  // Not UTC: there, the test would pass even if the code ignored the time zone. In jest's own runtime, which mutation tests use, setting
  // TZ has no effect: the test then uses the zone of the machine.
  process.env.TZ = 'America/New_York';
  const { createdAfter, createdBefore } = toQuery({ ...EMPTY, from: '2026-12-31', to: '2026-12-31' });
  expect(createdAfter).toBe(new Date(2026, 11, 31).toISOString());
  expect(createdBefore).toBe(new Date(2027, 0, 1).toISOString());
});
