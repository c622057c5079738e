import { describe, expect, test } from '@jest/globals';
import { ImportFailure, pauseAfter } from './import-failure.ts';
import { readRest, validatorOf } from './remote-response.ts';

const DATE = 'Sat, 21 Nov 2026 09:01:00 GMT';

describe('a validator', () => {
  test.each([
    [{ etag: '"a"' }, { name: 'etag', value: '"a"' }],
    [{ etag: 'W/"a"' }, null],
    [{ etag: 'a' }, null],
    // A weak ETag says that the bytes may differ, whatever the date says.
    [{ etag: 'W/"a"', 'last-modified': 'Sat, 21 Nov 2026 08:00:00 GMT', date: DATE }, null],
    [
      { 'last-modified': 'Sat, 21 Nov 2026 09:00:00 GMT', date: DATE },
      { name: 'last-modified', value: 'Sat, 21 Nov 2026 09:00:00 GMT' },
    ],
    [{ 'last-modified': 'Sat, 21 Nov 2026 09:00:01 GMT', date: DATE }, null],
    [{ 'last-modified': 'Sat, 21 Nov 2026 09:00:00 GMT' }, null],
    [{ 'last-modified': 'yesterday', date: DATE }, null],
    [{}, null],
  ])('of %j is %j', (headers, validator) => {
    expect(validatorOf(headers)).toEqual(validator);
  });
});

test('the response with the rest of a file of unknown size declares the size', () => {
  const headers = { 'content-range': 'bytes 5-9/10', etag: '"a"' };
  const facts = { totalBytes: null, validator: { name: 'etag', value: '"a"' } } as const;
  expect(readRest({ statusCode: 206, headers }, 5, facts)).toBe(10);
  expect(() => readRest({ statusCode: 206, headers }, 4, facts)).toThrow('import_server_failed');
});

describe('the pause after a failure', () => {
  const failure = (retryAfterSeconds = 0) =>
    new ImportFailure('import_server_failed', { retryable: true, retryAfterSeconds });

  test('follows the schedule, which ends with the fifth try', () => {
    const pauses = [1, 2, 3, 4, 5].map((tries) => pauseAfter(failure(), tries, [2, 10, 30, 60]));
    expect(pauses).toEqual([2, 10, 30, 60, null]);
  });

  test('is lengthened by Retry-After, up to ten minutes', () => {
    expect([1, 7, 9000].map((seconds) => pauseAfter(failure(seconds), 1, [2]))).toEqual([2, 7, 600]);
  });

  test('is null for a final failure', () => {
    expect(pauseAfter(new ImportFailure('import_denied'), 1, [2])).toBeNull();
  });
});
