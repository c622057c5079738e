/** The frames of a track of AAC without a gap. */
export type AudioFrames = {
  /** Seconds from the beginning of the file; below zero for what the encoder put in front. */
  start: number;
  frames: number;
  bytes: number;
};

/** Samples in one AAC frame. */
export const AAC_FRAME_SAMPLES = 1024;

/** Transport streams count time in these. */
const TICK_SECONDS = 1 / 90_000;

/** Reads the packets of a track of AAC in file order and sees whether they follow each other without a gap. */
export class AudioScan {
  readonly #startTime: number;
  readonly #frameSeconds: number;
  #first = Number.NaN;
  #frames = 0;
  #bytes = 0;
  #broken = false;

  /** @param startTime earliest timestamp of the file, in seconds */
  constructor(startTime: number, sampleRate: number) {
    this.#startTime = startTime;
    this.#frameSeconds = AAC_FRAME_SAMPLES / sampleRate;
  }

  /** A packet's time in seconds, NaN where the container gives none, and its size. */
  add(pts: number, bytes: number): void {
    if (this.#frames === 0) this.#first = pts;
    const expected = this.#first + this.#frames * this.#frameSeconds;
    if (!(Math.abs(pts - expected) <= TICK_SECONDS)) this.#broken = true;
    this.#frames += 1;
    this.#bytes += bytes;
  }

  /** Null when there is a gap, or nothing at all. */
  result(): AudioFrames | null {
    if (this.#broken || this.#frames === 0) return null;
    return { start: this.#first - this.#startTime, frames: this.#frames, bytes: this.#bytes };
  }
}
