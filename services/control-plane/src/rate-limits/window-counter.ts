import { LRUCache } from 'lru-cache';

/** What was counted for one name, and when counting begins anew. */
export type Window = { count: number; secondsLeft: number };

/**
 * Counts by name, in windows that begin with the first count of a name and end after some seconds. It remembers no more
 * names than it is told to, so its memory does not grow with those who call; the one not heard of for longest goes first.
 */
export class WindowCounter {
  readonly #windows: LRUCache<string, { count: number }>;

  /** `clock` gives milliseconds and never goes back. */
  constructor({ seconds, names }: { seconds: number; names: number }, clock = () => performance.now()) {
    this.#windows = new LRUCache({
      max: names,
      ttl: seconds * 1000,
      // Zero asks the clock each time.
      ttlResolution: 0,
      perf: { now: clock },
    });
  }

  /** Counts one more. */
  add(name: string): Window {
    let window = this.#windows.get(name);
    if (window === undefined) {
      window = { count: 0 };
      this.#windows.set(name, window);
    }
    window.count += 1;
    return { count: window.count, secondsLeft: this.#secondsLeft(name) };
  }

  /** What has been counted so far. */
  get(name: string): Window {
    const count = this.#windows.get(name)?.count ?? 0;
    return { count, secondsLeft: this.#secondsLeft(name) };
  }

  /** Whole seconds, at least one: after them the window is over. */
  #secondsLeft(name: string): number {
    return Math.max(1, Math.ceil(this.#windows.getRemainingTTL(name) / 1000));
  }
}
