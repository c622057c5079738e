/**
 * Since when engines could be heard without a break: by this control plane, with its database and its queue at hand. A lease
 * that ran out is held against its holder only after that has lasted for as long as the lease does. Before, nobody could
 * have renewed it, and what would have may wait in the queue. It goes by the wall clock, as leases do: another may stand
 * still with a machine that is suspended.
 */
export class EngineContact {
  readonly #check: () => Promise<unknown>;
  readonly #intervalMs: number;
  /** A living engine renews a lease every quarter of it, so that a shorter break costs none. */
  readonly #breakMs: number;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #since = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** `check` rejects while engines cannot be heard. */
  constructor({
    check,
    shortestLeaseSeconds,
  }: { check: () => Promise<unknown>; shortestLeaseSeconds: number }) {
    this.#check = check;
    this.#intervalMs = shortestLeaseSeconds * 250;
    this.#breakMs = shortestLeaseSeconds * 500;
  }

  /** Begins to look. */
  start(): void {
    void this.#look();
    this.#timer = setInterval(() => this.#look(), this.#intervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Whether it has lasted for so long by now. */
  hasLasted(seconds: number): boolean {
    const now = Date.now();
    return now - this.#last <= this.#breakMs && now - this.#since >= seconds * 1000;
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      await this.#check();
      const now = Date.now();
      // Also when the clock was put back.
      if (Math.abs(now - this.#last) > this.#breakMs) this.#since = now;
      this.#last = now;
    } catch {
      // A break begins when nothing was heard for long enough to be one.
    } finally {
      this.#looking = false;
    }
  }
}
