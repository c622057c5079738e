import { Problem } from '@framelane/service-kit/problem';
import { rateLimited, WINDOW_SECONDS } from './rate-limited.ts';
import { WindowCounter } from './window-counter.ts';

/** Networks counted at once by one control plane. */
const NETWORKS = 50_000;

/**
 * How many unknown upload tokens a network may send a minute, to one control plane. Each token is looked up, so that a good
 * one works whatever others behind the same address send.
 */
export class TokenGuessLimit {
  readonly #perMinute: number;
  readonly #guesses = new WindowCounter({ seconds: WINDOW_SECONDS, names: NETWORKS });

  /** Zero is no limit. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Redeems a token from a network. Throws 429 `rate_limited` in place of an `upload_token_invalid` too many. */
  async guard<T>(network: string, redeem: () => Promise<T>): Promise<T> {
    try {
      return await redeem();
    } catch (error) {
      if (this.#perMinute > 0 && error instanceof Problem && error.code === 'upload_token_invalid') {
        const { count, secondsLeft } = this.#guesses.add(network);
        if (count > this.#perMinute) {
          throw rateLimited('Too many uploads from your network had an unknown token.', secondsLeft);
        }
      }
      throw error;
    }
  }
}
