/** The time is counted in steps of this length, or in tenths of a shorter limit. */
const STEP_MS = 1_000;

/**
 * A time limit that counts only time in which this process runs. While the process or the machine is suspended, a timer of Node
 * continues to count: after a suspension it would end a tool that has had no time to work, or whose end this process has not noticed yet.
 */
export class RunningLimit {
  readonly #limitMs: number;
  readonly #onLimit: () => void;
  #leftMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Starts to count. Calls `onLimit` once, unless `clear` is called before. */
  constructor(seconds: number, onLimit: () => void) {
    this.#limitMs = seconds * 1000;
    this.#onLimit = onLimit;
    this.refresh();
    this.#count();
  }

  /** Starts to count from zero. */
  refresh(): void {
    this.#leftMs = this.#limitMs;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  /** A step counts as its own length, however late its timer is. */
  #count(): void {
    const step = Math.min(STEP_MS, this.#limitMs / 10);
    this.#timer = setTimeout(() => {
      this.#leftMs -= step;
      if (this.#leftMs > 0) this.#count();
      else this.#onLimit();
    }, step);
  }
}
