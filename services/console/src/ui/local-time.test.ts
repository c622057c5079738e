import { expect, test } from '@jest/globals';
import { isoTimeOf } from './local-time.ts';

test('a local time is one in UTC for the API', () => {
  expect(isoTimeOf('2026-11-21T09:00')).toBe(new Date(2026, 10, 21, 9).toISOString());
});

test.each(['', 'soon', '2026-13-01T00:00'])('%j is no time', (text) =>
  expect(isoTimeOf(text)).toBeUndefined(),
);
