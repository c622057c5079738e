import { expect, test } from '@jest/globals';
import { pauseBeforeLook } from './wait-until-ready.ts';

test.each([
  ['at first', 0, 250],
  ['for a short video', 4_000, 400],
  ['for a long one', 60_000, 6_000],
  ['at the least', 3_600_000, 10_000],
])('a video is looked at less often the longer it takes: %s', (_when, waitedMs, pauseMs) => {
  expect(pauseBeforeLook(waitedMs)).toBe(pauseMs);
});
