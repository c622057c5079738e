import type { Request } from 'express';
import { rateLimited, WINDOW_SECONDS, WindowCounter } from './window-counter.ts';

/** Credentials that one control plane counts. */
const CREDENTIALS = 100_000;

/** Limits the requests of one API key or console session per minute to one control plane. */
export class RequestLimit {
  readonly #perMinute: number;
  readonly #requests = new WindowCounter({ seconds: WINDOW_SECONDS, names: CREDENTIALS });

  /** Zero means no limit. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /**
   * Counts a request of a credential and sets the RateLimit headers of the response (draft-ietf-httpapi-ratelimit-headers-10 §3,
   * §4). Throws 429 `rate_limited` beyond the limit.
   */
  count(credentialId: string, { res }: Request): void {
    if (this.#perMinute === 0) return;
    const { count, secondsLeft } = this.#requests.add(credentialId);
    const left = Math.max(0, this.#perMinute - count);
    res?.set({
      'RateLimit-Policy': `"key";q=${this.#perMinute};w=${WINDOW_SECONDS}`,
      RateLimit: `"key";r=${left};t=${secondsLeft}`,
    });
    if (count > this.#perMinute) {
      throw rateLimited(
        `Each API key and each session is limited to ${this.#perMinute} requests per minute.`,
        secondsLeft,
      );
    }
  }
}
