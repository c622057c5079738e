import { expect, test } from '@jest/globals';
import { readListAddress, writeListAddress } from './list-address.ts';

test('an address survives writing and reading', () => {
  const address = { q: 'sommer & "meer" <b>', status: 'failed', cursor: 'WyI+Iz0' } as const;
  expect(readListAddress(writeListAddress(address))).toEqual(address);
});

test('empty values are not in the address', () => {
  expect(writeListAddress({ q: '', status: '', cursor: '' })).toBe('');
  expect(writeListAddress({ q: '', status: 'ready', cursor: '' })).toBe('?status=ready');
});

test('an unknown status is no filter', () => {
  expect(readListAddress('?status=nonsense').status).toBe('');
});
