import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { type Fetch, pauseBeforeRetry, withRetries } from './retries.ts';

const REQUESTED_URL = 'https://video.example.com/v1/videos';
const LOST = new TypeError('fetch failed');

afterEach(() => {
  jest.restoreAllMocks();
});

/** A fetch with these outcomes, in order, and the requests it got. */
function scripted(...outcomes: (Response | Error)[]): { fetch: Fetch; requests: Request[] } {
  const requests: Request[] = [];
  const fetch: Fetch = async (request) => {
    requests.push(request);
    const outcome = outcomes[requests.length - 1];
    if (outcome instanceof Response) return outcome;
    throw outcome ?? new Error('Unexpected request');
  };
  return { fetch, requests };
}

function later(status: number, retryAfter = '0'): Response {
  return new Response('not now', { status, headers: { 'Retry-After': retryAfter } });
}

describe('the pause before a retry', () => {
  const withoutRetryAfter = (status: number) => new Response(null, { status });

  test('doubles, and half of it is random', () => {
    const pauses = (chance: number) =>
      [0, 1, 2, 3].map((retry) => pauseBeforeRetry(retry, { error: LOST }, () => chance));
    expect(pauses(0)).toEqual([250, 500, 1000, 2000]);
    expect(pauses(1)).toEqual([500, 1000, 2000, 4000]);
  });

  test.each([429, 502, 503, 504])('exists for %i', (status) => {
    expect(pauseBeforeRetry(0, withoutRetryAfter(status), () => 1)).toBe(500);
  });

  test.each([200, 201, 304, 400, 401, 404, 409, 500])('does not exist for %i', (status) => {
    expect(pauseBeforeRetry(0, withoutRetryAfter(status))).toBeUndefined();
  });

  test.each([
    ['seconds', 503, '7', 7000],
    ['seconds, with any status', 409, '1', 1000],
    ['no time at all', 429, '0', 0],
    ['a date in the past', 503, 'Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['a minute', 429, '60', 60_000],
    ['more than a minute', 429, '61', undefined],
    ['nonsense', 503, 'soon', 250],
    ['a fraction, which is not allowed', 503, '1.5', 250],
  ])('depends on `Retry-After`: %s', (_what, status, value, expected) => {
    expect(pauseBeforeRetry(0, later(status, value), () => 0)).toBe(expected);
  });

  test('lasts until the date in `Retry-After`', () => {
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-11-21T09:00:00Z'));
    expect(pauseBeforeRetry(0, later(503, 'Sat, 21 Nov 2026 09:00:20 GMT'), () => 0)).toBe(20_000);
  });
});

describe('a request with retries', () => {
  test('is sent again with its body until it succeeds', async () => {
    const { fetch, requests } = scripted(later(429), later(503), new Response('{}', { status: 201 }));
    const body = '{"filename":"holiday.mp4"}';
    const response = await withRetries(fetch)(new Request(REQUESTED_URL, { method: 'POST', body }));
    expect(response.status).toBe(201);
    expect(await Promise.all(requests.map((request) => request.text()))).toEqual([body, body, body]);
  });

  test('returns the last response when all attempts fail', async () => {
    const { fetch, requests } = scripted(...Array.from({ length: 5 }, () => later(503)));
    const response = await withRetries(fetch)(new Request(REQUESTED_URL));
    expect([response.status, await response.text(), requests.length]).toEqual([503, 'not now', 5]);
  });

  test.each([0, 1, 2])('is retried as often as set: %i times', async (retries) => {
    const { fetch, requests } = scripted(later(503), later(503), later(503));
    const response = await withRetries(fetch, { retries })(new Request(REQUESTED_URL));
    expect([response.status, requests.length]).toEqual([503, retries + 1]);
  });

  test('has the timeout that is set', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout');
    const { fetch } = scripted(new Response('{}'), new Response('{}'));
    await withRetries(fetch, { timeoutMs: 1234 })(new Request(REQUESTED_URL));
    await withRetries(fetch)(new Request(REQUESTED_URL));
    expect(timeout.mock.calls).toEqual([[1234], [60_000]]);
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 31])('has no timeout with %d', async (timeoutMs) => {
    const timeout = jest.spyOn(AbortSignal, 'timeout');
    const { fetch } = scripted(new Response('{}'));
    expect((await withRetries(fetch, { timeoutMs })(new Request(REQUESTED_URL))).status).toBe(200);
    expect(timeout).not.toHaveBeenCalled();
  });

  test('throws if there is no response', async () => {
    const { fetch } = scripted(later(503), later(503), later(503), later(503), LOST);
    await expect(withRetries(fetch)(new Request(REQUESTED_URL))).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'connection_failed',
      message: 'https://video.example.com sent no complete response.',
      status: null,
      cause: LOST,
    });
  });

  test('is retried after a timeout', async () => {
    const timeout = new AbortController();
    jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(timeout.signal);
    const seen: boolean[] = [];
    const fetch: Fetch = async ({ signal }) => {
      timeout.abort(new Error('too late'));
      seen.push(signal.aborted);
      signal.throwIfAborted();
      return new Response('{}');
    };
    expect((await withRetries(fetch)(new Request(REQUESTED_URL))).status).toBe(200);
    expect(seen).toEqual([true, false]);
  });

  test('throws the reason of its signal, during an attempt or between two', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const reason = new Error('the caller left');
    const during: Fetch = async () => {
      controller.abort(reason);
      throw LOST;
    };
    // Without retries, because a pause before one would throw the reason, too.
    const once = withRetries(during, { retries: 0 });
    await expect(once(new Request(REQUESTED_URL, { signal }))).rejects.toBe(reason);

    const between = new AbortController();
    const { fetch } = scripted(later(503, '60'));
    const request = withRetries(fetch)(new Request(REQUESTED_URL, { signal: between.signal }));
    queueMicrotask(() => between.abort(reason));
    await expect(request).rejects.toBe(reason);
  });
});

test.each([204, 304])('a %i with an empty body, as in Chromium, is a complete response', async (status) => {
  const response = new Response(null, { status });
  Object.defineProperty(response, 'body', { value: new Response('').body });
  const { fetch, requests } = scripted(response);
  const received = await withRetries(fetch)(new Request(REQUESTED_URL, { method: 'DELETE' }));
  expect([received.status, requests.length]).toEqual([status, 1]);
});
