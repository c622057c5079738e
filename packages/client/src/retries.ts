import { ConnectionError } from './framelane-error.ts';
import { pause } from './pause.ts';

export type Fetch = (request: Request) => Promise<Response>;

export type RetryOptions = {
  /** How often a request without a complete response, or with a temporary error, is retried. Default 4, 0 for never. */
  retries?: number | undefined;
  /** Milliseconds until an attempt without a complete response is aborted and retried. Default 60,000, Infinity for no limit. */
  timeoutMs?: number | undefined;
};

/** Timers do not wait longer: 24 days. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

const FIRST_PAUSE_MS = 500;

/** A response with a longer `Retry-After` is returned, and the caller decides. */
const LONGEST_PAUSE_MS = 60_000;

/** Requests in progress. Node's `fetch` ignores the signal of a Request that is garbage-collected meanwhile (nodejs/undici#4068). */
const SENT = new Set<Request>();

/** The requests of bodies that callers still read, for the same reason. */
const REQUEST_OF = new WeakMap<ReadableStream, Request>();

/** Statuses that are retried without a `Retry-After`. A response with a short `Retry-After` is retried whatever its status. */
const TEMPORARY = [429, 502, 503, 504];

/**
 * Retries requests without a complete response or with a temporary error. All requests of the API can be retried, because
 * a POST has an Idempotency-Key. Throws a ConnectionError if the last attempt got no complete response, and the reason of
 * the request's own signal as soon as that aborts. With `streamed` a successful response is complete with its headers: its body
 * is not read, and no timeout applies to it.
 */
export function withRetries(
  fetch: Fetch,
  { retries = 4, timeoutMs = 60_000, streamed = false }: RetryOptions & { streamed?: boolean } = {},
): Fetch {
  return async (request) => {
    for (let retry = 0; ; retry += 1) {
      const outcome = await attempt(fetch, request, { timeoutMs, streamed });
      const pauseMs = retry < retries ? pauseBeforeRetry(retry, outcome) : undefined;
      if (pauseMs === undefined) {
        if (outcome instanceof Response) return outcome;
        throw new ConnectionError(request.url, outcome.error);
      }
      await pause(pauseMs, request.signal);
    }
  };
}

async function attempt(
  fetch: Fetch,
  request: Request,
  { timeoutMs, streamed }: { timeoutMs: number; streamed: boolean },
): Promise<Response | { error: unknown }> {
  const timeout = timeoutMs > LONGEST_TIMEOUT_MS ? undefined : AbortSignal.timeout(timeoutMs);
  // The signal of the timeout itself would also abort a streamed body that the caller still reads.
  const timedOut = new AbortController();
  const giveUp = () => timedOut.abort(timeout?.reason);
  timeout?.addEventListener('abort', giveUp);
  const sent = new Request(request.clone(), { signal: AbortSignal.any([request.signal, timedOut.signal]) });
  SENT.add(sent);
  try {
    const response = await fetch(sent);
    if (!streamed || !response.ok) return await withBody(response);
    if (response.body !== null) REQUEST_OF.set(response.body, sent);
    return response;
  } catch (error) {
    request.signal.throwIfAborted();
    return { error };
  } finally {
    timeout?.removeEventListener('abort', giveUp);
    SENT.delete(sent);
  }
}

/**
 * The response with its whole body read, so that an attempt includes it. Bodies of the API are small. In Chromium a 204 and a 304 have an
 * empty body instead of none, with which a Response cannot be created.
 */
async function withBody(response: Response): Promise<Response> {
  if (response.body === null || [204, 304].includes(response.status)) return response;
  return new Response(await response.arrayBuffer(), response);
}

/** Milliseconds before the next attempt; undefined if the outcome is final. `retry` counts from 0. */
export function pauseBeforeRetry(
  retry: number,
  outcome: Response | { error: unknown },
  random: () => number = Math.random,
): number | undefined {
  // Partly random, so that many requests are not repeated at the same moment.
  const backOff = FIRST_PAUSE_MS * 2 ** retry * (0.5 + random() / 2);
  if (!(outcome instanceof Response)) return backOff;
  const requested = retryAfterMs(outcome.headers);
  if (requested === undefined) return TEMPORARY.includes(outcome.status) ? backOff : undefined;
  return requested <= LONGEST_PAUSE_MS ? requested + random() * FIRST_PAUSE_MS : undefined;
}

/** RFC 9110 §10.2.3: seconds, or a date, which begins with the name of a day. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const ms = /^[A-Z]/i.test(value) ? Date.parse(value) - Date.now() : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
