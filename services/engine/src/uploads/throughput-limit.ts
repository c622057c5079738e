import type { UploadLimits } from '../config.ts';

/** How often the throughput of a transfer is checked. */
export const THROUGHPUT_SECONDS = 0.5;

/** Seconds before the average throughput of a transfer is checked. */
const RATE_GRACE_SECONDS = 10;

/**
 * Timeout of an object store that accepts no bytes. It is much longer than the idle timeout of a client: on a slow line to the
 * store, sending one large part takes minutes, and the store accepts no further bytes meanwhile.
 */
const STUCK_SECONDS = 600;

/** What a transfer did since its last sample. */
export type ThroughputSample = {
  seconds: number;
  /** Bytes received. */
  bytes: number;
  /** Whether the engine stopped reading because the object store accepts no more bytes. The client is not at fault then. */
  backpressure: boolean;
};

/** With `idle` and `slow` the client is at fault, with `stuck` the object store. */
export type ThroughputVerdict = 'fine' | 'idle' | 'slow' | 'stuck';

/** Checks the throughput of one transfer against the limits. */
export class ThroughputLimit {
  readonly #limits: Pick<UploadLimits, 'idleSeconds' | 'minBytesPerSecond'>;
  #bytes = 0;
  /** Seconds without backpressure. */
  #freeSeconds = 0;
  /** Of these, the seconds since the last byte. */
  #idleSeconds = 0;
  #stuckSeconds = 0;

  constructor(limits: Pick<UploadLimits, 'idleSeconds' | 'minBytesPerSecond'>) {
    this.#limits = limits;
  }

  observe({ seconds, bytes, backpressure }: ThroughputSample): ThroughputVerdict {
    this.#bytes += bytes;
    if (bytes > 0) {
      this.#idleSeconds = 0;
      this.#stuckSeconds = 0;
    }
    if (backpressure) {
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
