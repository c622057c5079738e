import { expect, test } from '@jest/globals';
import { growthOf } from './growth.ts';
import type { Sample } from './samples.ts';

const at = (minutes: number, value: number, series = 'engine 1'): Sample => ({
  measure: 'memory',
  series,
  minutes,
  value,
});

test('the growth is that from the second quarter to the last', () => {
  const values = [1000, 100, 110, 120, 130, 150, 160];
  const samples = values.map((value, index) => at(index * 10, value));
  // Minutes 15 to 30, and 45 to 60; the start does not count.
  expect(growthOf(samples)).toEqual([
    { measure: 'memory', series: 'engine 1', before: 110, after: 150, ratio: 150 / 110 },
  ]);
});

test('each series has its own growth, and one without samples in both quarters has none', () => {
  const samples = [
    at(0, 1),
    at(30, 10),
    at(79, 20),
    at(30, 5, 'b'),
    at(79, 5, 'b'),
    at(80, 1),
    at(1, 7, 'c'),
  ];
  expect(growthOf(samples).map(({ series, ratio }) => [series, ratio])).toEqual([
    ['engine 1', 2],
    ['b', 1],
  ]);
});
