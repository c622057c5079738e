import { expect, test } from '@jest/globals';
import { isWanted } from './matches.ts';

const include = (...patterns: string[]) => ({ include: patterns, exclude: [] });

test.each([
  ['2024/Talk.mp4', '2024/*'],
  ['2024/Talk.mp4', '*talk*'],
  ['2024/Talk.mp4', '2024/talk.mp4'],
  ['aXbXc', 'a*b*c'],
  ['abab', 'ab*ab'],
  ['', '*'],
])('%s matches %s', (name, pattern) => {
  expect(isWanted(name, include(pattern))).toBe(true);
});

test.each([
  ['2024/Talk.mp4', 'talk*'],
  ['aba', 'ab*ba'],
  ['acb', 'a*b*c'],
  ['axc', 'a*b*c'],
  ['abc', 'a*b*bc'],
  ['ab', 'abc'],
])('%s does not match %s', (name, pattern) => {
  expect(isWanted(name, include(pattern))).toBe(false);
});

test('one of several patterns is enough', () => {
  expect(isWanted('b', include('a', 'b'))).toBe(true);
});

test('what is excluded is not imported, and without patterns everything is', () => {
  expect(isWanted('a', { include: [], exclude: [] })).toBe(true);
  expect(isWanted('drafts/a', { include: ['*'], exclude: ['drafts/*'] })).toBe(false);
});

test('a pattern with many stars takes no longer', () => {
  expect(isWanted('a'.repeat(10_000), include(`${'a*'.repeat(1_000)}b`))).toBe(false);
});
