import { requireLinearTime } from '@framelane/test-kit/growth';
import { expect, test } from '@jest/globals';
import { withPlausibleTimes } from './plausible-times.ts';

const timed = (...times: [number, number][]) =>
  withPlausibleTimes(
    times.map(([start, end], at) => ({ text: ` ${at}`, start, end })),
    10,
  ).map(({ start, end }) => [start, end]);

test('times that increase stay, and words do not overlap', () => {
  expect(timed([1, 2], [2, 4], [3, 9])).toEqual([
    [1, 2],
    [2, 3],
    [3, 9],
  ]);
});

test('one wrong time moves no other word', () => {
  expect(timed([1, 2], [9.5, 9.5], [3, 4], [4, 5])).toEqual([
    [1, 2],
    [2, 3],
    [3, 4],
    [4, 5],
  ]);
  expect(timed([4, 5], [5, 6], [0, 1], [7, 8])).toEqual([
    [4, 5],
    [5, 6],
    [6, 7],
    [7, 8],
  ]);
});

test('times outside of the sound are between their neighbours', () => {
  expect(timed([-5, -4], [4, 5], [1e300, 1e300], [8, 99], [Number.NaN, 1])).toEqual([
    [2, 4],
    [4, 5],
    [6, 8],
    [8, 9],
    [9, 10],
  ]);
});

test('words that begin at the same time are spoken one after the other', () => {
  expect(timed([1, 1], [1, 1], [1, 2.5], [4, 5])).toEqual([
    [1, 1.5],
    [1.5, 2],
    [2, 2.5],
    [4, 5],
  ]);
  // Nothing says how long they are.
  expect(timed([1, 1], [1, 1], [9, 9])).toEqual([
    [1, 1.3],
    [1.3, 1.6],
    [9, 9],
  ]);
  expect(timed([1, 1], [1, 1], [1.2, 2])).toEqual([
    [1, 1.1],
    [1.1, 1.2],
    [1.2, 2],
  ]);
});

test('nothing has no times, and one word has its own', () => {
  expect(timed()).toEqual([]);
  expect(timed([3, 1])).toEqual([[3, 10]]);
  expect(timed([-1, -1])).toEqual([[5, 10]]);
});

test('times are found in linear time', async () => {
  for (const startOf of [(at: number) => at, (at: number) => -at, (at: number) => (at * 7919) % 1000])
    await requireLinearTime(
      2 ** 17,
      (size) => Array.from({ length: size }, (_, at) => ({ text: 'a', start: startOf(at), end: 0 })),
      (words) => withPlausibleTimes(words, 1000),
    );
});
