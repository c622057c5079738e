import { tooManyUploads } from './upload-problems.ts';

/** Limits the concurrent uploads of this engine, of both kinds together. */
export class UploadSlots {
  readonly #max: number;
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a slot, or throws a 503 Problem when no slot is free. Call the returned function once, to free it. */
  take(): () => void {
    if (this.#used >= this.#max) throw tooManyUploads();
    this.#used += 1;
    return () => {
      this.#used -= 1;
    };
  }
}
