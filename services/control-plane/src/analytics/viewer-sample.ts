/** Bytes of the hash of a viewer. */
const BYTES = 8;

/** Viewers that are counted exactly. Beyond that, a sample of at least half as many has a standard error below half a percent. */
const EXACT = 100_000;

/**
 * Counts different viewers in bounded memory. Hashes of viewers are uniform, so those below a threshold are a fair sample of all: when there are too
 * many, the threshold is halved (adaptive sampling, Flajolet 1990). Until then the count is exact.
 */
export class ViewerSample {
  readonly #exact: number;
  readonly #kept = new Set<bigint>();
  /** How many viewers each kept one stands for: 2 to the power of this. */
  #halvings = 0;

  constructor(exact = EXACT) {
    this.#exact = exact;
  }

  /** Adds viewers: their hashes, one after the other. Viewers can be added again. */
  add(hashes: Buffer): void {
    for (let at = 0; at + BYTES <= hashes.length; at += BYTES) {
      const hash = hashes.readBigUInt64BE(at);
      if (!this.#isSampled(hash)) continue;
      this.#kept.add(hash);
      while (this.#kept.size > this.#exact) this.#halve();
    }
  }

  /** The number of different viewers. */
  get count(): number {
    return this.#kept.size * 2 ** this.#halvings;
  }

  #isSampled(hash: bigint): boolean {
    return hash >> BigInt(BYTES * 8 - this.#halvings) === 0n;
  }

  #halve(): void {
    this.#halvings += 1;
    for (const hash of this.#kept) if (!this.#isSampled(hash)) this.#kept.delete(hash);
  }
}
