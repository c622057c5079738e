import { COMMON_RATES, type FrameRate, toNumber } from './frame-rate.ts';

/** What the packets of a video track say about its time, as ffmpeg will see it when it decodes them. */
export type Timeline = {
  /** Packets, which are frames. */
  frames: number;
  /** Seconds from the earliest timestamp of the file to the first frame; below zero if that is not to be shown. */
  start: number;
  /** Seconds from the earliest timestamp of the file to the end of the last frame. */
  duration: number;
  /** Frames a second, between the track's own first and last frame. */
  averageRate: number;
  /** The lowest common rate whose frame times include those of all frames; null when none does. */
  grid: FrameRate | null;
};

/** ffmpeg takes a jump of more than this for a break in the clock, not for a pause. */
const BREAK_SECONDS = 10;
/** ... and so it does when the clock goes back by more than this. */
const STEP_BACK_SECONDS = 0.1;

/** Some containers round times to milliseconds, the first one too. */
const GRID_TOLERANCE_SECONDS = 0.0011;

/**
 * Measures a track from its packets, read in file order. Containers may declare any duration, or none (as browsers do
 * that record), and a file may have been cut off: only the packets tell.
 */
export class PacketTimeline {
  readonly #startTime: number;
  readonly #clockMayBreak: boolean;
  #frames = 0;
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #end = Number.NEGATIVE_INFINITY;
  #longestFrame = 0;
  #expected: number | undefined;
  #shift = 0;
  /** Most seconds by which a packet is decoded before it is shown: those that do not say so are shown late, too. */
  #delay = 0;
  /** Any of the frames' times, from which grids are counted. */
  #origin: number | undefined;
  #grids = COMMON_RATES;

  /**
   * @param startTime earliest timestamp of the file, in seconds
   * @param clockMayBreak whether the container allows timestamps to start over (MPEG streams), which ffmpeg mends
   */
  constructor(startTime: number, clockMayBreak: boolean) {
    this.#startTime = startTime;
    this.#clockMayBreak = clockMayBreak;
  }

  /** A packet's times in seconds; NaN where the container gives none. */
  add(pts: number, dts: number, duration: number): void {
    this.#frames += 1;
    const length = Number.isNaN(duration) ? 0 : Math.max(0, duration);
    this.#longestFrame = Math.max(this.#longestFrame, length);
    const time = this.#mended(Number.isNaN(dts) ? pts : dts, length);
    if (Number.isNaN(time)) return;
    const shown = Number.isNaN(pts) ? time + this.#delay : pts + this.#shift;
    this.#delay = Math.max(this.#delay, shown - time);
    this.#origin ??= shown;
    const sinceOrigin = shown - this.#origin;
    this.#grids = this.#grids.filter((rate) => isOnGrid(sinceOrigin, toNumber(rate)));
    this.#first = Math.min(this.#first, shown);
    this.#last = Math.max(this.#last, shown);
    this.#end = Math.max(this.#end, shown + length);
  }

  /** Packets so far. */
  get frames(): number {
    return this.#frames;
  }

  /** Seconds from the earliest timestamp of the file to the end of what was read so far. It only grows. */
  get end(): number {
    return this.#end - this.#startTime;
  }

  /** Null when no packet had a time. */
  result(): Timeline | null {
    if (this.#frames === 0 || this.#end === Number.NEGATIVE_INFINITY) return null;
    const frameSeconds = (this.#last - this.#first) / Math.max(1, this.#frames - 1);
    // Without durations the last frame is as long as the others are on average.
    const end = this.#longestFrame > 0 ? this.#end : this.#end + frameSeconds;
    return {
      frames: this.#frames,
      start: this.#first - this.#startTime,
      duration: end - this.#startTime,
      // Where times tremble, MP4 may give the last frame next to no duration, which says nothing of the others.
      averageRate: 1 / Math.max(frameSeconds, (end - this.#first) / this.#frames),
      grid: this.#grids[0] ?? null,
    };
  }

  #mended(time: number, length: number): number {
    if (Number.isNaN(time)) return time;
    const expected = this.#expected;
    if (this.#clockMayBreak && expected !== undefined) {
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
