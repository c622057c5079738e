import { expect, test } from '@jest/globals';
import { byTenth, middles, partNames, tileAt } from './timeline.ts';

test('parts have their middles and their times', () => {
  expect(middles(4, 100)).toEqual([12.5, 37.5, 62.5, 87.5]);
  expect(partNames(3, 180)).toEqual(['0:00–1:00', '1:00–2:00', '2:00–3:00']);
  // Parts that are shorter than a second have one time.
  expect(partNames(4, 1)).toEqual(['0:00', '0:00–0:01', '0:01', '0:01']);
});

test('a part has the picture of its middle', () => {
  const tiles = ['a', 'b', 'c'];
  expect([0, 1, 2, 3, 4, 5].map((part) => tileAt(tiles, part, 6))).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  expect([0, 5, 9].map((part) => tileAt(tiles, part, 10))).toEqual(['a', 'b', 'c']);
  expect(tileAt([], 0, 10)).toBeUndefined();
});

test('tenths have the share at their beginning', () => {
  const retention = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect(byTenth(retention)).toEqual([100, 90, 80, 70, 60, 50, 40, 30, 20, 10]);
  expect(byTenth([])).toEqual(Array(10).fill(0));
});
