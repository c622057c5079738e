import type { UploadLimits } from '../config.ts';

/** The average rate says nothing about a transfer younger than this. */
const RATE_GRACE_SECONDS = 10;

/** What was seen since the last look at a transfer. */
export type PaceSample = {
  seconds: number;
  /** Bytes that came in. */
  bytes: number;
  /** Nothing was read because the store is not ready for more: time the client cannot help. */
  heldBack: boolean;
};

/** `idle` and `slow` are the client's doing, `stuck` is the store's. */
export type PaceVerdict = 'fine' | 'idle' | 'slow' | 'stuck';

/** Judges whether a transfer gets on. */
export class Pace {
  readonly #limits: UploadLimits;
  #bytes = 0;
  #countedSeconds = 0;
  #quietSeconds = 0;

  constructor(limits: UploadLimits) {
    this.#limits = limits;
  }

  observe({ seconds, bytes, heldBack }: PaceSample): PaceVerdict {
    this.#bytes += bytes;
    if (!heldBack) this.#countedSeconds += seconds;
    this.#quietSeconds = bytes > 0 ? 0 : this.#quietSeconds + seconds;
    if (this.#quietSeconds >= this.#limits.idleSeconds) return heldBack ? 'stuck' : 'idle';
    const judged = !heldBack && this.#countedSeconds >= RATE_GRACE_SECONDS;
    return judged && this.#bytes < this.#countedSeconds * this.#limits.minBytesPerSecond ? 'slow' : 'fine';
  }
}
