import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import type { Database } from '../db/database.ts';
import type { IdempotencyKeyRow } from '../db/schema.ts';
import { isStored } from './idempotency-key.ts';
import {
  type Claim,
  claimKey,
  deleteOldKeys,
  findKey,
  type KeyUse,
  releaseKey,
  type StoredResponse,
  storeResponse,
} from './idempotency-keys.store.ts';

/** How long a key and its response are stored. */
const KEPT_HOURS = 24;

/** The lease of a key. A request that takes longer was probably killed with its process; a retry gets the key. */
const LEASE_SECONDS = 60;

/** When to retry while the first request is in progress, which usually takes milliseconds. */
const RETRY_AFTER_SECONDS = 1;

/** Keys that one statement of `prune` deletes. */
const BATCH = 1000;

/**
 * Of all requests with the same Idempotency-Key, one has an effect (ADR 10). A request leases the key; its response is
 * stored in the transaction of its effect, and only if the request still holds the lease.
 */
export class IdempotencyService {
  readonly #db: Database;
  readonly #logger: Logger;

  constructor({ db, logger }: { db: Database; logger: Logger }) {
    this.#db = db;
    this.#logger = logger;
  }

  /**
   * Leases a key for a request, or resolves with the stored response. Throws 422 `idempotency_key_reused` when the key
   * was used with another body or in another environment, and 409 `idempotency_key_in_use` while the first request is in progress.
   */
  async begin(use: KeyUse): Promise<{ claim: Claim } | { stored: StoredResponse }> {
    const claim = await claimKey(this.#db, use, { leaseSeconds: LEASE_SECONDS, keptHours: KEPT_HOURS });
    if (claim !== undefined) return { claim };
    const known = await findKey(this.#db, use);
    if (known !== undefined && !known.payload_hash.equals(use.payloadHash)) throw reused();
    const stored = known && responseOf(known);
    // Without a row the key was released just now; a retry gets it.
    if (stored === undefined) throw inUse();
    return { stored };
  }

  /** Stores the response in the transaction of the effect. Throws when another request holds the key now. */
  async store(trx: Database, claim: Claim, response: StoredResponse): Promise<void> {
    if (!(await storeResponse(trx, claim, response))) throw inUse();
  }

  /** Stores the error response or releases the key (`isStored`). Does not throw: the lease expires anyway. */
  async fail(claim: Claim, response: StoredResponse): Promise<void> {
    try {
      if (isStored(response.status)) await storeResponse(this.#db, claim, response);
      else await releaseKey(this.#db, claim);
    } catch (error) {
      this.#logger.warn('idempotency_key.not_released', { workspaceId: claim.workspaceId, error });
    }
  }

  /** Deletes keys older than `KEPT_HOURS`. */
  async prune(): Promise<void> {
    let removed: number;
    do removed = await deleteOldKeys(this.#db, KEPT_HOURS, BATCH);
    while (removed === BATCH);
  }
}

/** The stored response; undefined until it is stored. */
function responseOf({ status, location, body }: IdempotencyKeyRow): StoredResponse | undefined {
  if (status === null || body === null) return undefined;
  return { status, body, ...(location !== null && { location }) };
}

function reused(): Problem {
  return new Problem(
    'idempotency_key_reused',
    'This Idempotency-Key was used with a different body or environment. Use a new key for a new request.',
  );
}

function inUse(): Problem {
  return new Problem(
    'idempotency_key_in_use',
    'A request with this Idempotency-Key is in progress. Retry in a second to get its response.',
    { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
  );
}
