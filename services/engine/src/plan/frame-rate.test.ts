import { describe, expect, test } from '@jest/globals';
import { toFraction } from '../source/frame-rate.ts';
import { deliveryFrameRate, fieldRate } from './frame-rate.ts';

const whole = (rate: number) => ({ numerator: rate, denominator: 1 });
const NTSC = { numerator: 30000, denominator: 1001 };
const FIELDS = { numerator: 60000, denominator: 1001 };

describe('the delivered frame rate', () => {
  test.each([
    ['its own, when it holds a constant one', 29.97, NTSC, '30000/1001'],
    ['its own, even an unusual one', 12.5, { numerator: 25, denominator: 2 }, '25/2'],
    ['its own, when a few of its frames are missing', 24.04, whole(25), '25/1'],
    ['the usual rate it is near to, when what it declares is absurd', 29.97, whole(90000), '30000/1001'],
    ['the usual rate, when interlaced video declares its fields', 25, whole(50), '25/1'],
    ['23.976 and not 24, which are close', 23.976, null, '24000/1001'],
    ['24 and not 23.976', 24, null, '24/1'],
    ['the next step up, when what it declares is a guess', 26.4, { numerator: 85, denominator: 3 }, '30/1'],
    [
      'the usual rate it is near to, when it declares a guess',
      27.5,
      { numerator: 359, denominator: 12 },
      '30000/1001',
    ],
    ['the next step up, when it varies', 17.3, whole(60), '25/1'],
    ['half of it above 60', 119.88, { numerator: 120000, denominator: 1001 }, '120000/2002'],
    ['a third of 144', 144, whole(144), '144/3'],
    ['60 for a recorder that is a little fast', 60.1, null, '60/1'],
    ['a multiple of it below 10', 4, whole(4), '12/1'],
    ['a multiple of a fraction', 0.9999, { numerator: 1, denominator: 1 }, '10/1'],
  ])('is %s', (_, average, declared, expected) => {
    expect(toFraction(deliveryFrameRate({ average, declared, grid: null }))).toBe(expected);
  });

  test.each([
    ['that of the grid its frames are on', 32.5, { numerator: 260, denominator: 8 }, whole(60), '60/1'],
    ['that of the grid, though the average is a usual rate by chance', 30, whole(30), whole(60), '60/1'],
    ['that of the grid, however few frames are on it', 3.1, whole(60), whole(60), '60/1'],
    ['its own, when all of its frames are also on a finer grid', 8, whole(8), whole(24), '16/1'],
    ['that of film, when its frames last two and three fields in turn', 23.976, NTSC, FIELDS, '24000/1001'],
    ['its own, when its grid is that of a usual rate', 29.97, NTSC, NTSC, '30000/1001'],
  ])('for frames on a grid is %s', (_, average, declared, grid, expected) => {
    expect(toFraction(deliveryFrameRate({ average, declared, grid }))).toBe(expected);
  });
});

describe('the field rate', () => {
  test.each([
    ['Europe', whole(25), whole(50)],
    ['America', NTSC, FIELDS],
    ['a recorder', whole(30), whole(60)],
    ['film with repeated fields', { numerator: 24000, denominator: 1001 }, null],
    ['more than can be delivered', whole(50), null],
  ])('of %s', (_, frames, fields) => {
    expect(fieldRate(frames)).toEqual(fields);
  });
});
