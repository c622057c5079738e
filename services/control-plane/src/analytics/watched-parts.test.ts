import { expect, test } from '@jest/globals';
import { PARTS, type WatchedRange, watchedParts } from './watched-parts.ts';

/** The indices of the bits that are set. */
function set(bits: string): number[] {
  return [...bits].flatMap((bit, index) => (bit === '1' ? index : []));
}

const partsOf = (ranges: WatchedRange[], duration: number | null) => set(watchedParts(ranges, duration).all);

test('a range has the parts that it touches', () => {
  expect(partsOf([{ from: 0, to: 3 }], 100)).toEqual([0, 1, 2]);
  expect(partsOf([{ from: 2.5, to: 3.1 }], 100)).toEqual([2, 3]);
  expect(partsOf([{ from: 99, to: 100 }], 100)).toEqual([99]);
  expect(partsOf([{ from: 0, to: 1 }], 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('ranges are united', () => {
  expect(
    partsOf(
      [
        { from: 5, to: 7 },
        { from: 6, to: 8 },
        { from: 1, to: 2 },
      ],
      100,
    ),
  ).toEqual([1, 5, 6, 7]);
});

test('what is outside the video does not count', () => {
  expect(partsOf([{ from: 100, to: 1e9 }], 100)).toEqual([]);
  expect(partsOf([{ from: 98, to: 1e9 }], 100)).toEqual([98, 99]);
  expect(partsOf([{ from: 5, to: 2 }], 100)).toEqual([]);
});

test.each([null, 0])('nothing is known of a video with the duration %p', (duration) => {
  expect(partsOf([{ from: 0, to: 3 }], duration)).toEqual([]);
});

test('a height selects the nearest rung', () => {
  const byRung = (height?: number) =>
    set(watchedParts([{ from: 3, to: 4, ...(height !== undefined && { height }) }], 100).byRung);
  expect(byRung(360)).toEqual([3]);
  expect(byRung(478)).toEqual([PARTS + 3]);
  expect(byRung(720)).toEqual([2 * PARTS + 3]);
  expect(byRung(1080)).toEqual([3 * PARTS + 3]);
  expect(byRung()).toEqual([]);
});
