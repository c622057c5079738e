import { expect, test } from '@jest/globals';
import { rangeWords } from './range-words.ts';

const exactly = (count: number) => ({ count, exact: true });
const FIRST = { count: 25, depth: 0, hasBefore: false, hasAfter: true };
const SECOND = { count: 25, depth: 1, hasBefore: true, hasAfter: true };
const LAST = { count: 20, depth: 1, hasBefore: true, hasAfter: false };

test.each([
  ['all on one page', { ...FIRST, count: 3, hasAfter: false, total: exactly(3) }, '3 videos'],
  ['a single one', { ...FIRST, count: 1, hasAfter: false, total: undefined }, '1 video'],
  ['the first page', { ...FIRST, total: exactly(323) }, '1–25 of 323'],
  ['the first page before the total is known', { ...FIRST, total: undefined }, '1–25'],
  ['the first page of very many', { ...FIRST, total: { count: 10_000, exact: false } }, '1–25 of 10,000+'],
  ['the first page when few were counted', { ...FIRST, total: { count: 7, exact: false } }, '1–25'],
  ['the second page', { ...SECOND, total: exactly(1323) }, '26–50 of 1,323'],
  ['the last page, whatever was counted before', { ...LAST, total: exactly(44) }, '26–45 of 45'],
  ['one on the last page', { ...LAST, count: 1, total: undefined }, '26 of 26'],
  ['a page opened by its address', { ...SECOND, depth: 0, total: exactly(323) }, '25 of 323'],
  ['the same before the total is known', { ...SECOND, depth: 0, total: undefined }, '25 videos'],
])('%s', (_, range, words) => {
  expect(rangeWords(range)).toBe(words);
});
