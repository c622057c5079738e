import { hash } from 'node:crypto';
import { Problem } from '@framelane/service-kit/problem';
import { LRUCache } from 'lru-cache';
import { rateLimited, WINDOW_SECONDS } from './rate-limited.ts';
import { WindowCounter } from './window-counter.ts';

/** Networks counted at once by one control plane, and good and refused keys remembered. */
const NETWORKS = 50_000;
const GOOD_KEYS = 50_000;
const REFUSED_KEYS = 50_000;

/** For how long a good key is remembered, in milliseconds. */
const GOOD_FOR_MS = 60 * 60 * 1000;

/**
 * How many different keys a network may send a minute that are refused, by one control plane. What is more is refused
 * without being looked up: guessing 256 bits leads nowhere, but each guess would cost the database a query. A refused key
 * is looked up and counted once a minute, however often it comes: clients that still send a revoked key do not shut out
 * its successor. Those who share the address of somebody who guesses are not shut out either: a key that was good in the
 * last hour is looked up all the same.
 */
export class FailureLimit {
  readonly #perMinute: number;
  readonly #failures = new WindowCounter({ seconds: WINDOW_SECONDS, names: NETWORKS });
  /** Hashes of secrets. They open nothing; they only say which secrets are worth a look. */
  readonly #good = new LRUCache<string, true>({ max: GOOD_KEYS, ttl: GOOD_FOR_MS });
  /** The same for refused ones, with what they were refused for. */
  readonly #refused = new LRUCache<string, Pick<Problem, 'code' | 'message' | 'options'>>({
    max: REFUSED_KEYS,
    ttl: WINDOW_SECONDS * 1000,
  });

  /** Zero is no limit. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /**
   * Verifies a secret that came from a network, and counts when that throws a 401, which holds for a minute. Throws 429
   * `rate_limited` instead when too many have failed.
   */
  async guard<T>(network: string, secret: string, verify: () => Promise<T>): Promise<T> {
    if (this.#perMinute === 0) return verify();
    const name = hash('sha256', secret, 'base64');
    const refused = this.#refused.get(name);
    if (refused !== undefined) throw new Problem(refused.code, refused.message, refused.options);
    if (!this.#good.has(name)) this.#refuseAfterTooMany(network);
    try {
      const verified = await verify();
      this.#good.set(name, true);
      return verified;
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        this.#failures.add(network);
        this.#good.delete(name);
        const { code, message, options } = error;
        this.#refused.set(name, { code, message, options });
      }
      throw error;
    }
  }

  #refuseAfterTooMany(network: string): void {
    const { count, secondsLeft } = this.#failures.get(network);
    if (count >= this.#perMinute) {
      throw rateLimited('Too many requests from your network had an invalid API key.', secondsLeft);
    }
  }
}
