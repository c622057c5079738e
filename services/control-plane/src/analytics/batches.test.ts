import { expect, test } from '@jest/globals';
import { batchesOf } from './batches.ts';

test.each([
  [[], []],
  [[4], [[4]]],
  [
    [4, 6, 1],
    [[4, 6], [1]],
  ],
  [
    [4, 7, 3, 1],
    [[4], [7, 3], [1]],
  ],
  [
    [1, 11, 1],
    [[1], [11], [1]],
  ],
  [[0, 0], [[0, 0]]],
])('%p in batches of at most 10', (sizes, batches) => {
  expect(batchesOf(sizes, (size) => size, 10)).toEqual(batches);
});
