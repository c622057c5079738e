import { expect, test } from '@jest/globals';
import { addFigures } from './figures-of-day.ts';

test('parts of a day are added, with what only one of them has', () => {
  const first = {
    views: 2,
    watchMs: 10,
    stalls: 1,
    stallMs: 5,
    retention: [2, 1],
    breakdowns: { devices: { phone: 1, tv: 1 }, errors: { interrupted: 1 } },
  };
  const second = {
    views: 3,
    watchMs: 20,
    stalls: 0,
    stallMs: 7,
    retention: [3, 0],
    breakdowns: { devices: { phone: 3 }, countries: { DE: 2 } },
  };
  expect(addFigures(first, second)).toEqual({
    views: 5,
    watchMs: 30,
    stalls: 1,
    stallMs: 12,
    retention: [5, 1],
    breakdowns: { devices: { phone: 4, tv: 1 }, errors: { interrupted: 1 }, countries: { DE: 2 } },
  });
});
