import { expect, test } from '@jest/globals';
import { secondsUntil, waitWords, withSample } from './preview.ts';

const at = (seconds: number, percent: number) => ({ time: seconds * 1000, percent });

test('a position is ready when the speed of the last half minute has brought the progress there', () => {
  // Two percent a second; the position is at 80 percent.
  expect(secondsUntil(160, 200, [at(0, 20), at(10, 40)])).toBe(20);
});

test('a position before the progress is ready', () => {
  expect(secondsUntil(60, 200, [at(0, 20), at(10, 40)])).toBe(0);
});

test.each([
  ['without progress', 160, 200, [at(0, 40), at(10, 40)]],
  ['with one sample', 160, 200, [at(0, 40)]],
  ['without a sample', 160, 200, []],
  ['before the duration is known', 160, Number.NaN, [at(0, 20), at(10, 40)]],
])('%s nothing can be told', (_, position, duration, samples) => {
  expect(secondsUntil(position, duration, samples)).toBeUndefined();
});

test('only the last half minute counts', () => {
  const samples = [at(0, 0), at(10, 30), at(31, 40)].reduce(withSample, [at(0, 0)]);
  expect(samples).toEqual([at(10, 30), at(31, 40)]);
});

test('another attempt begins anew', () => {
  expect(withSample([at(0, 50), at(2, 60)], at(4, 3))).toEqual([at(4, 3)]);
});

test.each([
  [undefined, 'This part is not ready yet.'],
  [0, 'This part is ready in a few seconds.'],
  [9.9, 'This part is ready in a few seconds.'],
  [41, 'This part is ready in about 50 seconds.'],
  [89, 'This part is ready in about 90 seconds.'],
  [95, 'This part is ready in about 2 minutes.'],
])('after %s seconds the viewer reads: %s', (seconds, words) => {
  expect(waitWords(seconds)).toBe(words);
});
