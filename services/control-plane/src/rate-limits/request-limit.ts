import type { Request } from 'express';
import { rateLimited, WINDOW_SECONDS } from './rate-limited.ts';
import { WindowCounter } from './window-counter.ts';

/** Keys counted at once by one control plane. */
const KEYS = 100_000;

/** How many requests a key may make a minute, by one control plane. */
export class RequestLimit {
  readonly #perMinute: number;
  readonly #requests = new WindowCounter({ seconds: WINDOW_SECONDS, names: KEYS });

  /** Zero is no limit. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /**
   * Counts a request of a key and puts on its answer what is left (draft-ietf-httpapi-ratelimit-headers-10 §3, §4). Throws 429
   * `rate_limited` when there was nothing left.
   */
  count(keyId: string, { res }: Request): void {
    if (this.#perMinute === 0) return;
    const { count, secondsLeft } = this.#requests.add(keyId);
    const left = Math.max(0, this.#perMinute - count);
    res?.set({
      'RateLimit-Policy': `"key";q=${this.#perMinute};w=${WINDOW_SECONDS}`,
      RateLimit: `"key";r=${left};t=${secondsLeft}`,
    });
    if (count > this.#perMinute) {
      throw rateLimited(`This API key is limited to ${this.#perMinute} requests per minute.`, secondsLeft);
    }
  }
}
