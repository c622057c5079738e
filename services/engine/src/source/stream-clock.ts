/** A larger jump ahead is a restart of the clock, unless another track shows that it is a pause. This is ffmpeg's default. */
const MAX_PAUSE_SECONDS = 10;
/** ffmpeg treats a larger step back as a restart of the clock. */
const STEP_BACK_SECONDS = 0.1;
/** ffmpeg knows the duration of a packet only approximately. */
const MARGIN_SECONDS = 1;

type Packet = {
  index: number;
  pts: number;
  dts: number;
  duration: number;
  /** Position in the file. */
  at: number;
};

/**
 * The clock of a file whose timestamps may restart, as in MPEG streams. It finds the time that ffmpeg adds to all later timestamps of the
 * file when one of the tracks jumps (`ts_discontinuity_process` of ffmpeg).
 *
 * ffmpeg checks each track by itself, so that it takes a long pause of a single track for a restart. This class compares the tracks:
 * where another track has reached the time that a track jumps to, that track has paused. `maxPause` is what ffmpeg needs to know.
 *
 * The demuxer of transport streams delivers the last packet of a track at the end of the file. Its time belongs to the clock of its position.
 */
export class StreamClock {
  readonly #tracks: readonly number[];
  readonly #maxPause: number | undefined;
  /** Corrected time at which the next packet of each track is due. */
  readonly #expected = new Map<number, number>();
  /** Corrected time of the latest packet of any track; before the first packet, where ffmpeg expects that. */
  #latest: number | undefined;
  #shift = 0;
  #hasRestarted = false;
  /** Position of the last packet that restarted the clock. */
  #restartedAt = 0;
  /** For each track that is not followed, whether its first packet has another clock than the beginning of the file. */
  readonly #beginsAfterRestart = new Map<number, boolean>();
  #longestPause = 0;
  #shortestRestart = Number.POSITIVE_INFINITY;

  /**
   * @param tracks the tracks that ffmpeg reads; others have no effect on the clock
   * @param maxPause seconds; every larger jump ahead is then a restart, whatever other tracks do
   * @param startTime earliest timestamp of the tracks, in seconds. It may belong to a track that begins after a restart
   */
  constructor(tracks: readonly number[], maxPause?: number, startTime?: number) {
    this.#tracks = tracks;
    this.#maxPause = maxPause;
    this.#latest = startTime;
  }

  /** Reads the next packet of the file. Returns the seconds to add to its timestamps. All are in seconds, and NaN if unknown. */
  correction({ index, pts, dts, duration, at }: Packet): number {
    const time = Number.isNaN(dts) ? pts : dts;
    if (!this.#tracks.includes(index)) {
      this.#recordBeginning(index, time);
      return 0;
    }
    if (Number.isNaN(time)) return this.#shift;
    const expected = this.#expected.get(index) ?? this.#latest;
    const mayPause = !(at < this.#restartedAt);
    if (expected !== undefined && this.#isRestart(index, time + this.#shift, expected, mayPause)) {
      this.#shift = expected - time;
      this.#hasRestarted = true;
      this.#restartedAt = Math.max(this.#restartedAt, at || 0);
    }
    this.#latest = time + this.#shift;
    this.#expected.set(index, this.#latest + Math.max(0, duration || 0));
    return this.#shift;
  }

  /** Whether the clock has restarted so far. */
  get hasRestarted(): boolean {
    return this.#hasRestarted;
  }

  /** Whether a track that is not followed begins after a restart of the clock. */
  beginsAfterRestart(track: number): boolean {
    return this.#beginsAfterRestart.get(track) ?? false;
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

  #isRestart(track: number, time: number, expected: number, mayPause: boolean): boolean {
    const jump = time - expected;
    if (jump < 0 && this.#expected.has(track)) return jump < -STEP_BACK_SECONDS;
    if (Math.abs(jump) <= (this.#maxPause ?? MAX_PAUSE_SECONDS)) return false;
    if (
      mayPause &&
      this.#maxPause === undefined &&
      jump > 0 &&
      this.#hasReached(track, expected + jump / 2)
    ) {
      this.#longestPause = Math.max(this.#longestPause, jump);
      return false;
    }
    this.#shortestRestart = Math.min(this.#shortestRestart, Math.abs(jump));
    return true;
  }

  #recordBeginning(track: number, time: number): void {
    if (this.#latest === undefined || this.#beginsAfterRestart.has(track)) return;
    const jump = time + this.#shift - this.#latest;
    this.#beginsAfterRestart.set(track, this.#hasRestarted || Math.abs(jump) > MAX_PAUSE_SECONDS);
  }

  #hasReached(track: number, time: number): boolean {
    return [...this.#expected].some(([other, due]) => other !== track && due > time);
  }
}
