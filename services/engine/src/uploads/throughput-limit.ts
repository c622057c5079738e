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

/** The limits, and the seconds over which the recent throughput is measured. */
type ThroughputLimits = Pick<UploadLimits, 'idleSeconds' | 'minBytesPerSecond' | 'recentSeconds'>;

/** Checks the throughput of one transfer against the limits. */
export class ThroughputLimit {
  readonly #limits: ThroughputLimits;
  #bytes = 0;
  /** Seconds without backpressure. */
  #freeSeconds = 0;
  /** Of these, the seconds since the last byte. */
  #idleSeconds = 0;
  #stuckSeconds = 0;
  /** The latest samples without backpressure, of `recentSeconds` together. */
  readonly #recent: { seconds: number; bytes: number }[] = [];

  constructor(limits: ThroughputLimits) {
    this.#limits = limits;
  }

  /** The recent throughput, without the time in which the object store accepted no bytes. Null while the transfer is too young. */
  get bytesPerSecond(): number | null {
    const seconds = this.#recentSeconds;
    if (seconds < this.#limits.recentSeconds) return null;
    return this.#recent.reduce((sum, { bytes }) => sum + bytes, 0) / seconds;
  }

  get #recentSeconds(): number {
    return this.#recent.reduce((sum, { seconds }) => sum + seconds, 0);
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
    this.#recent.push({ seconds, bytes });
    if (this.#recentSeconds - (this.#recent[0]?.seconds ?? 0) >= this.#limits.recentSeconds)
      this.#recent.shift();
    if (bytes === 0) this.#idleSeconds += seconds;
    if (this.#idleSeconds >= this.#limits.idleSeconds) return 'idle';
    if (this.#freeSeconds < RATE_GRACE_SECONDS) return 'fine';
    return this.#bytes < this.#freeSeconds * this.#limits.minBytesPerSecond ? 'slow' : 'fine';
  }
}
