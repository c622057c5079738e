import type { AacConfig } from '../adts.ts';
import type { AudioContent } from '../audio-track.ts';
import type { Sample } from './movie-fragment.ts';
import { ticksOf } from './movie-fragment.ts';

/** A difference of half a frame is more than rounding. */
const JUMP_FRAMES = 0.5;

/** Measures the AAC of a segment: each sample is a frame. */
export class AacSamples {
  readonly #pid: number;
  readonly #config: AacConfig;
  #frames = 0;
  #jumps = 0;
  #start: number | null = null;
  /** When the last frame ends, in ticks. */
  #end = 0;

  constructor(pid: number, config: AacConfig) {
    this.#pid = pid;
    this.#config = config;
  }

  add(sample: Sample): void {
    const { presentation, duration } = ticksOf(sample);
    this.#start ??= presentation;
    if (this.#frames > 0 && Math.abs(presentation - this.#end) > JUMP_FRAMES * duration) this.#jumps += 1;
    this.#frames += 1;
    this.#end = presentation + duration;
  }

  /** Null without any frame. */
  content(): AudioContent | null {
    if (this.#start === null) return null;
    return {
      pid: this.#pid,
      frames: this.#frames,
      config: this.#config,
      changes: false,
      start: this.#start,
      end: this.#end,
      jumps: this.#jumps,
    };
  }
}
