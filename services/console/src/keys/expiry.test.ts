import { expect, test } from '@jest/globals';
import { expiresAt } from './expiry.ts';

test('an expiry is so many days from now', () => {
  const now = Date.parse('2026-11-21T10:00:00Z');
  expect(expiresAt('', now)).toBeNull();
  expect(expiresAt('30', now)).toBe('2026-12-21T10:00:00.000Z');
});
