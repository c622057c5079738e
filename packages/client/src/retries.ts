import { connectionFailed } from './framelane-error.ts';
import { pause } from './pause.ts';

export type Fetch = (request: Request) => Promise<Response>;

const MAX_RETRIES = 4;
const FIRST_PAUSE_MS = 500;

/** Who is asked to wait for longer gets the answer and decides for himself. */
const LONGEST_PAUSE_MS = 60_000;

/** An answer of the API is a matter of milliseconds. */
const ATTEMPT_LIMIT_MS = 60_000;

/** What says that the request was not carried out and may be later. */
const PASSING = [429, 502, 503, 504];

/**
 * Repeats requests that were not answered, or that were not carried out for now. For requests that may be repeated: all
 * of the API's, since a POST carries an Idempotency-Key. Throws `connection_failed` when there was never an answer, and
 * the reason of the request's own signal as soon as that aborts.
 */
export function withRetries(fetch: Fetch): Fetch {
  return async (request) => {
    for (let retry = 0; ; retry += 1) {
      const outcome = await attempt(fetch, request);
      const pauseMs = pauseBeforeRetry(retry, outcome);
      if (pauseMs === undefined) {
        if (outcome instanceof Response) return outcome;
        throw connectionFailed(request.url, outcome.error);
      }
      if (outcome instanceof Response) await outcome.body?.cancel();
      await pause(pauseMs, request.signal);
    }
  };
}

async function attempt(fetch: Fetch, request: Request): Promise<Response | { error: unknown }> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(ATTEMPT_LIMIT_MS)]);
  try {
    return await fetch(new Request(request.clone(), { signal }));
  } catch (error) {
    request.signal.throwIfAborted();
    return { error };
  }
}

/** Milliseconds to wait before the next attempt; nothing when the outcome stands. */
export function pauseBeforeRetry(
  retry: number,
  outcome: Response | { error: unknown },
  random: () => number = Math.random,
): number | undefined {
  if (retry >= MAX_RETRIES) return undefined;
  // Up to half of it by chance, so that many clients do not come back all at once.
  const backOff = FIRST_PAUSE_MS * 2 ** retry * (0.5 + random() / 2);
  if (!(outcome instanceof Response)) return backOff;
  const asked = retryAfterMs(outcome.headers);
  if (asked === undefined) return PASSING.includes(outcome.status) ? backOff : undefined;
  return asked <= LONGEST_PAUSE_MS ? asked : undefined;
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
