import type { UploadLimits } from '../config.ts';

/** The average of a younger transfer is not checked. */
const RATE_GRACE_SECONDS = 10;

/**
 * An object store that accepts nothing for this long does not recover. It is much longer than the idle timeout of a client:
 * over a slow line, sending one large part to the store takes minutes in which it accepts no more.
 */
const STUCK_SECONDS = 600;

/** What a transfer did since its last sample. */
export type ThroughputSample = {
  seconds: number;
  /** Bytes received. */
  bytes: number;
  /** The engine read nothing because the object store accepts no more. The client is not responsible for this time. */
  heldBack: boolean;
};

/** With `idle` and `slow` the client is at fault, with `stuck` the object store. */
export type ThroughputVerdict = 'fine' | 'idle' | 'slow' | 'stuck';

/** Checks the throughput of one transfer against the limits. */
export class ThroughputLimit {
  readonly #limits: Pick<UploadLimits, 'idleSeconds' | 'minBytesPerSecond'>;
  #bytes = 0;
  /** Time in which the client could send. */
  #freeSeconds = 0;
  /** The part of it since the last byte. */
  #idleSeconds = 0;
  #stuckSeconds = 0;

  constructor(limits: Pick<UploadLimits, 'idleSeconds' | 'minBytesPerSecond'>) {
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
    if (this.#freeSeconds < RATE_GRACE_SECONDS) return 'fine';
    return this.#bytes < this.#freeSeconds * this.#limits.minBytesPerSecond ? 'slow' : 'fine';
  }
}
