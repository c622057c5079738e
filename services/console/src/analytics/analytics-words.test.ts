import { expect, test } from '@jest/globals';
import {
  countryName,
  formatCount,
  formatPercent,
  formatShare,
  formatShortCount,
  formatStart,
  formatUtcDay,
  formatWatchTime,
  shareOf,
  stallWords,
} from './analytics-words.ts';

test('counts have separators, and are short on an axis', () => {
  expect([formatCount(0), formatCount(1250)]).toEqual(['0', '1,250']);
  expect([formatShortCount(12_000), formatShortCount(3), formatShortCount(0.5)]).toEqual(['12K', '3', '']);
});

test.each([
  [0, '0 s'],
  [59.4, '59 s'],
  [90, '1.5 min'],
  [3599, '60 min'],
  [3600, '1 h'],
  [90_120.5, '25 h'],
  [90_400, '25.1 h'],
  [3_600_000, '1,000 h'],
  [359_640, '99.9 h'],
  [361_000, '100 h'],
])('%d seconds watched are %p', (seconds, words) => {
  expect(formatWatchTime(seconds)).toBe(words);
});

test('start times have two or three digits', () => {
  expect([0.466, 1.776, 10, 22.2].map(formatStart)).toEqual(['0.47 s', '1.78 s', '10.0 s', '22.2 s']);
});

test('shares have one place at most', () => {
  expect([100, 61.44, 0.04].map(formatPercent)).toEqual(['100 %', '61.4 %', '0 %']);
  expect([100, 61.5, 1, 0.99, 0].map(formatShare)).toEqual(['100 %', '62 %', '1 %', '< 1 %', '0 %']);
  expect([shareOf(1, 4), shareOf(0, 0)]).toEqual([25, 0]);
});

test('a day is one of UTC, wherever the browser is', () => {
  // On a machine in UTC, the test could not fail without this. Jest's own runtime, which runs mutation tests, ignores it.
  process.env.TZ = 'America/New_York';
  expect(formatUtcDay('2026-11-24')).toContain('24');
});

test('countries have names, or their letters', () => {
  expect([countryName('DE'), countryName('QQ')]).toEqual(['Germany', 'QQ']);
});

test('stalls are counted per view', () => {
  expect(stallWords({ stalls: { count: 0, seconds: 0 }, views: 5 })).toBe('None');
  expect(stallWords({ stalls: { count: 37, seconds: 8 }, views: 1250 })).toBe('37, 0.03 per view');
  expect(stallWords({ stalls: { count: 1, seconds: 8 }, views: 0 })).toBe('1');
});
