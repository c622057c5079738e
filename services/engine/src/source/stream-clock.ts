/** A larger jump ahead is a restart of the clock, unless another track shows that it is a pause. This is ffmpeg's default. */
const MAX_PAUSE_SECONDS = 10;
/** ffmpeg treats a larger step back as a restart of the clock. */
const STEP_BACK_SECONDS = 0.1;
/** ffmpeg knows the duration of a packet only approximately. */
const MARGIN_SECONDS = 1;

type Packet = { index: number; pts: number; dts: number; duration: number };

/**
 * The clock of a file whose timestamps may restart, as in MPEG streams. It finds the time that ffmpeg adds to all later timestamps of the
 * file when one of the tracks jumps (`ts_discontinuity_process` of ffmpeg).
 *
 * ffmpeg looks at one track at a time, so that it takes a long pause of a single track for a restart. This class compares the tracks:
 * where another track has reached the time that a track jumps to, that track has paused. `maxPause` is what ffmpeg needs to know.
 */
export class StreamClock {
  readonly #tracks: readonly number[];
  readonly #maxPause: number | undefined;
  /** Corrected time at which the next packet of each track is due. */
  readonly #expected = new Map<number, number>();
  /** Corrected time of the latest packet of any track. */
  #latest: number | undefined;
  #shift = 0;
  #hasRestarted = false;
  #longestPause = 0;
  #shortestRestart = Number.POSITIVE_INFINITY;

  /**
   * @param tracks the tracks that ffmpeg reads; others have no effect on the clock
   * @param maxPause seconds; every larger jump ahead is then a restart, whatever other tracks do
   */
  constructor(tracks: readonly number[], maxPause?: number) {
    this.#tracks = tracks;
    this.#maxPause = maxPause;
  }

  /** Reads the next packet of the file. Returns the seconds to add to its timestamps. All are in seconds, and NaN if unknown. */
  correction({ index, pts, dts, duration }: Packet): number {
    const time = Number.isNaN(dts) ? pts : dts;
    if (!this.#tracks.includes(index)) return 0;
    if (Number.isNaN(time)) return this.#shift;
    const expected = this.#expected.get(index) ?? this.#latest;
    if (expected !== undefined && this.#isRestart(index, time + this.#shift, expected)) {
      this.#shift = expected - time;
      this.#hasRestarted = true;
    }
    this.#latest = time + this.#shift;
    this.#expected.set(index, this.#latest + Math.max(0, duration || 0));
    return this.#shift;
  }

  /** Whether the clock has restarted so far. */
  get hasRestarted(): boolean {
    return this.#hasRestarted;
  }

  /** The longest jump in seconds that ffmpeg must take for a pause; undefined if its default suffices. */
  get maxPause(): number | undefined {
    if (this.#maxPause !== undefined) return this.#maxPause;
    return this.#longestPause > 0 ? this.#longestPause + MARGIN_SECONDS : undefined;
  }

  /**
   * Whether ffmpeg takes a restart that was found for a pause, because it is not longer than a pause. The file must then be read again
   * with `maxPause`: all tracks pause there.
   */
  get isAmbiguous(): boolean {
    return this.#maxPause === undefined && this.#shortestRestart <= (this.maxPause ?? 0);
  }

  #isRestart(track: number, time: number, expected: number): boolean {
    const jump = time - expected;
    if (jump < 0) {
      return jump < (this.#expected.has(track) ? -STEP_BACK_SECONDS : -(this.#maxPause ?? MAX_PAUSE_SECONDS));
    }
    if (jump <= (this.#maxPause ?? MAX_PAUSE_SECONDS)) return false;
    if (this.#maxPause === undefined && this.#hasReached(track, expected + jump / 2)) {
      this.#longestPause = Math.max(this.#longestPause, jump);
      return false;
    }
    this.#shortestRestart = Math.min(this.#shortestRestart, jump);
    return true;
  }

  #hasReached(track: number, time: number): boolean {
    return [...this.#expected].some(([other, due]) => other !== track && due > time);
  }
}
