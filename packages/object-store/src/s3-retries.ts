import { setTimeout as delay } from 'node:timers/promises';
import { S3ServiceException } from '@aws-sdk/client-s3';
import { StandardRetryStrategy } from '@smithy/core/retry';

/**
 * Maximum attempts of a request when the connection breaks or the server fails (500, 502, 503, 504, throttling). Attempts after conflicts do
 * not count.
 */
const REQUEST_ATTEMPTS = 3;

/** Maximum attempts of a request that conflicts with another write (409), and the delay before each retry. */
const CONFLICT_ATTEMPTS = 4;
const CONFLICT_DELAY_MS = 500;

/**
 * The backoff before the first retry is at most this long, and twice as long before each further one. With full jitter. It is longer if
 * the server throttles requests or sends Retry-After.
 */
const BASE_DELAY_MS = 500;

/**
 * When the connection of a download breaks, the download continues on a new one. It fails after this many connections in
 * a row that each delivered less than `progressBytes`. Retries of the request that opens a connection do not count.
 */
export const DOWNLOAD_RETRIES = { failuresInARow: 3, progressBytes: 1024 ** 2, delayMs: 500 };

/**
 * Retries the requests of an S3 client: the only layer of retries below a download.
 *
 * The SDK's own strategy has one quota for all requests of a client, some 35 retries at a time. With it, many parallel uploads would fail
 * when a server restarts. Here each request has the quota of a new client. The attempts made so far are in the token.
 */
export class S3Retries extends StandardRetryStrategy {
  /** Conflicts since the last failure of another kind. */
  readonly #conflicts = new WeakMap<object, number>();

  constructor() {
    super(REQUEST_ATTEMPTS);
  }

  override async refreshRetryTokenForRetry(
    ...[token, failure]: Parameters<StandardRetryStrategy['refreshRetryTokenForRetry']>
  ): ReturnType<StandardRetryStrategy['refreshRetryTokenForRetry']> {
    if (!isConflict(failure.error)) {
      const limits = { maxAttempts: REQUEST_ATTEMPTS, baseDelay: BASE_DELAY_MS };
      return new StandardRetryStrategy(limits).refreshRetryTokenForRetry(token, failure);
    }
    const conflicts = (this.#conflicts.get(token) ?? 0) + 1;
    if (conflicts >= CONFLICT_ATTEMPTS) throw failure.error;
    this.#conflicts.set(token, conflicts);
    await delay(CONFLICT_DELAY_MS);
    // The same token: a conflict does not count as a failed attempt.
    return token;
  }
}

/**
 * The server has not decided on another write of the object yet. That may be an earlier attempt whose response was lost.
 */
function isConflict(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 409;
}
