import type { UploadLimits } from '../config.ts';

/** The average rate says nothing about a transfer younger than this. */
const RATE_GRACE_SECONDS = 10;

/**
 * A store that takes nothing for this long will not recover. Much longer than a client may be idle: a thin line to the
 * store moves nothing visible while it sends one large part.
 */
const STUCK_SECONDS = 600;

/** What was seen since the last look at a transfer. */
export type ThroughputSample = {
  seconds: number;
  /** Bytes that came in. */
  bytes: number;
  /** Nothing was read because the store is not ready for more: time the client cannot help. */
  heldBack: boolean;
};

/** `idle` and `slow` are the client's doing, `stuck` is the store's. */
export type ThroughputVerdict = 'fine' | 'idle' | 'slow' | 'stuck';

type PaceLimits = Pick<UploadLimits, 'idleSeconds' | 'minBytesPerSecond'>;

/** Judges whether a transfer gets on. */
export class Pace {
  readonly #limits: PaceLimits;
  #bytes = 0;
  /** All the time in which the client was free to send. */
  #freeSeconds = 0;
  /** The parts of the time since the last byte in which the client was free to send, and was not. */
  #idleSeconds = 0;
  #stuckSeconds = 0;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
  }

  observe({ seconds, bytes, heldBack }: ThroughputSample): ThroughputVerdict {
    this.#bytes += bytes;
    if (bytes > 0) {
      this.#idleSeconds = 0;
      this.#stuckSeconds = 0;
    }
    if (heldBack) {
      this.#stuckSeconds += seconds;
      return this.#stuckSeconds >= STUCK_SECONDS ? 'stuck' : 'fine';
    }
    this.#freeSeconds += seconds;
    if (bytes === 0) this.#idleSeconds += seconds;
    if (this.#idleSeconds >= this.#limits.idleSeconds) return 'idle';
    const judged = this.#freeSeconds >= RATE_GRACE_SECONDS;
    return judged && this.#bytes < this.#freeSeconds * this.#limits.minBytesPerSecond ? 'slow' : 'fine';
  }
}
