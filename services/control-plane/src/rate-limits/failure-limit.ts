import { hash } from 'node:crypto';
import { Problem } from '@framelane/service-kit/problem';
import { LRUCache } from 'lru-cache';
import { COUNTED_NETWORKS, rateLimited, upTo, WINDOW_SECONDS, WindowCounter } from './window-counter.ts';

/** Valid and invalid credentials that one control plane remembers. */
const VALID = 50_000;
const INVALID = 50_000;

/** How long a valid credential is remembered, in milliseconds. */
const VALID_FOR_MS = 60 * 60 * 1000;

/**
 * Limits the different invalid credentials (API keys, console sessions and sign-in codes) that one network may send per minute to
 * one control plane. Beyond the limit, credentials are refused without a lookup: guessing 256 bits is hopeless, but each guess would
 * cost a query. An invalid one is looked up and counted once a minute, so clients that still send a revoked key do not lock out
 * its successor. Those that were valid in the last hour are always looked up, so a guesser does not lock out others in its network.
 */
export class FailureLimit {
  readonly #perMinute: number;
  readonly #failures = new WindowCounter({ seconds: WINDOW_SECONDS, names: COUNTED_NETWORKS });
  /** Hashes of credentials. They grant nothing; they only decide whether a credential is looked up. */
  readonly #valid = new LRUCache<string, true>({ ...upTo(VALID), ttl: VALID_FOR_MS });
  /** The same for invalid ones, with the reason. */
  readonly #invalid = new LRUCache<string, Pick<Problem, 'code' | 'message' | 'options'>>({
    ...upTo(INVALID),
    ttl: WINDOW_SECONDS * 1000,
  });

  /** Zero means no limit. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /**
   * Verifies a credential from a network. Counts a 401 of the verification, and throws it again for a minute without a lookup.
   * Throws 429 `rate_limited` beyond the limit. `kind` separates credentials: a secret may be refused as one kind and be valid
   * as another.
   */
  async guard<T>(
    network: string,
    { kind, secret }: { kind: 'key' | 'session' | 'code'; secret: string },
    verify: () => Promise<T>,
  ): Promise<T> {
    if (this.#perMinute === 0) return verify();
    const name = hash('sha256', `${kind} ${secret}`, 'base64');
    const invalid = this.#invalid.get(name);
    if (invalid !== undefined) throw new Problem(invalid.code, invalid.message, invalid.options);
    if (!this.#valid.has(name)) this.#refuseAfterTooMany(network);
    try {
      const verified = await verify();
      this.#valid.set(name, true);
      return verified;
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        this.#failures.add(network);
        this.#valid.delete(name);
        const { code, message, options } = error;
        this.#invalid.set(name, { code, message, options });
      }
      throw error;
    }
  }

  #refuseAfterTooMany(network: string): void {
    const { count, secondsLeft } = this.#failures.get(network);
    if (count >= this.#perMinute) {
      throw rateLimited('Too many requests from your network had invalid credentials.', secondsLeft);
    }
  }
}
