import { hash } from 'node:crypto';
import { Problem } from '@framelane/service-kit/problem';
import { LRUCache } from 'lru-cache';
import { rateLimited, WINDOW_SECONDS } from './rate-limited.ts';
import { WindowCounter } from './window-counter.ts';

/** Networks counted at once by one control plane, and good keys remembered. */
const NETWORKS = 50_000;
const GOOD_KEYS = 50_000;

/** For how long a good key is remembered, in milliseconds. */
const GOOD_FOR_MS = 60 * 60 * 1000;

/**
 * How many refused keys a network may send a minute, to one control plane. What is more is refused without being looked up: guessing
 * 256 bits leads nowhere, but each guess would cost the database a query. Those who share the address of somebody who guesses
 * are not shut out: a key that was good in the last hour is looked up all the same.
 */
export class FailureLimit {
  readonly #perMinute: number;
  readonly #failures = new WindowCounter({ seconds: WINDOW_SECONDS, names: NETWORKS });
  /** Hashes of secrets. They open nothing; they only say which secrets are worth a look. */
  readonly #good = new LRUCache<string, true>({ max: GOOD_KEYS, ttl: GOOD_FOR_MS });

  /** Zero is no limit. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /**
   * Verifies a secret that came from a network, and counts when that throws a 401. Throws 429 `rate_limited` instead when
   * too many have failed.
   */
  async guard<T>(network: string, secret: string, verify: () => Promise<T>): Promise<T> {
    if (this.#perMinute === 0) return verify();
    const name = hash('sha256', secret, 'base64');
    if (!this.#good.has(name)) this.#refuseAfterTooMany(network);
    try {
      const verified = await verify();
      this.#good.set(name, true);
      return verified;
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        this.#failures.add(network);
        this.#good.delete(name);
      }
      throw error;
    }
  }

  #refuseAfterTooMany(network: string): void {
    const { count, secondsLeft } = this.#failures.get(network);
    if (count >= this.#perMinute) {
      throw rateLimited('Too many requests from your address had an API key that is not good.', secondsLeft);
    }
  }
}
