import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Request } from 'express';
import { RequestLimit } from './request-limit.ts';

beforeEach(() => {
  jest.useFakeTimers();
  // An LRU cache ignores the time 0.
  jest.advanceTimersByTime(1);
});
afterEach(() => void jest.useRealTimers());

/** Counts a request; returns the headers of its response, and the error if it is refused. */
function count(limit: RequestLimit, credential: string) {
  const set = jest.fn();
  let refusal: unknown;
  try {
    limit.count(credential, { res: { set } } as unknown as Request);
  } catch (error) {
    refusal = error;
  }
  return { headers: set.mock.calls.map(([headers]) => headers), refusal };
}

describe('the requests of a credential', () => {
  test('have the remaining ones in their responses, and are refused beyond the limit', () => {
    const limit = new RequestLimit(2);
    const results = Array.from({ length: 4 }, () => count(limit, 'a'));
    const headers = (left: number) => ({
      'RateLimit-Policy': '"key";q=2;w=60',
      RateLimit: `"key";r=${left};t=60`,
    });
    expect(results.map((result) => result.headers)).toEqual([1, 0, 0, 0].map((left) => [headers(left)]));
    const refused = expect.objectContaining({ code: 'rate_limited' });
    expect(results.map(({ refusal }) => refusal)).toEqual([undefined, undefined, refused, refused]);
  });

  test('do not count for another one', () => {
    const limit = new RequestLimit(1);
    expect(count(limit, 'a').refusal).toBeUndefined();
    expect(count(limit, 'b').refusal).toBeUndefined();
    expect(count(limit, 'a').refusal).toBeDefined();
  });

  test('are counted without a response', () => {
    const limit = new RequestLimit(1);
    limit.count('a', {} as Request);
    expect(() => limit.count('a', {} as Request)).toThrow(
      'Each API key and each session is limited to 1 requests per minute.',
    );
  });

  test('have no limit if it is zero', () => {
    const limit = new RequestLimit(0);
    expect([count(limit, 'a'), count(limit, 'a')]).toEqual(Array(2).fill({ headers: [] }));
  });
});
