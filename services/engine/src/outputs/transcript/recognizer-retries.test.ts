import { describe, expect, test } from '@jest/globals';
import { recognizerFailure, recognizerTimeout } from '../../recognizers/recognizer-failure.ts';
import { delayAfter, withRetries } from './recognizer-retries.ts';

const failed = (retryAfterSeconds?: number, retryable = true) =>
  recognizerFailure('It is busy', { retryable, retryAfterSeconds });

describe('the pause after a failure', () => {
  test('is the usual one, or that for which the recogniser asks', () => {
    expect(delayAfter(failed(), 500)).toBe(500);
    expect(delayAfter(failed(0), 500)).toBe(500);
    expect(delayAfter(failed(7), 500)).toBe(7000);
    expect(delayAfter(failed(7), 30_000)).toBe(30_000);
    expect(delayAfter(failed(120), 500)).toBe(120_000);
  });

  test.each([
    ['it is longer than two minutes', failed(121), 500],
    ['no more is allowed', failed(7), undefined],
    ['it is for good', failed(7, false), 500],
    ['it took too long', recognizerTimeout(5), 500],
    ['it is another error', new Error('A defect'), 500],
  ])('ends the try if %s', (_, error, usualMs) => {
    expect(delayAfter(error, usualMs)).toBeUndefined();
  });
});

test('a request is repeated after each pause', async () => {
  let requests = 0;
  const request = async () => {
    requests += 1;
    throw failed();
  };
  const { signal } = new AbortController();
  await expect(withRetries({ retryDelaysMs: [1, 1] }, signal, request)).rejects.toMatchObject({
    retryable: true,
  });
  expect(requests).toBe(3);
});

test('a pause ends with the signal', async () => {
  const stopping = new AbortController();
  const request = async () => {
    stopping.abort(new Error('The engine stops'));
    throw failed(100);
  };
  await expect(withRetries({ retryDelaysMs: [1] }, stopping.signal, request)).rejects.toThrow(
    'The engine stops',
  );
});
