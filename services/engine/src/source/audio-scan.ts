import { TICK_SECONDS } from './gop-scan.ts';

/** The frames of an AAC track without gaps, with one description in the container. */
export type AudioFrames = {
  /** Seconds from the start of the file; below zero if the first frames are the encoder's priming samples. */
  start: number;
  frames: number;
  bytes: number;
};

type PacketFacts = { isHidden?: boolean; hasNewDescription?: boolean; duration?: number };

/** Samples in one AAC frame. */
export const AAC_FRAME_SAMPLES = 1024;

/** Counts the packets of a track in file order and checks that those of AAC follow each other without a gap. */
export class AudioScan {
  readonly #startTime: number;
  readonly #frameSeconds: number;
  #first = Number.NaN;
  #frames = 0;
  #bytes = 0;
  #shown = 0;
  #firstShown = Number.NaN;
  #end = Number.NEGATIVE_INFINITY;
  #hasEnded = false;
  #isBroken = false;

  /** @param startTime earliest timestamp of the file, in seconds */
  constructor(startTime: number, sampleRate: number) {
    this.#startTime = startTime;
    this.#frameSeconds = AAC_FRAME_SAMPLES / sampleRate;
  }

  /**
   * Adds a packet.
   *
   * @param pts seconds; NaN where the container gives no timestamp
   * @param facts.isHidden whether it is decoded and not heard: as priming samples, or outside of the edits of an edit list
   * @param facts.hasNewDescription whether the container has another description of the track from here on, as for another sample rate
   * @param facts.duration seconds; NaN where the container gives none
   */
  add(
    pts: number,
    bytes: number,
    { isHidden = false, hasNewDescription = false, duration = 0 }: PacketFacts = {},
  ): void {
    if (isHidden && this.#shown > 0) {
      this.#hasEnded = true;
      return;
    }
    if (!isHidden) {
      if (this.#shown === 0) this.#firstShown = pts;
      this.#shown += 1;
      // Without times, packets follow each other.
      const begin = Number.isNaN(pts) ? Math.max(this.#end, this.#startTime) : pts;
      this.#end = Math.max(this.#end, begin + (duration || 0));
      this.#isBroken ||= this.#hasEnded;
    }
    if (this.#frames === 0) this.#first = pts;
    const expected = this.#first + this.#frames * this.#frameSeconds;
    if (!(Math.abs(pts - expected) <= TICK_SECONDS) || hasNewDescription) this.#isBroken = true;
    this.#frames += 1;
    this.#bytes += bytes;
  }

  /** Audible packets added so far. */
  get packets(): number {
    return this.#shown;
  }

  /** Seconds from the start of the file to the first audible packet; NaN if that has no timestamp. */
  get start(): number {
    return this.#firstShown - this.#startTime;
  }

  /** Seconds from the start of the file to the end of the last audible packet; -Infinity without one. Never decreases. */
  get end(): number {
    return this.#end - this.#startTime;
  }

  /** Null if there is a gap or a new description, or no frame at all. */
  result(): AudioFrames | null {
    if (this.#isBroken || this.#frames === 0) return null;
    return { start: this.#first - this.#startTime, frames: this.#frames, bytes: this.#bytes };
  }
}
