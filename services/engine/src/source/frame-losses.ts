import { type FrameRate, MAX_RATE, toNumber } from './frame-rate.ts';

/** The frames that a track would lose at a constant rate, as fractions of all. */
export type FrameLoss = {
  rate: FrameRate;
  /** Frames whose nearest frame time is that of another frame. */
  lost: number;
  /** Frames without a free frame time within one period. Frame times that only jitter around those of the rate do not count. */
  crowded: number;
};

/** The number of frames that may be decoded before one that is displayed earlier: 16 in H.264 and HEVC, or twice as many fields. */
const MAX_REORDERED = 32;

type Count = { rate: FrameRate; lost: number; crowded: number; slot: number; free: number };

/** Counts the frames that a track would lose at some constant rates. */
export class FrameLossScan {
  readonly #counts: Count[];
  /** Seconds, ascending. */
  readonly #pending: number[] = [];
  #frames = 0;

  constructor(rates: readonly FrameRate[]) {
    const fastest = { numerator: MAX_RATE, denominator: 1 };
    const none = { lost: 0, crowded: 0, slot: Number.NEGATIVE_INFINITY, free: Number.NEGATIVE_INFINITY };
    this.#counts = [fastest, ...rates].map((rate) => ({ rate, ...none }));
  }

  /** Adds a frame, in the order of decoding. `seconds` is its time of presentation, relative to the first frame. */
  add(seconds: number): void {
    const after = this.#pending.findLastIndex((time) => time <= seconds);
    this.#pending.splice(after + 1, 0, seconds);
    if (this.#pending.length > MAX_REORDERED) this.#count(this.#pending.shift());
  }

  /** Call before the first frame whose time is relative to another frame than before. Its frames take no frame times of earlier ones. */
  beginPart(): void {
    this.#countPending();
    for (const count of this.#counts) count.slot = count.free = Number.NEGATIVE_INFINITY;
  }

  /** Call once, after the last frame. Frames that are lost even at the maximum rate do not count. */
  result(): FrameLoss[] {
    this.#countPending();
    const [fastest, ...others] = this.#counts;
    const fraction = (frames: number, anyway = 0) => Math.max(0, frames - anyway) / Math.max(1, this.#frames);
    return others.map(({ rate, lost, crowded }) => ({
      rate,
      lost: fraction(lost, fastest?.lost),
      crowded: fraction(crowded, fastest?.crowded),
    }));
  }

  #countPending(): void {
    for (const seconds of this.#pending.splice(0)) this.#count(seconds);
  }

  #count(seconds = 0): void {
    this.#frames += 1;
    for (const count of this.#counts) {
      const time = seconds * toNumber(count.rate);
      const slot = Math.round(time);
      if (slot <= count.slot) count.lost += 1;
      count.slot = Math.max(slot, count.slot);
      const free = Math.max(slot, count.free);
      if (free - time > 1) count.crowded += 1;
      else count.free = free + 1;
    }
  }
}
