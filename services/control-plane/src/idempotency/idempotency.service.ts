import type { Logger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import type { Database } from '../db/database.ts';
import type { IdempotencyKeyRow } from '../db/schema.ts';
import type { Answer } from './answer.ts';
import { isKept } from './idempotency-key.ts';
import {
  answerKey,
  type Claim,
  claimKey,
  deleteOldKeys,
  findKey,
  type KeyUse,
  releaseKey,
} from './idempotency-keys.store.ts';

/** How long a key is known after its first use. */
const KEPT_HOURS = 24;

/** A request that has not come to its end by then died with its process, and its key is free again. */
const LEASE_SECONDS = 60;

/** When to ask again for the answer of a request that is under way: it takes milliseconds, mostly. */
const ASK_AGAIN_SECONDS = 1;

/** Keys deleted in one go by `prune`. */
const BATCH = 1000;

/**
 * Sees to it that of all requests with the same Idempotency-Key one is carried out (ADR 10). A request leases the key; its
 * answer is stored in the transaction of its effect, and only while the lease is its own.
 */
export class IdempotencyService {
  readonly #db: Database;
  readonly #logger: Logger;

  constructor({ db, logger }: { db: Database; logger: Logger }) {
    this.#db = db;
    this.#logger = logger;
  }

  /**
   * Takes a key for a request, or resolves with the answer it had before. Throws 422 `idempotency_key_reused` when that
   * was another request, and 409 `idempotency_key_in_use` while it is under way.
   */
  async begin(use: KeyUse): Promise<{ claim: Claim } | { told: Answer }> {
    const claim = await claimKey(this.#db, use, { leaseSeconds: LEASE_SECONDS, keptHours: KEPT_HOURS });
    if (claim !== undefined) return { claim };
    const known = await findKey(this.#db, use);
    if (known !== undefined && !known.payload_hash.equals(use.payloadHash)) throw reused();
    const told = known && answerOf(known);
    // Without a row it was released just now, and the next attempt will get it.
    if (told === undefined) throw inUse();
    return { told };
  }

  /** Stores the answer in the transaction of the effect. Throws when another request has the key by now. */
  async note(trx: Database, claim: Claim, answer: Answer): Promise<void> {
    if (!(await answerKey(trx, claim, answer))) throw inUse();
  }

  /** Stores a refusal that is kept and releases the key after any other. Does not throw: the lease ends it as well. */
  async refuse(claim: Claim, refusal: Answer): Promise<void> {
    try {
      if (isKept(refusal.status)) await answerKey(this.#db, claim, refusal);
      else await releaseKey(this.#db, claim);
    } catch (error) {
      this.#logger.warn('idempotency_key.not_released', { workspaceId: claim.workspaceId, error });
    }
  }

  /** Forgets the keys whose time is over. */
  async prune(): Promise<void> {
    let removed: number;
    do removed = await deleteOldKeys(this.#db, KEPT_HOURS, BATCH);
    while (removed === BATCH);
  }
}

/** The stored answer; undefined while there is none. */
function answerOf({ status, location, body }: IdempotencyKeyRow): Answer | undefined {
  if (status === null || body === null) return undefined;
  return { status, body, ...(location !== null && { location }) };
}

function reused(): Problem {
  return new Problem(
    'idempotency_key_reused',
    'This Idempotency-Key was used with a different body. Use a new key for a new request.',
  );
}

function inUse(): Problem {
  return new Problem(
    'idempotency_key_in_use',
    'A request with this Idempotency-Key is in progress. Retry in a second to get its response.',
    { headers: { 'Retry-After': String(ASK_AGAIN_SECONDS) } },
  );
}
