import type { DeliveryFailure } from '../db/schema.ts';

/** Pauses are lengthened or shortened by up to this part, so that what failed together does not come back together. */
const JITTER = 0.1;

/** Longest wait a receiver can ask for, in seconds: as long as the longest pause of the usual schedule. */
const LONGEST_SECONDS = 24 * 3600;

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

/** Seconds a receiver asks to be left alone: a number or a date (RFC 9110 §10.2.3). Null when it does not say, or not clearly. */
export function readRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : secondsUntil(header, now);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), LONGEST_SECONDS) : null;
}

function secondsUntil(date: string, now: Date): number {
  // Every HTTP date ends in GMT but the obsolete asctime form, which nothing sends.
  return / GMT$/.test(date) ? Math.ceil((Date.parse(date) - now.getTime()) / 1000) : Number.NaN;
}
