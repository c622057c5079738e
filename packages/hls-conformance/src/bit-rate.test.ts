import { expect, test } from '@jest/globals';
import { averageBitRate, peakBitRate, type Weight } from './bit-rate.ts';

const weights = (...pairs: [kilobytes: number, seconds: number][]): Weight[] =>
  pairs.map(([kilobytes, seconds]) => ({ bytes: 1000 * kilobytes, seconds }));

test('an average is all bits over all seconds', () => {
  expect(averageBitRate(weights([100, 6], [50, 4]))).toBe(120_000);
});

test.each([
  ['the heaviest segment', weights([60, 6], [120, 6], [60, 6]), 6, 160_000],
  [
    'short neighbours together, because one alone is too short',
    weights([60, 6], [40, 2], [20, 2], [60, 6]),
    6,
    120_000,
  ],
  [
    'no run of more than one and a half target durations',
    // The second and third segment have the highest rate, but last 9.3 s.
    weights([6, 6], [100, 2.9], [64, 6.4]),
    6,
    (8 * 106_000) / 8.9,
  ],
  ['the average if the stream is too short for a run', weights([10, 0.2]), 1, 400_000],
  // 2.9 s are less than half, and with 6.4 s more than one and a half target durations.
  [
    'the average if a heavy tail fits in no run',
    weights([60, 6], [64, 6.4], [290, 2.9]),
    6,
    (8 * 414_000) / 15.3,
  ],
])('a peak is %s', (_what, segments, target, expected) => {
  const { atLeast, atMost } = peakBitRate(segments, target);
  expect(atLeast).toBeCloseTo(expected, 3);
  expect(atMost).toBeCloseTo(expected, 3);
});

test('a run on the limit may count or not', () => {
  // 3 s are half a target duration, or by a rounding error less.
  const { atLeast, atMost } = peakBitRate(weights([60, 6], [60, 6], [90, 3]), 6);
  expect([atLeast, atMost]).toEqual([(8 * 210_000) / 15, 240_000]);
});
