/** Attempts that may go wrong before a video fails for good. */
const MAX_FAILED_ATTEMPTS = 3;

/** How an attempt ended, as far as it matters for what comes next. */
export type AttemptFailure = 'permanent' | 'transient' | 'handed_back';

/** What comes next: another attempt after so many seconds, or the end. */
export type NextStep = { retryInSeconds: number } | 'give_up';

/**
 * Decides what follows a failed attempt. A handed-back one costs nothing; a transient failure is tried again with
 * doubling pauses until the attempts are used up.
 */
export function afterFailure(
  failure: AttemptFailure,
  failedBefore: number,
  backoffSeconds: number,
): NextStep {
  if (failure === 'handed_back') return { retryInSeconds: 0 };
  if (failure === 'permanent' || failedBefore + 1 >= MAX_FAILED_ATTEMPTS) return 'give_up';
  return { retryInSeconds: backoffSeconds * 2 ** failedBefore };
}
