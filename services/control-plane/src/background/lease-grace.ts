/**
 * Says since when leases could be renewed without a break: this control plane ran, and reached its database and the broker.
 * A lease counts as expired only after that has lasted as long as the lease does. Before, no engine could renew it, or its
 * renewal may still be in the queue. Time is that of the wall clock, like the expiry of leases: a monotonic clock may stop
 * while the machine is suspended.
 */
export class LeaseGrace {
  readonly #check: () => Promise<unknown>;
  readonly #intervalMs: number;
  /** Engines renew a lease every quarter of its duration, so a shorter break expires none. */
  readonly #breakMs: number;
  #timer: NodeJS.Timeout | undefined;
  #checking = false;
  #since = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** `check` rejects while the database or the broker is unavailable. */
  constructor({
    check,
    shortestLeaseSeconds,
  }: { check: () => Promise<unknown>; shortestLeaseSeconds: number }) {
    this.#check = check;
    this.#intervalMs = shortestLeaseSeconds * 250;
    this.#breakMs = shortestLeaseSeconds * 500;
  }

  /** Begins to check. */
  start(): void {
    void this.#runCheck();
    this.#timer = setInterval(() => this.#runCheck(), this.#intervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Whether leases could be renewed for the last `seconds` without a break. */
  hasPassed(seconds: number): boolean {
    const now = Date.now();
    return now - this.#last <= this.#breakMs && now - this.#since >= seconds * 1000;
  }

  /** Never rejects. */
  async #runCheck(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    try {
      await this.#check();
      const now = Date.now();
      // `abs` because the clock may have been set back.
      if (Math.abs(now - this.#last) > this.#breakMs) this.#since = now;
      this.#last = now;
    } catch {
      // A single failed check is no break yet.
    } finally {
      this.#checking = false;
    }
  }
}
