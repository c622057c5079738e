import { expect, test } from '@jest/globals';
import { pauseBeforeRetry, retrying } from './retrying.ts';
import { TransferError } from './transfer-error.ts';

const temporary = (retryAfterMs?: number) => new TransferError('later', { temporary: true, retryAfterMs });

test('pauses grow, and half of each is random', () => {
  expect([1, 2, 3, 4].map((failures) => pauseBeforeRetry(temporary(), failures, () => 1))).toEqual([
    1000, 2000, 4000, 8000,
  ]);
  expect(pauseBeforeRetry(temporary(), 3, () => 0)).toBe(2000);
  expect(pauseBeforeRetry(temporary(), 5)).toBeUndefined();
});

test('a server decides the pause, up to ten minutes', () => {
  expect(pauseBeforeRetry(temporary(7_000), 1)).toBe(7_000);
  expect(pauseBeforeRetry(temporary(600_001), 1)).toBeUndefined();
});

test('other errors are final', async () => {
  expect(pauseBeforeRetry(new TransferError('no'), 1)).toBeUndefined();
  let calls = 0;
  const run = retrying(
    async () => {
      calls += 1;
      throw new TypeError('a mistake');
    },
    { signal: AbortSignal.timeout(60_000), pause: async () => {} },
  );
  await expect(run).rejects.toThrow('a mistake');
  expect(calls).toBe(1);
});

test('an abort ends the repetition with its reason', async () => {
  const controller = new AbortController();
  const run = retrying(
    async () => {
      controller.abort(new Error('Ctrl-C'));
      throw temporary();
    },
    { signal: controller.signal, pause: async () => {} },
  );
  await expect(run).rejects.toThrow('Ctrl-C');
});
