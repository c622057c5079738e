import type { DeliveryFailure } from '../db/schema.ts';

/** Pauses vary by up to this part, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/** An endpoint is disabled after failing for this long without a success. */
const FAILING_LIMIT_MS = 5 * 24 * 3600 * 1000;

/** What follows an attempt: the delivery ends, or is retried. */
export type NextStep = 'succeeded' | 'failed' | { retryInSeconds: number };

/**
 * Decides what follows an attempt. `failures` counts the failed attempts of this round, this one included; `schedule` is
 * the pause in seconds before each attempt of a round. Retry-After can lengthen a pause.
 */
export function afterDeliveryAttempt(
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

/** The failed attempts of an endpoint since its last success, and when the first of them was. */
export type Health = { consecutiveFailures: number; failingSince: Date | null };

/** The health after one more attempt, and the reason to disable the endpoint, if there is one. */
export function healthAfter(
  before: Health,
  attempt: { failure: DeliveryFailure | null; at: Date },
): Health & { disable: 'gone' | 'failing' | null } {
  if (attempt.failure === null) return { consecutiveFailures: 0, failingSince: null, disable: null };
  const failingSince = before.failingSince ?? attempt.at;
  const failingTooLong = attempt.at.getTime() - failingSince.getTime() >= FAILING_LIMIT_MS;
  return {
    consecutiveFailures: before.consecutiveFailures + 1,
    failingSince,
    disable: attempt.failure === 'gone' ? 'gone' : failingTooLong ? 'failing' : null,
  };
}
