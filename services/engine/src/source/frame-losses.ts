import { type FrameRate, MAX_RATE, toNumber } from './frame-rate.ts';

/** The frames that a track would lose at a constant rate, as fractions of all. */
export type FrameLoss = {
  rate: FrameRate;
  /** By how much frames are moved so that the fewest are lost, as a fraction of a period of the rate. */
  phase: number;
  /** Frames whose nearest frame time is that of another frame, if all are moved by this phase. */
  lost: number;
  /** Frames without a free frame time within one period. Frame times that only jitter around those of the rate do not count. */
  crowded: number;
};

/**
 * The phases to choose from, of equal ones the first. In 3:2 pulldown the fields are two fifths of a period apart: each of these phases
 * rounds other frames to the same frame time.
 */
const PHASES = [0, 0.2, 0.4, -0.2, -0.4];

/** The number of frames that may be decoded before one that is displayed earlier: 16 in H.264 and HEVC, or twice as many fields. */
const MAX_REORDERED = 32;

type PhaseCount = { phase: number; lost: number; slot: number };
type Count = { rate: FrameRate; perSecond: number; phases: PhaseCount[]; crowded: number; free: number };

/** Counts the frames that a track would lose at some constant rates. */
export class FrameLossScan {
  readonly #counts: Count[];
  /** Seconds, ascending. */
  readonly #pending: number[] = [];
  /** The time of the first displayed frame, which is at a frame time of every rate. */
  #origin: number | undefined;
  #frames = 0;

  constructor(rates: readonly FrameRate[]) {
    const fastest = { numerator: MAX_RATE, denominator: 1 };
    this.#counts = [fastest, ...rates].map((rate) => ({
      rate,
      perSecond: toNumber(rate),
      phases: PHASES.map((phase) => ({ phase, lost: 0, slot: Number.NEGATIVE_INFINITY })),
      crowded: 0,
      free: Number.NEGATIVE_INFINITY,
    }));
  }

  /** Adds a frame, in the order of decoding. `seconds` is its time of presentation. */
  add(seconds: number): void {
    const after = this.#pending.findLastIndex((time) => time <= seconds);
    this.#pending.splice(after + 1, 0, seconds);
    if (this.#pending.length > MAX_REORDERED) this.#count(this.#pending.shift());
  }

  /** Call before the first frame of another part, whose frame times have another origin. Its frames take no frame times of earlier ones. */
  beginPart(): void {
    this.#countPending();
    this.#origin = undefined;
    for (const count of this.#counts) {
      count.free = Number.NEGATIVE_INFINITY;
      for (const each of count.phases) each.slot = Number.NEGATIVE_INFINITY;
    }
  }

  /** Call once, after the last frame. Frames that are lost even at the maximum rate do not count. */
  result(): FrameLoss[] {
    this.#countPending();
    const [fastest, ...others] = this.#counts;
    const fraction = (frames: number, anyway = 0) => Math.max(0, frames - anyway) / Math.max(1, this.#frames);
    const unavoidable = fastest && fewest(fastest).lost;
    return others.map((count) => {
      const { phase, lost } = fewest(count, unavoidable);
      return {
        rate: count.rate,
        phase,
        lost: fraction(lost, unavoidable),
        crowded: fraction(count.crowded, fastest?.crowded),
      };
    });
  }

  #countPending(): void {
    for (const seconds of this.#pending.splice(0)) this.#count(seconds);
  }

  #count(seconds = 0): void {
    this.#frames += 1;
    this.#origin ??= seconds;
    for (const count of this.#counts) {
      const time = (seconds - this.#origin) * count.perSecond;
      for (const each of count.phases) {
        const slot = Math.round(time + each.phase);
        if (slot <= each.slot) each.lost += 1;
        each.slot = Math.max(slot, each.slot);
      }
      const free = Math.max(Math.round(time), count.free);
      if (free - time > 1) count.crowded += 1;
      else count.free = free + 1;
    }
  }
}

/** The first phase with the fewest lost frames. Those that are lost anyway do not count. */
function fewest({ phases }: Count, anyway = 0): PhaseCount {
  return phases.reduce((best, each) =>
    Math.max(each.lost, anyway) < Math.max(best.lost, anyway) ? each : best,
  );
}
