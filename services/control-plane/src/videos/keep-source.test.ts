import { expect, test } from '@jest/globals';
import { fromDays, type KeepSource, toDays } from './keep-source.ts';

test.each<[KeepSource, number | null]>([
  ['always', null],
  ['never', 0],
  [1, 1],
  [365, 365],
])('%j is stored as %j', (keep, days) => {
  expect(toDays(keep)).toBe(days);
  expect(fromDays(days)).toBe(keep);
});
