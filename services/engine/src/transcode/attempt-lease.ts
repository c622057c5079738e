import type {
  CheckAttemptRequest,
  ClaimAttemptRequest,
  ClaimAttemptResponse,
} from '@framelane/contracts/internal-api';
import { createMessage } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';

/** The requests of the transcode worker to the control plane. Both reject if it is unreachable. */
export interface AttemptClient {
  /** Claims the next attempt at a video; null if there is nothing to claim: it runs elsewhere, is finished, or was deleted. */
  claimAttempt(request: ClaimAttemptRequest): Promise<ClaimAttemptResponse | null>;
  /** Whether the attempt holds its lease and the video is not deleted. */
  isAttemptCurrent(request: CheckAttemptRequest): Promise<boolean>;
}

/** The attempt is no longer current: the video was deleted, or the lease expired. */
export class AttemptObsoleteError extends Error {
  override name = 'AttemptObsoleteError';
}

type Attempt = { videoId: string; attempt: number; leaseSeconds: number };

const REPORT_INTERVAL_MS = 2000;
const CHECK_INTERVAL_MS = 5000;
/** Less progress than this is reported only when the lease must be renewed. */
const MIN_STEP = 0.001;

/**
 * Renews the lease of an attempt by reporting its progress. Aborts `signal` with an AttemptObsoleteError when the control
 * plane says that the attempt is no longer current. A failed heartbeat is retried at the next interval: only the control plane
 * decides whether a lease has expired.
 */
export class AttemptLease {
  readonly signal: AbortSignal;
  readonly #attempt: Attempt;
  readonly #deps: { bus: MessageBus; controlPlane: AttemptClient; logger: Logger };
  readonly #obsolete = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  #fraction = 0;
  #reported = { fraction: 0, at: Date.now() };
  #running = new Set<string>();

  constructor(attempt: Attempt, deps: { bus: MessageBus; controlPlane: AttemptClient; logger: Logger }) {
    this.#attempt = attempt;
    this.#deps = deps;
    this.signal = this.#obsolete.signal;
    this.#timers = [
      setInterval(
        () => this.#once('report', () => this.#report()),
        Math.min(REPORT_INTERVAL_MS, this.#maxSilenceMs),
      ),
      setInterval(() => this.#once('check', () => this.#checkCurrent()), CHECK_INTERVAL_MS),
    ];
  }

  /** Sets the progress, 0 to 1. A smaller value than before is ignored. */
  progress(fraction: number): void {
    this.#fraction = Math.max(this.#fraction, fraction);
  }

  /** Stops the heartbeats. Call it before the result is published. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** The longest time between two reports: a quarter of the lease. */
  get #maxSilenceMs(): number {
    return this.#attempt.leaseSeconds * 250;
  }

  /** Skips a heartbeat while the previous one is still running. */
  #once(name: string, heartbeat: () => Promise<void>): void {
    if (this.#running.has(name)) return;
    this.#running.add(name);
    const { videoId, attempt } = this.#attempt;
    heartbeat()
      .catch((error: unknown) =>
        this.#deps.logger.warn('attempt.heartbeat_failed', { videoId, attempt, heartbeat: name, error }),
      )
      .finally(() => this.#running.delete(name));
  }

  async #report(): Promise<void> {
    const { fraction, at } = this.#reported;
    const hasProgressed = this.#fraction - fraction >= MIN_STEP;
    const isDue = Date.now() - at >= this.#maxSilenceMs - REPORT_INTERVAL_MS / 2;
    if (!hasProgressed && !isDue) return;
    const { videoId, attempt } = this.#attempt;
    const now = { fraction: this.#fraction, at: Date.now() };
    await this.#deps.bus.publish(
      createMessage('transcode.progress', { videoId, attempt, fraction: now.fraction }),
    );
    this.#reported = now;
  }

  async #checkCurrent(): Promise<void> {
    const { videoId, attempt } = this.#attempt;
    if (await this.#deps.controlPlane.isAttemptCurrent({ videoId, attempt })) return;
    this.#obsolete.abort(
      new AttemptObsoleteError('The video was deleted, or the lease of the attempt expired'),
    );
  }
}
