import type { DeliveryFailure } from '../db/schema.ts';

/** Pauses are lengthened or shortened by up to this part, so that what failed together does not come back together. */
const JITTER = 0.1;

/** An endpoint that has only failed for so long is disabled. */
const FAILING_LIMIT_MS = 5 * 24 * 3600 * 1000;

/** What becomes of a delivery: done, to be tried again after so many seconds, or given up. */
export type NextStep = 'succeeded' | 'failed' | { retryInSeconds: number };

/**
 * Decides what follows an attempt. `failures` counts the failed attempts of this round, this one included; `schedule` is
 * the pause in seconds before each attempt of a round. A receiver that asks for a longer pause gets it.
 */
export function afterAttempt(
  attempt: { failure: DeliveryFailure | null; failures: number; retryAfterSeconds: number | null },
  schedule: readonly number[],
  random: () => number = Math.random,
): NextStep {
  if (attempt.failure === null) return 'succeeded';
  const pause = schedule[attempt.failures];
  if (pause === undefined) return 'failed';
  const jittered = pause * (1 + JITTER * (2 * random() - 1));
  return { retryInSeconds: Math.max(jittered, attempt.retryAfterSeconds ?? 0) };
}

/** How an endpoint has been doing: attempts that failed in a row, and since when. */
export type Health = { consecutiveFailures: number; failingSince: Date | null };

/** The health after one more attempt, and why the endpoint is to be disabled, if it is. */
export function healthAfter(
  before: Health,
  attempt: { failure: DeliveryFailure | null; at: Date },
): Health & { disable: 'gone' | 'failing' | null } {
  if (attempt.failure === null) return { consecutiveFailures: 0, failingSince: null, disable: null };
  const failingSince = before.failingSince ?? attempt.at;
  const hopeless = attempt.at.getTime() - failingSince.getTime() >= FAILING_LIMIT_MS;
  return {
    consecutiveFailures: before.consecutiveFailures + 1,
    failingSince,
    disable: attempt.failure === 'gone' ? 'gone' : hopeless ? 'failing' : null,
  };
}
