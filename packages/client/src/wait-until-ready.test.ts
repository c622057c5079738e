import { expect, test } from '@jest/globals';
import { pauseBeforePoll } from './wait-until-ready.ts';

test.each([
  ['at the start', 0, 250],
  ['for a short video', 4_000, 400],
  ['for a long one', 60_000, 6_000],
  ['at the longest', 3_600_000, 10_000],
])('a video is polled less often the longer it takes: %s', (_when, waitedMs, pauseMs) => {
  expect(pauseBeforePoll(waitedMs)).toBe(pauseMs);
});
