import { CHECK_SECONDS, RENEWALS_PER_LEASE } from '@framelane/contracts/internal-api';
import type { Logger } from '@framelane/service-kit/logger';

/** The try is no longer current: the video was deleted, or the lease expired. */
export class WorkObsoleteError extends Error {
  override name = 'WorkObsoleteError';
}

/** A try of a task. */
type LeasedWork = {
  leaseSeconds: number;
  /** Identifies the try in the log. */
  facts: { videoId: string; attempt: number };
  /** Reports the progress, 0 to 1, which renews the lease. */
  report: (fraction: number) => Promise<void>;
  /** Asks the control plane whether the lease is valid. */
  isCurrent: () => Promise<boolean>;
};

const REPORT_INTERVAL_MS = 2000;
/** Less progress than this is reported only when the lease must be renewed. */
const MIN_STEP = 0.001;

/**
 * Renews the lease of a try by reporting its progress. Aborts `signal` with a WorkObsoleteError when the control
 * plane says that it is no longer current. A failed heartbeat is retried at the next interval: only the control plane
 * decides whether a lease has expired.
 */
export class WorkLease {
  readonly signal: AbortSignal;
  readonly #work: LeasedWork;
  readonly #logger: Logger;
  readonly #obsolete = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  #fraction = 0;
  #reported = { fraction: 0, at: Date.now() };
  /** Whether a report is due even without progress. */
  #isDue = false;
  #running = new Set<string>();

  constructor(work: LeasedWork, logger: Logger) {
    this.#work = work;
    this.#logger = logger;
    this.signal = this.#obsolete.signal;
    this.#timers = [
      setInterval(
        () => this.#once('report', () => this.#report()),
        Math.min(REPORT_INTERVAL_MS, this.#maxSilenceMs),
      ),
      setInterval(() => this.#once('check', () => this.#checkCurrent()), CHECK_SECONDS * 1000),
    ];
  }

  /** Sets the progress, 0 to 1. A smaller value than before is ignored. */
  progress(fraction: number): void {
    this.#fraction = Math.max(this.#fraction, fraction);
  }

  /** Reports at once, or as soon as the current report has ended. */
  reportSoon(): void {
    this.#isDue = true;
    this.#once('report', () => this.#report());
  }

  /** Stops the heartbeats. Call it before the result is published. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** The longest time between two reports. */
  get #maxSilenceMs(): number {
    return (this.#work.leaseSeconds * 1000) / RENEWALS_PER_LEASE;
  }

  /** Skips a heartbeat while the previous one is still running. */
  #once(name: string, heartbeat: () => Promise<void>): void {
    if (this.#running.has(name)) return;
    this.#running.add(name);
    heartbeat()
      .catch((error: unknown) =>
        this.#logger.warn('work.heartbeat_failed', { ...this.#work.facts, heartbeat: name, error }),
      )
      .finally(() => this.#running.delete(name));
  }

  async #report(): Promise<void> {
    const { fraction, at } = this.#reported;
    const hasProgressed = this.#fraction - fraction >= MIN_STEP;
    const mustRenew = Date.now() - at >= this.#maxSilenceMs - REPORT_INTERVAL_MS / 2;
    if (!hasProgressed && !mustRenew && !this.#isDue) return;
    this.#isDue = false;
    const now = { fraction: this.#fraction, at: Date.now() };
    try {
      await this.#work.report(now.fraction);
    } catch (error) {
      this.#isDue = true;
      throw error;
    }
    this.#reported = now;
    if (this.#isDue) await this.#report();
  }

  async #checkCurrent(): Promise<void> {
    if (await this.#work.isCurrent()) return;
    this.#obsolete.abort(new WorkObsoleteError('The video was deleted, or the lease expired'));
  }
}
