import { describe, expect, test } from '@jest/globals';
import { toFraction } from '../source/frame-rate.ts';
import { fieldRate, outputFrameRate } from './frame-rate.ts';

const whole = (rate: number) => ({ numerator: rate, denominator: 1 });
const NTSC = { numerator: 30000, denominator: 1001 };
const FIELDS = { numerator: 60000, denominator: 1001 };

describe('the output frame rate', () => {
  test.each([
    ['the declared rate, if it is constant', 29.97, NTSC, '30000/1001'],
    ['the declared rate, even an unusual one', 12.5, { numerator: 25, denominator: 2 }, '25/2'],
    ['the declared rate, if a few frames are missing', 24.04, whole(25), '25/1'],
    ['the nearest common rate, if the declared rate is absurd', 29.97, whole(90000), '30000/1001'],
    ['the frame rate, if interlaced video declares its field rate', 25, whole(50), '25/1'],
    ['60, if the declared rate is a little more', 60.1, { numerator: 601, denominator: 10 }, '60/1'],
    ['the next higher step, if the declared rate is below the average', 26.4, whole(25), '30/1'],
    ['23.976 and not 24', 23.976, null, '24000/1001'],
    ['24 and not 23.976', 24, null, '24/1'],
    [
      'the next higher step, if the declared rate is an estimate',
      26.4,
      { numerator: 85, denominator: 3 },
      '30/1',
    ],
    [
      'the nearest common rate, if the declared rate is an estimate',
      27.5,
      { numerator: 359, denominator: 12 },
      '30000/1001',
    ],
    ['a step, if the rate varies around it', 15, null, '15/1'],
    ['the next higher step, if the rate varies', 17.3, whole(60), '25/1'],
    ['half the source rate above 60', 119.88, { numerator: 120000, denominator: 1001 }, '120000/2002'],
    ['a third of 144', 144, whole(144), '144/3'],
    ['60 for a camera whose clock is a little fast', 60.1, null, '60/1'],
    ['a multiple of the source rate below 10', 4, whole(4), '12/1'],
    ['a multiple of a fractional rate', 0.9999, { numerator: 1, denominator: 1 }, '10/1'],
  ])('is %s', (_, average, declared, expected) => {
    expect(toFraction(outputFrameRate({ average, declared, grid: null }))).toBe(expected);
  });

  test.each([
    ['the rate of the grid', 32.5, { numerator: 260, denominator: 8 }, whole(60), '60/1'],
    [
      'the rate of the grid, even if the average equals a common rate by chance',
      30,
      whole(30),
      whole(60),
      '60/1',
    ],
    ['the rate of the grid, however few frames are on it', 3.1, whole(60), whole(60), '60/1'],
    ['the declared rate, if all frames are also on a finer grid', 8, whole(8), whole(24), '16/1'],
    [
      'the film rate, if frames last two and three fields in turn (3:2 pulldown)',
      23.976,
      NTSC,
      FIELDS,
      '24000/1001',
    ],
    ['the declared rate, if the grid has the same rate', 29.97, NTSC, NTSC, '30000/1001'],
    [
      'the declared rate, even if it is a rounded common rate',
      29.97,
      { numerator: 2997, denominator: 100 },
      NTSC,
      '2997/100',
    ],
  ])('for frames on a grid is %s', (_, average, declared, grid, expected) => {
    expect(toFraction(outputFrameRate({ average, declared, grid }))).toBe(expected);
  });
});

describe('the field rate', () => {
  test.each([
    ['Europe', whole(25), whole(50)],
    ['America', NTSC, FIELDS],
    ['a camera', whole(30), whole(60)],
    ['film with repeated fields', { numerator: 24000, denominator: 1001 }, null],
    ['a rate above the maximum', whole(50), null],
  ])('of %s', (_, frames, fields) => {
    expect(fieldRate(frames)).toEqual(fields);
  });
});
