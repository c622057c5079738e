import { type FrameLoss, FrameLossScan } from './frame-losses.ts';
import {
  COMMON_RATES,
  type FrameRate,
  isSameRate,
  MAX_RATE,
  RATE_TOLERANCE,
  toNumber,
} from './frame-rate.ts';

/** The timing of a video track, measured from its packets, as ffmpeg's decoder sees it. */
export type Timeline = {
  /**
   * Seconds from the earliest timestamp of the file to the beginning of what the edit lists show. ffmpeg discards what is before, except in
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
  /** The lowest rate whose frame times include those of all frames, of the common rates and the declared one; null if there is none. */
  grid: FrameRate | null;
  /** For the common rates and the declared one, lowest first; undefined if unknown. */
  losses?: readonly FrameLoss[] | undefined;
};

/** Some containers round timestamps to milliseconds, and the first timestamp with them. */
const GRID_TOLERANCE_SECONDS = 0.0011;

/**
 * Measures a video track from its packets, read in file order. The declared duration is not reliable: recordings of
 * browsers have none, and files may be truncated.
 */
export class PacketTimeline {
  readonly #startTime: number;
  readonly #cut: number;
  #frames = 0;
  #hidden = 0;
  #hiddenFrom = Number.POSITIVE_INFINITY;
  /** The sum of the durations of the frames, in seconds. */
  #frameSeconds = 0;
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #end = Number.NEGATIVE_INFINITY;
  #longestFrame = 0;
  /**
   * The longest time in seconds from decoding to presentation so far. A packet without a presentation timestamp is assumed to
   * have this delay.
   */
  #delay = 0;
  /** The time of the first packet, or of the first one after hidden packets; grids are relative to it. */
  #origin: number | undefined;
  readonly #declaredRate: FrameRate | null;
  #grids: readonly FrameRate[];
  readonly #losses: FrameLossScan;

  /**
   * @param startTime earliest timestamp of the file, in seconds
   * @param declaredRate the frame rate that the track declares; it may be absurd
   * @param hasEditLists whether edit lists hide what has a time below zero, of any track
   */
  constructor(startTime: number, declaredRate: FrameRate | null = null, hasEditLists = false) {
    this.#startTime = startTime;
    this.#cut = hasEditLists ? Math.max(0, -startTime) : 0;
    this.#declaredRate = declaredRate;
    const rates = candidates(declaredRate);
    this.#grids = rates;
    this.#losses = new FrameLossScan(rates);
  }

  /** Adds a packet. Times are in seconds, corrected where the clock restarts; NaN where the container gives none. */
  add(pts: number, dts: number, duration: number): void {
    this.#frames += 1;
    const length = Number.isNaN(duration) ? 0 : Math.max(0, duration);
    this.#longestFrame = Math.max(this.#longestFrame, length);
    this.#frameSeconds += length;
    const time = Number.isNaN(dts) ? pts : dts;
    if (Number.isNaN(time)) return;
    const presented = Number.isNaN(pts) ? time + this.#delay : pts;
    this.#delay = Math.max(this.#delay, presented - time);
    this.#origin ??= presented;
    const sinceOrigin = presented - this.#origin;
    this.#grids = this.#grids.filter((rate) => isOnGrid(sinceOrigin, toNumber(rate)));
    this.#losses.add(sinceOrigin);
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
    this.#losses.beginPart();
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

  /** In a short video, rates that hardly differ have the same frame times. */
  #grid(): FrameRate | null {
    const [lowest = null] = this.#grids;
    const declared = this.#declaredRate;
    if (!lowest || !declared || !this.#grids.some((rate) => isSameRate(rate, declared))) return lowest;
    return toNumber(declared) <= toNumber(lowest) * (1 + RATE_TOLERANCE) ? declared : lowest;
  }

  /** Null if no packet has a timestamp. */
  result(): Timeline | null {
    if (this.#end === Number.NEGATIVE_INFINITY) return null;
    const frameSeconds = (this.#last - this.#first) / Math.max(1, this.#frames - 1);
    // Without packet durations, the last frame gets the average duration.
    const end = this.#longestFrame > 0 ? this.#end : this.#end + frameSeconds;
    return {
      cut: this.#cut,
      frames: this.#frames,
      start: this.#first - this.#startTime,
      duration: end - this.#startTime,
      // With jittering timestamps, MP4 may give the last frame nearly no duration; the other frames determine the rate.
      averageRate:
        this.#hidden > 0 && this.#frameSeconds > 0
          ? this.#frames / this.#frameSeconds
          : 1 / Math.max(frameSeconds, (end - this.#first) / this.#frames),
      grid: this.#grid(),
      losses: this.#losses.result(),
    };
  }
}

/** Lowest first. */
function candidates(declared: FrameRate | null): FrameRate[] {
  const isNew =
    declared && toNumber(declared) <= MAX_RATE && !COMMON_RATES.some((rate) => isSameRate(rate, declared));
  return [...COMMON_RATES, ...(isNew ? [declared] : [])].sort((a, b) => toNumber(a) - toNumber(b));
}

function isOnGrid(seconds: number, rate: number): boolean {
  return Math.abs(seconds - Math.round(seconds * rate) / rate) <= GRID_TOLERANCE_SECONDS;
}
