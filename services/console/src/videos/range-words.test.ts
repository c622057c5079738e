import { expect, test } from '@jest/globals';
import { rangeWords } from './range-words.ts';

test.each([
  ['all on one page', { count: 3, depth: 0, hasBefore: false, hasAfter: false }, '3 videos'],
  ['a single one', { count: 1, depth: 0, hasBefore: false, hasAfter: false }, '1 video'],
  ['the first page', { count: 25, depth: 0, hasBefore: false, hasAfter: true }, '1–25'],
  ['the second page', { count: 25, depth: 1, hasBefore: true, hasAfter: true }, '26–50'],
  ['the last page', { count: 20, depth: 1, hasBefore: true, hasAfter: false }, '26–45 of 45'],
  ['one on the last page', { count: 1, depth: 1, hasBefore: true, hasAfter: false }, '26 of 26'],
  ['a page opened by its address', { count: 25, depth: 0, hasBefore: true, hasAfter: true }, '25 videos'],
])('%s', (_, range, words) => {
  expect(rangeWords(range)).toBe(words);
});
