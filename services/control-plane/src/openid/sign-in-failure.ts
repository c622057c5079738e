import { Problem } from '@framelane/service-kit/problem';

/** Why somebody could not sign in. The sign-in page has a message for each. */
export type FailureReason =
  | 'unavailable'
  | 'misconfigured'
  | 'denied'
  | 'unverified'
  | 'not_added'
  | 'expired'
  | 'rejected'
  | 'too_many'
  | 'failed';

/**
 * A failed sign-in. It counts towards the limit of invalid credentials from the client's network, unless the provider or its
 * configuration is the cause.
 */
export function signInFailure(reason: FailureReason, detail: string, cause?: unknown): Problem {
  const isInvalid = reason !== 'unavailable' && reason !== 'misconfigured';
  return new Problem(isInvalid ? 'console_code_invalid' : 'unavailable', detail, {
    extra: { reason },
    cause,
  });
}

/** The reason of an error in a sign-in. */
export function reasonOf(error: unknown): FailureReason {
  if (!(error instanceof Problem)) return 'failed';
  if (error.code === 'rate_limited') return 'too_many';
  return (error.options.extra?.reason as FailureReason | undefined) ?? 'failed';
}
