import { Problem } from '@framelane/service-kit/problem';
import { LRUCache } from 'lru-cache';

/** The length of all windows. */
export const WINDOW_SECONDS = 60;

/** Networks that a limit of one control plane counts. */
export const COUNTED_NETWORKS = 50_000;

/** Options of a cache of at most this many entries. With `max` alone, it would allocate the memory for all of them at once. */
export function upTo(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}

/** The count of one name, and the seconds until its window ends. */
export type Window = { count: number; secondsLeft: number };

/**
 * Counts by name, in windows that begin with the first count of a name. Its memory is bounded: beyond `names` names it
 * drops the least recently used one.
 *
 * Not express-rate-limit: that counts every request in a middleware. Here the count depends on what verification found:
 * the id of the key, an invalid key that was not sent before, an unknown upload token.
 */
export class WindowCounter {
  readonly #windows: LRUCache<string, { count: number }>;

  /** `clock` returns monotonic milliseconds. */
  constructor({ seconds, names }: { seconds: number; names: number }, clock = () => performance.now()) {
    this.#windows = new LRUCache({
      ...upTo(names),
      ttl: seconds * 1000,
      // Read the clock on every access.
      ttlResolution: 0,
      perf: { now: clock },
    });
  }

  /** Adds one to the count of a name. */
  add(name: string): Window {
    let window = this.#windows.get(name);
    if (window === undefined) {
      window = { count: 0 };
      this.#windows.set(name, window);
    }
    window.count += 1;
    return { count: window.count, secondsLeft: this.#secondsLeft(name) };
  }

  /** The count of a name so far. */
  get(name: string): Window {
    const count = this.#windows.get(name)?.count ?? 0;
    return { count, secondsLeft: this.#secondsLeft(name) };
  }

  /** Whole seconds until the window ends, at least one. */
  #secondsLeft(name: string): number {
    return Math.max(1, Math.ceil(this.#windows.getRemainingTTL(name) / 1000));
  }
}

/** The error of a request beyond a limit. */
export function rateLimited(detail: string, secondsLeft: number): Problem {
  return new Problem('rate_limited', `${detail} Retry in ${secondsLeft} s.`, {
    headers: { 'Retry-After': String(secondsLeft) },
  });
}
