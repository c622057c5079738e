import { describe, expect, test } from '@jest/globals';
import { isStill, isStillThroughout } from './stillness.ts';

/** The same change in each second. */
const steady = (pictures: number, seconds: number) =>
  new Map(Array.from({ length: seconds }, (_, second) => [second, pictures]));

describe('a part of a video', () => {
  test('is still up to half a picture a second', () => {
    expect(isStill(steady(0.5, 60), { from: 6, to: 12 })).toBe(true);
    expect(isStill(steady(0.51, 60), { from: 6, to: 12 })).toBe(false);
  });

  test('is still where there are no packets', () => {
    expect(isStill(new Map([[0, 9]]), { from: 6, to: 12 })).toBe(true);
  });

  test('counts all changes in the seconds that it touches, and no others', () => {
    const changes = new Map([
      [5, 9],
      [6, 1],
      [11, 2],
      [12, 9],
    ]);
    expect(isStill(changes, { from: 6, to: 12 })).toBe(true);
    expect(isStill(changes, { from: 5.9, to: 12 })).toBe(false);
    expect(isStill(changes, { from: 6, to: 12.1 })).toBe(false);
  });
});

describe('a video', () => {
  test.each([
    ['with few changes', steady(0.5, 90), true],
    ['with more', steady(0.55, 90), false],
    [
      'with a scene cut now and then',
      new Map([
        [0, 3],
        [10, 6],
        [20, 6],
        [31, 3],
      ]),
      true,
    ],
    [
      'with much change at once',
      new Map([
        [0, 3],
        [10, 6],
        [20, 7],
      ]),
      false,
    ],
    ['with much change at the end', new Map([...steady(0, 80), [85, 16]]), false],
  ])('%s', (_, changes, expected) => {
    expect(isStillThroughout(changes, { from: 0, to: 90 })).toBe(expected);
  });

  test('that is short may change less at once', () => {
    expect(isStillThroughout(new Map([[1, 2]]), { from: 0, to: 4 })).toBe(true);
    expect(isStillThroughout(new Map([[1, 2.5]]), { from: 0, to: 4 })).toBe(false);
  });

  test('of any declared duration is judged by its packets', () => {
    expect(
      isStillThroughout(
        new Map([
          [0, 1],
          [1e12, 1],
        ]),
        { from: 0, to: 1e12 },
      ),
    ).toBe(true);
  });

  test('that is a part of a file is judged by that part', () => {
    const changes = new Map([...steady(3, 60), ...[60, 61, 62, 63].map((second) => [second, 0.1] as const)]);
    expect(isStillThroughout(changes, { from: 60.5, to: 64 })).toBe(true);
    expect(isStillThroughout(changes, { from: 59.5, to: 62 })).toBe(false);
  });
});
