/** Pseudo-random numbers from a seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** In [0, 1). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** A random item. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

/** The same in every run, so that a new failure is due to a change and not to other input. */
const DEFAULT_SEED = 20_260_101;

/** The seed of tests with random input: PROPERTY_SEED, a new one with PROPERTY_SEED=random, or else `otherwise`. */
export function testSeed(otherwise = DEFAULT_SEED): number {
  const given = process.env.PROPERTY_SEED;
  if (given === undefined) return otherwise;
  if (given === 'random') return Math.floor(Math.random() * 2 ** 31);
  if (!/^\d+$/.test(given)) throw new Error(`PROPERTY_SEED must be a number or "random", not ${given}`);
  return Number(given);
}
