import { randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { dayOf } from '../usage/usage-period.ts';
import { HmacKey } from './hmac-key.ts';
import { saltOf } from './visitors.store.ts';

/** Bytes of a hash that are stored: enough to tell millions of viewers apart. */
const STORED_BYTES = 8;

/** What tells viewers of a workspace apart on one day. */
export type Visitor = { workspaceId: string; network: string; userAgent: string };

/**
 * Hashes viewers with the salt of the day, which all control planes share. When the salt is deleted, after the day, nobody can compute a hash
 * again, not even with the address: see ADR 102.
 */
export class Visitors {
  readonly #db: Database;
  #salt: { day: string; key: Promise<HmacKey> } | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The day, and the hash of a viewer on it. Rejects while the database is unavailable, if the salt is not known yet. */
  async today(visitor: Visitor): Promise<{ day: string; hash: Buffer }> {
    const day = dayOf(new Date());
    if (this.#salt?.day !== day) {
      const key = saltOf(this.#db, day, randomBytes(32)).then((salt) => new HmacKey(salt));
      this.#salt = { day, key };
    }
    const current = this.#salt;
    try {
      return { day, hash: hashOf(visitor, await current.key) };
    } catch (error) {
      if (this.#salt === current) this.#salt = undefined;
      throw error;
    }
  }
}

/** No two visitors have the same text: JSON escapes what separates the values. */
function hashOf({ workspaceId, network, userAgent }: Visitor, key: HmacKey): Buffer {
  const text = JSON.stringify([workspaceId, network, userAgent]);
  return key.sign(text).subarray(0, STORED_BYTES);
}
