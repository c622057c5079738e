import { Problem } from '@framelane/service-kit/problem';
import { COUNTED_NETWORKS, rateLimited, WINDOW_SECONDS, WindowCounter } from './window-counter.ts';

/**
 * Limits the unknown upload tokens that one network may send per minute to one control plane. Every token is looked up, so
 * a valid token works even if others in the same network send unknown ones.
 */
export class TokenGuessLimit {
  readonly #perMinute: number;
  readonly #guesses = new WindowCounter({ seconds: WINDOW_SECONDS, names: COUNTED_NETWORKS });

  /** Zero means no limit. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Redeems a token from a network. Beyond the limit, throws 429 `rate_limited` instead of `upload_token_invalid`. */
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
