import { RENEWALS_PER_LEASE } from '@framelane/contracts/internal-api';

/**
 * Measures for how long this control plane has reached its database and the broker without a break. A control plane ends
 * expired leases only after it has reached both for the duration of a lease. Until then, engines may have been unable to
 * renew their leases, or the renewals may still be in the queue.
 *
 * Uses the wall clock, like the expiry of leases: a monotonic clock may stop while the machine is suspended.
 */
export class LeaseGrace {
  readonly #check: () => Promise<unknown>;
  readonly #intervalMs: number;
  /** A shorter interruption is no break: a lease outlasts two missed renewals. */
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
    this.#intervalMs = (shortestLeaseSeconds * 1000) / RENEWALS_PER_LEASE;
    this.#breakMs = 2 * this.#intervalMs;
  }

  /** Begins to check. */
  start(): void {
    void this.#runCheck();
    this.#timer = setInterval(() => this.#runCheck(), this.#intervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Whether database and broker have been reachable for the last `seconds` without a break. */
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
      // Math.abs, because the clock may have been set back.
      if (Math.abs(now - this.#last) > this.#breakMs) this.#since = now;
      this.#last = now;
    } catch {
      // A break begins when no check has succeeded for `breakMs`.
    } finally {
      this.#checking = false;
    }
  }
}
