import { expect, test } from '@jest/globals';
import { cutChapters } from './cut-chapters.ts';

const CHAPTERS = [
  { start: 1000, title: 'A' },
  { start: 5000, title: 'B' },
  { start: 9000, title: 'C' },
];

test.each([
  ['all', 0, 10_000, ['1000 A', '5000 B', '9000 C']],
  ['the running one, from the beginning', 6000, 10_000, ['0 B', '3000 C']],
  ['those that begin in the clip', 5000, 9000, ['0 B']],
  ['none before the first one', 0, 1000, []],
  ['the last one', 9500, 9600, ['0 C']],
] as const)('a clip has %s', (_, from, to, expected) => {
  const cut = cutChapters(CHAPTERS, { from, to });
  expect(cut.map(({ start, title }) => `${start} ${title}`)).toEqual(expected);
});

test('a video without chapters has clips without chapters', () => {
  expect(cutChapters([], { from: 0, to: 1 })).toEqual([]);
});
