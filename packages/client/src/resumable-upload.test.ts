import { expect, test } from '@jest/globals';
import { pauseMs } from './resumable-upload.ts';

test('the default retries take three to six minutes, with pauses of up to a minute', () => {
  const failures = Array.from({ length: 12 }, (_, index) => index);
  const total = (random: number) =>
    failures.reduce((ms, each) => ms + pauseMs(each, () => random), 0) / 60_000;
  expect(total(0)).toBeGreaterThan(3);
  expect(total(1)).toBeLessThan(6.1);
  expect(pauseMs(0, () => 1)).toBe(500);
  expect(pauseMs(100, () => 1)).toBe(60_000);
});
