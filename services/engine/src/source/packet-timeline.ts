import { COMMON_RATES, type FrameRate, toNumber } from './frame-rate.ts';

/** The timing of a video track, measured from its packets, as ffmpeg's decoder sees it. */
export type Timeline = {
  /**
   * Seconds from the earliest timestamp of the file to the beginning of what an edit list shows. ffmpeg discards what is before, except in
   * fragmented files.
   */
  cut: number;
  /** Number of displayed packets, one per frame. */
  frames: number;
  /** Seconds from the earliest timestamp of the file to the first frame. */
  start: number;
  /** Seconds from the earliest timestamp of the file to the end of the last frame. */
  duration: number;
  /** Frames a second between the first and the last frame of the track. Edits that cut a frame short do not change it. */
  averageRate: number;
  /** The lowest common rate whose frame times include those of all frames; null if there is no such rate. */
  grid: FrameRate | null;
};

/** ffmpeg treats a larger jump as a restart of the clock, not as a pause. */
const BREAK_SECONDS = 10;
/** ffmpeg also treats a larger step back as a restart of the clock. */
const STEP_BACK_SECONDS = 0.1;

/** Some containers round timestamps to milliseconds, and the first timestamp with them. */
const GRID_TOLERANCE_SECONDS = 0.0011;

/**
 * Measures a video track from its packets, read in file order. The declared duration is not reliable: recordings of
 * browsers have none, and files may be truncated.
 */
export class PacketTimeline {
  readonly #startTime: number;
  readonly #clockMayRestart: boolean;
  #frames = 0;
  #hidden = 0;
  #hiddenFrom = Number.POSITIVE_INFINITY;
  /** The sum of the durations of the frames, in seconds. */
  #frameSeconds = 0;
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #end = Number.NEGATIVE_INFINITY;
  #longestFrame = 0;
  #expected: number | undefined;
  #shift = 0;
  /**
   * The longest time in seconds from decoding to presentation so far. A packet without a presentation timestamp is assumed to
   * have this delay.
   */
  #delay = 0;
  /** The time of the first packet, or of the first one after hidden packets; grids are relative to it. */
  #origin: number | undefined;
  #grids = COMMON_RATES;

  /**
   * @param startTime earliest timestamp of the file, in seconds
   * @param clockMayRestart whether timestamps may restart, as in MPEG streams; ffmpeg corrects that
   */
  constructor(startTime: number, clockMayRestart: boolean) {
    this.#startTime = startTime;
    this.#clockMayRestart = clockMayRestart;
  }

  /** Adds a packet. Times are in seconds; NaN where the container gives none. */
  add(pts: number, dts: number, duration: number): void {
    this.#frames += 1;
    const length = Number.isNaN(duration) ? 0 : Math.max(0, duration);
    this.#longestFrame = Math.max(this.#longestFrame, length);
    this.#frameSeconds += length;
    const time = this.#corrected(Number.isNaN(dts) ? pts : dts, length);
    if (Number.isNaN(time)) return;
    const presented = Number.isNaN(pts) ? time + this.#delay : pts + this.#shift;
    this.#delay = Math.max(this.#delay, presented - time);
    this.#origin ??= presented;
    const sinceOrigin = presented - this.#origin;
    this.#grids = this.#grids.filter((rate) => isOnGrid(sinceOrigin, toNumber(rate)));
    this.#first = Math.min(this.#first, presented);
    this.#last = Math.max(this.#last, presented);
    this.#end = Math.max(this.#end, presented + length);
  }

  /**
   * Adds a packet that is decoded and not displayed. The frames after it may belong to another edit of the edit list: they are on the
   * same grid only among themselves.
   */
  addHidden(pts: number): void {
    this.#hidden += 1;
    if (pts >= Math.max(0, this.#startTime)) this.#hiddenFrom = Math.min(this.#hiddenFrom, pts);
    this.#origin = undefined;
  }

  /** Packets added so far. */
  get packets(): number {
    return this.#frames + this.#hidden;
  }

  /** Seconds from the earliest timestamp of the file to the end of the packets added so far. Never decreases. */
  get end(): number {
    return this.#end - this.#startTime;
  }

  /** Whether all packets so far are hidden. */
  get hidesAll(): boolean {
    return this.#hidden > 0 && this.#frames === 0;
  }

  /** Whether a hidden packet has a time at which another one is displayed, or that is before the first one which is displayed. */
  get hidesWithin(): boolean {
    return this.#hiddenFrom < this.#end - GRID_TOLERANCE_SECONDS;
  }

  /** Whether timestamps have restarted so far. */
  get clockHasRestarted(): boolean {
    return this.#shift !== 0;
  }

  /** Null if no packet has a timestamp. */
  result(): Timeline | null {
    if (this.#end === Number.NEGATIVE_INFINITY) return null;
    const frameSeconds = (this.#last - this.#first) / Math.max(1, this.#frames - 1);
    // Without packet durations, the last frame gets the average duration.
    const end = this.#longestFrame > 0 ? this.#end : this.#end + frameSeconds;
    return {
      cut: this.#hidden > 0 ? Math.max(0, -this.#startTime) : 0,
      frames: this.#frames,
      start: this.#first - this.#startTime,
      duration: end - this.#startTime,
      // With jittering timestamps, MP4 may give the last frame nearly no duration; the other frames determine the rate.
      averageRate:
        this.#hidden > 0 && this.#frameSeconds > 0
          ? this.#frames / this.#frameSeconds
          : 1 / Math.max(frameSeconds, (end - this.#first) / this.#frames),
      grid: this.#grids[0] ?? null,
    };
  }

  #corrected(time: number, length: number): number {
    if (Number.isNaN(time)) return time;
    const expected = this.#expected;
    if (this.#clockMayRestart && expected !== undefined) {
      const jump = time + this.#shift - expected;
      if (Math.abs(jump) > BREAK_SECONDS || jump < -STEP_BACK_SECONDS) this.#shift -= jump;
    }
    this.#expected = time + this.#shift + length;
    return time + this.#shift;
  }
}

function isOnGrid(seconds: number, rate: number): boolean {
  return Math.abs(seconds - Math.round(seconds * rate) / rate) <= GRID_TOLERANCE_SECONDS;
}
