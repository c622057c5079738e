import { StandardRetryStrategy } from '@smithy/core/retry';

const LIMITS = {
  maxAttempts: 3,
  /** Milliseconds, which double: a server that ends its connections all at once is soon there for new ones. */
  baseDelay: 500,
};

/**
 * Retries that no other request uses up. The SDK has the requests of a client share a quota of some 35 at a time, so that
 * many uploads side by side would fail at once when a server restarts.
 */
export class IndependentRetries extends StandardRetryStrategy {
  constructor() {
    super(LIMITS);
  }

  /** As a strategy decides that has seen no other failure; how many tries there were is in the token. */
  override refreshRetryTokenForRetry(
    ...failure: Parameters<StandardRetryStrategy['refreshRetryTokenForRetry']>
  ): ReturnType<StandardRetryStrategy['refreshRetryTokenForRetry']> {
    return new StandardRetryStrategy(LIMITS).refreshRetryTokenForRetry(...failure);
  }
}
