import { expect, test } from '@jest/globals';
import { type ByteRanges, lengthOf, union, without } from './byte-ranges.ts';

test.each<[ByteRanges, ByteRanges]>([
  [[], []],
  [[[5, 5]], []],
  [
    [
      [5, 9],
      [0, 3],
    ],
    [
      [0, 3],
      [5, 9],
    ],
  ],
  [
    [
      [0, 3],
      [3, 5],
    ],
    [[0, 5]],
  ],
  [
    [
      [0, 9],
      [2, 4],
      [8, 12],
    ],
    [[0, 12]],
  ],
])('the union of %j is %j', (ranges, expected) => {
  expect(union(ranges)).toEqual(expected);
});

test.each<[ByteRanges, ByteRanges, ByteRanges]>([
  [[[0, 10]], [], [[0, 10]]],
  [[[0, 10]], [[0, 10]], []],
  [
    [[0, 10]],
    [
      [2, 4],
      [6, 8],
    ],
    [
      [0, 2],
      [4, 6],
      [8, 10],
    ],
  ],
  [
    [
      [2, 4],
      [6, 8],
    ],
    [
      [0, 3],
      [7, 20],
    ],
    [
      [3, 4],
      [6, 7],
    ],
  ],
  [
    [[2, 4]],
    [
      [0, 2],
      [4, 6],
    ],
    [[2, 4]],
  ],
])('%j without %j is %j', (ranges, others, expected) => {
  expect(without(ranges, others)).toEqual(expected);
});

test('the length of ranges is the number of their bytes', () => {
  const ranges = [
    [2, 4],
    [6, 11],
  ] as const;
  expect(lengthOf(ranges)).toBe(7);
});
