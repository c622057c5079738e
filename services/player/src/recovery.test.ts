import { expect, test } from '@jest/globals';
import { waitBefore, waitForConnection } from './recovery.ts';

test.each([
  [0, 1000],
  [1, 2000],
  [4, 16_000],
  [5, 30_000],
  [100, 30_000],
])('after %d failures, the page waits %d ms', (failures, milliseconds) => {
  expect(waitBefore(failures)).toBe(milliseconds);
});

test('a wait whose signal has aborted before ends at once', async () => {
  await expect(waitForConnection(60_000, AbortSignal.abort())).resolves.toBeUndefined();
});
