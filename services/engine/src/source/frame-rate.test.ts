import { expect, test } from '@jest/globals';
import { toFraction, toNumber } from './frame-rate.ts';

test('a frame rate is a fraction', () => {
  const rate = { numerator: 30_000, denominator: 1001 };
  expect(toFraction(rate)).toBe('30000/1001');
  expect(toNumber(rate)).toBeCloseTo(29.97);
});
