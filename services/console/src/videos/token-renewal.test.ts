import { expect, test } from '@jest/globals';
import { renewAfter } from './token-renewal.ts';

test('a token is replaced five minutes before it ends, and at once when it has ended', () => {
  const now = Date.parse('2026-11-26T12:00:00Z');
  const waits = ['2026-11-26T13:00:00Z', '2026-11-26T12:01:00Z', '2026-11-26T11:00:00Z'].map((expiresAt) =>
    renewAfter({ expiresAt }, now),
  );
  expect(waits).toEqual([55 * 60_000, 1000, 1000]);
});
