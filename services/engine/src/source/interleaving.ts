/**
 * Measures by how much audio precedes video in the order of a file. A run that begins to read at a key frame lacks all audio that is before it in
 * the file.
 */
export class Interleaving {
  #heardUntil = Number.NEGATIVE_INFINITY;
  #ahead = 0;

  /** Adds a packet of audio, with the second at which it ends; NaN if unknown. */
  addAudio(end: number): void {
    this.#heardUntil = Math.max(this.#heardUntil, end || Number.NEGATIVE_INFINITY);
  }

  /** Adds a key frame, with the second at which it is displayed. */
  addKeyFrame(time: number): void {
    this.#ahead = Math.max(this.#ahead, this.#heardUntil - time || 0);
  }

  /** The most seconds of audio that precede a key frame and are heard after it. */
  get audioAhead(): number {
    return this.#ahead;
  }
}
