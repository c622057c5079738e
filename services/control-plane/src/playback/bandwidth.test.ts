import { expect, test } from '@jest/globals';
import { measureBandwidth } from './bandwidth.ts';

/** [seconds, bytes] of each segment. */
type Case = {
  what: string;
  target: number;
  segments: [number, number][];
  peak: number;
  average: number;
};

const cases: Case[] = [
  {
    what: 'one segment: both are its rate',
    target: 6,
    segments: [[6, 750_000]],
    peak: 1_000_000,
    average: 1_000_000,
  },
  {
    what: 'a segment of more than 1.5 target durations counts only in the average',
    target: 6,
    segments: [
      [6, 600_000],
      [12, 3_600_000],
    ],
    peak: 1_866_667,
    average: 1_866_667,
  },
  {
    what: 'the peak is the rate of the largest segment',
    target: 6,
    segments: [
      [6, 600_000],
      [6, 1_200_000],
    ],
    peak: 1_600_000,
    average: 1_200_000,
  },
  {
    what: 'fractions of a bit are rounded up',
    target: 4,
    segments: [
      [4, 400_000],
      [4, 800_000],
      [4, 100_001],
    ],
    peak: 1_600_000,
    // 866,667.33
    average: 866_668,
  },
  {
    what: 'a tail under half a target duration counts only together with what is before it',
    target: 6,
    segments: [
      [6, 600_000],
      [2, 600_000],
    ],
    peak: 1_200_000,
    average: 1_200_000,
  },
  {
    what: 'short segments count in runs: the two heavy ones in the middle',
    target: 6,
    segments: [
      [2, 100_000],
      [2, 500_000],
      [2, 500_000],
      [2, 100_000],
    ],
    peak: 2_000_000,
    average: 1_200_000,
  },
  {
    what: 'exactly half a target duration counts',
    target: 6,
    segments: [
      [3, 600_000],
      [6, 300_000],
    ],
    peak: 1_600_000,
    average: 800_000,
  },
  {
    what: 'exactly one and a half target durations count',
    target: 2,
    segments: [
      [0.875, 87_500],
      [1.25, 12_500],
      [0.875, 87_500],
      [2, 10_000],
    ],
    peak: 500_000,
    average: 316_000,
  },
  {
    what: 'too short for any run: the average',
    target: 1,
    segments: [[0.4, 50_000]],
    peak: 1_000_000,
    average: 1_000_000,
  },
  {
    what: 'a heavy tail that fits into no run: never below the average',
    target: 6,
    segments: [
      [6.4, 800_000],
      [2.8, 700_000],
    ],
    peak: 1_304_348,
    average: 1_304_348,
  },
];

test.each(cases)('$what', ({ target, segments, peak, average }) => {
  const measured = measureBandwidth(
    segments.map(([duration, bytes]) => ({ duration, bytes })),
    target,
  );
  expect(measured).toEqual({ peak, average });
});
