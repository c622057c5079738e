/** Key frames that are nearer to the previous one are left out: files may consist of key frames only. */
const MIN_SECONDS = 0.5;

/** Collects the times of the key frames of a track, where a decoder can begin. */
export class KeyFrameScan {
  readonly #startTime: number;
  readonly #times: number[] = [];

  /** @param startTime earliest timestamp of the file, in seconds */
  constructor(startTime: number) {
    this.#startTime = startTime;
  }

  /** Adds a key frame. `pts` is in seconds; NaN where the container gives no timestamp. */
  add(pts: number): void {
    const time = pts - this.#startTime;
    if (time >= (this.#times.at(-1) ?? Number.NEGATIVE_INFINITY) + MIN_SECONDS) this.#times.push(time);
  }

  /** Seconds from the earliest timestamp of the file, ascending. */
  get times(): readonly number[] {
    return this.#times;
  }
}
