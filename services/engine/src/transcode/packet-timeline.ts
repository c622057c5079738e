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
};

/** ffmpeg takes a jump of more than this for a break in the clock, not for a pause. */
const BREAK_SECONDS = 10;
/** ... and so it does when the clock goes back by more than this. */
const STEP_BACK_SECONDS = 0.1;

/**
 * Measures a track from its packets, read in file order. Containers may declare any duration, or none (as browsers do
 * that record), and a file may have been cut off: only the packets tell.
 */
export class PacketTimeline {
  readonly #startTime: number;
  readonly #clockMayBreak: boolean;
  #frames = 0;
  #first = Number.POSITIVE_INFINITY;
  #end = Number.NEGATIVE_INFINITY;
  #longestFrame = 0;
  #expected: number | undefined;
  #shift = 0;
  /** Seconds by which the first packet is decoded before it is shown, and so is the last. */
  #delay: number | undefined;

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
    if (!Number.isNaN(pts)) this.#delay ??= pts + this.#shift - time;
    const shown = Number.isNaN(pts) ? time + (this.#delay ?? 0) : pts + this.#shift;
    this.#first = Math.min(this.#first, shown);
    this.#end = Math.max(this.#end, shown + length);
  }

  /** Null when no packet had a time. */
  result(): Timeline | null {
    if (this.#frames === 0 || this.#end === Number.NEGATIVE_INFINITY) return null;
    // Without durations the last frame is as long as the others are on average.
    const gaps = Math.max(1, this.#frames - 1);
    const end = this.#longestFrame > 0 ? this.#end : this.#end + (this.#end - this.#first) / gaps;
    return {
      frames: this.#frames,
      start: this.#first - this.#startTime,
      duration: end - this.#startTime,
      averageRate: this.#frames / (end - this.#first),
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
