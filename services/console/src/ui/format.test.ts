import { expect, test } from '@jest/globals';
import { formatAge, formatBytes, formatDuration, formatTimeLeft } from './format.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [9_960, '10 kB'],
  [999_600, '1.0 MB'],
  [7_340_032, '7.3 MB'],
  [2 ** 50, '1126 TB'],
])('%p bytes are %p', (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words);
});

test.each([
  [0.4, '0:00'],
  [59.6, '1:00'],
  [61, '1:01'],
  [3723, '1:02:03'],
])('%p seconds are %p', (seconds, words) => {
  expect(formatDuration(seconds)).toBe(words);
});

test('ages', () => {
  const now = Date.parse('2026-11-21T10:00:00Z');
  const age = (time: string) => formatAge(time, now);
  expect(age('2026-11-21T09:59:30Z')).toBe('just now');
  // A browser whose clock is slow.
  expect(age('2026-11-21T10:00:30Z')).toBe('just now');
  expect(age('2026-11-21T09:58:30Z')).toBe('1 minute ago');
  expect(age('2026-11-21T07:00:00Z')).toBe('3 hours ago');
  // Not "yesterday": this is the day before yesterday.
  expect(age('2026-11-19T11:00:00Z')).toBe('1 day ago');
  expect(age('2026-09-01T12:00:00Z')).toContain('2026');
});

test('the time left is rounded up', () => {
  expect([0.2, 59.5, 61, 3599, 3601, 90_000].map(formatTimeLeft)).toEqual([
    '1 s',
    '60 s',
    '2 min',
    '60 min',
    '2 h',
    '25 h',
  ]);
});
