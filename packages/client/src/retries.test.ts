import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { type Fetch, pauseBeforeRetry, withRetries } from './retries.ts';

const URL_ASKED = 'https://video.example.com/v1/videos';
const LOST = new TypeError('fetch failed');

afterEach(() => {
  jest.restoreAllMocks();
});

/** A fetch with these outcomes, one after the other, and what it was asked with. */
function scripted(...outcomes: (Response | Error)[]): { fetch: Fetch; asked: Request[] } {
  const asked: Request[] = [];
  const fetch: Fetch = async (request) => {
    asked.push(request);
    const outcome = outcomes[asked.length - 1];
    if (outcome instanceof Response) return outcome;
    throw outcome ?? new Error('Nobody expected this request');
  };
  return { fetch, asked };
}

function later(status: number, retryAfter = '0'): Response {
  return new Response('not now', { status, headers: { 'Retry-After': retryAfter } });
}

describe('the pause before a retry', () => {
  const without = (status: number) => new Response(null, { status });

  test('doubles, with up to half of it left to chance', () => {
    const pauses = (chance: number) =>
      [0, 1, 2, 3].map((retry) => pauseBeforeRetry(retry, { error: LOST }, () => chance));
    expect(pauses(0)).toEqual([250, 500, 1000, 2000]);
    expect(pauses(1)).toEqual([500, 1000, 2000, 4000]);
  });

  test.each([429, 502, 503, 504])('is made for %i', (status) => {
    expect(pauseBeforeRetry(0, without(status), () => 1)).toBe(500);
  });

  test.each([200, 201, 304, 400, 401, 404, 409, 500])('is not made for %i', (status) => {
    expect(pauseBeforeRetry(0, without(status))).toBeUndefined();
  });

  test.each([
    ['seconds', 503, '7', 7000],
    ['seconds, with any status', 409, '1', 1000],
    ['no time at all', 429, '0', 0],
    ['a date in the past', 503, 'Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['a minute', 429, '60', 60_000],
    ['more than a minute', 429, '61', undefined],
    ['nonsense', 503, 'soon', 500],
  ])('is what the server asks for: %s', (_what, status, value, expected) => {
    expect(pauseBeforeRetry(0, later(status, value), () => 1)).toBe(expected);
  });

  test('can be asked for with a date', () => {
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-11-21T09:00:00Z'));
    expect(pauseBeforeRetry(0, later(503, 'Sat, 21 Nov 2026 09:00:20 GMT'))).toBe(20_000);
  });

  test('is not made after the fourth', () => {
    expect(pauseBeforeRetry(4, { error: LOST })).toBeUndefined();
    expect(pauseBeforeRetry(4, later(503))).toBeUndefined();
  });
});

describe('a request with retries', () => {
  test('is sent again, body and all, until it is answered', async () => {
    const { fetch, asked } = scripted(later(429), later(503), new Response('{}', { status: 201 }));
    const body = '{"filename":"holiday.mp4"}';
    const answer = await withRetries(fetch)(new Request(URL_ASKED, { method: 'POST', body }));
    expect(answer.status).toBe(201);
    expect(await Promise.all(asked.map((request) => request.text()))).toEqual([body, body, body]);
  });

  test('gives the last answer when it is refused to the end', async () => {
    const { fetch, asked } = scripted(...Array.from({ length: 5 }, () => later(503)));
    const answer = await withRetries(fetch)(new Request(URL_ASKED));
    expect([answer.status, await answer.text(), asked.length]).toEqual([503, 'not now', 5]);
  });

  test('says that there was no answer', async () => {
    const { fetch } = scripted(later(503), later(503), later(503), later(503), LOST);
    await expect(withRetries(fetch)(new Request(URL_ASKED))).rejects.toMatchObject({
      name: 'FramelaneError',
      code: 'connection_failed',
      message: 'There was no answer from https://video.example.com.',
      status: null,
      cause: LOST,
    });
  });

  test('is given up for the next attempt when there is no answer in time', async () => {
    jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort(new Error('too late')));
    const seen: boolean[] = [];
    const fetch: Fetch = async ({ signal }) => {
      seen.push(signal.aborted);
      signal.throwIfAborted();
      return new Response('{}');
    };
    expect((await withRetries(fetch)(new Request(URL_ASKED))).status).toBe(200);
    expect(seen).toEqual([true, false]);
  });

  test('ends with the reason of its signal, in an attempt or between two', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const reason = new Error('nobody waits any more');
    const during: Fetch = async () => {
      controller.abort(reason);
      throw LOST;
    };
    await expect(withRetries(during)(new Request(URL_ASKED, { signal }))).rejects.toBe(reason);

    const between = new AbortController();
    const { fetch } = scripted(later(503, '60'));
    const request = withRetries(fetch)(new Request(URL_ASKED, { signal: between.signal }));
    queueMicrotask(() => between.abort(reason));
    await expect(request).rejects.toBe(reason);
  });
});
