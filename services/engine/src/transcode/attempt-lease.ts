import type {
  AttemptWantedRequest,
  ClaimAttemptRequest,
  ClaimAttemptResponse,
} from '@framelane/contracts/internal-api';
import { createMessage } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { Logger } from '@framelane/service-kit/logger';

/** What the transcode worker asks the control plane. Both reject when it cannot be reached. */
export interface AttemptClient {
  /** Claims the next attempt at a video; null when there is none to claim: it runs elsewhere, is done, or gone. */
  claimAttempt(request: ClaimAttemptRequest): Promise<ClaimAttemptResponse | null>;
  /** Whether the attempt still holds its lease on a video that still exists. */
  attemptWanted(request: AttemptWantedRequest): Promise<boolean>;
}

/** The control plane gave the attempt up: the video was deleted, or the lease ran out. */
export class AttemptUnwantedError extends Error {
  override name = 'AttemptUnwantedError';
}

type Attempt = { videoId: string; attempt: number; leaseSeconds: number };

const REPORT_MS = 2000;
const WANTED_MS = 5000;
/** Smaller steps of progress are not worth a message. */
const SMALLEST_STEP = 0.001;

/**
 * Keeps the lease of an attempt alive by reporting its progress, and aborts `signal` with an AttemptUnwantedError once
 * the control plane no longer wants it. What cannot be reported or asked is tried again at the next beat: only the
 * control plane decides when a lease has run out.
 */
export class AttemptLease {
  readonly signal: AbortSignal;
  readonly #attempt: Attempt;
  readonly #deps: { bus: MessageBus; controlPlane: AttemptClient; logger: Logger };
  readonly #unwanted = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  #fraction = 0;
  #reported = { fraction: 0, at: Date.now() };
  #underWay = new Set<string>();

  constructor(attempt: Attempt, deps: { bus: MessageBus; controlPlane: AttemptClient; logger: Logger }) {
    this.#attempt = attempt;
    this.#deps = deps;
    this.signal = this.#unwanted.signal;
    this.#timers = [
      setInterval(() => this.#once('report', () => this.#report()), Math.min(REPORT_MS, this.#quietMs)),
      setInterval(() => this.#once('ask', () => this.#ask()), WANTED_MS),
    ];
  }

  /** Takes note of the part done, 0..1. A smaller one than before is ignored. */
  progress(fraction: number): void {
    this.#fraction = Math.max(this.#fraction, fraction);
  }

  /** Ends the beats; call it before the result is published. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** Longest silence: a quarter of the lease. */
  get #quietMs(): number {
    return this.#attempt.leaseSeconds * 250;
  }

  /** Skips a beat while the one before is still under way. */
  #once(name: string, beat: () => Promise<void>): void {
    if (this.#underWay.has(name)) return;
    this.#underWay.add(name);
    const { videoId, attempt } = this.#attempt;
    beat()
      .catch((error: unknown) =>
        this.#deps.logger.warn('attempt.heartbeat_failed', { videoId, attempt, beat: name, error }),
      )
      .finally(() => this.#underWay.delete(name));
  }

  async #report(): Promise<void> {
    const { fraction, at } = this.#reported;
    const isNews = this.#fraction - fraction >= SMALLEST_STEP;
    const isDue = Date.now() - at >= this.#quietMs - REPORT_MS / 2;
    if (!isNews && !isDue) return;
    const { videoId, attempt } = this.#attempt;
    const now = { fraction: this.#fraction, at: Date.now() };
    await this.#deps.bus.publish(
      createMessage('transcode.progress', { videoId, attempt, fraction: now.fraction }),
    );
    this.#reported = now;
  }

  async #ask(): Promise<void> {
    const { videoId, attempt } = this.#attempt;
    if (await this.#deps.controlPlane.attemptWanted({ videoId, attempt })) return;
    this.#unwanted.abort(new AttemptUnwantedError('The control plane no longer wants this attempt'));
  }
}
