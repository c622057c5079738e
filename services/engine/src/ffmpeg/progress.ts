/**
 * Parses ffmpeg's `-progress` output: blocks of `key=value` lines. Calls `onFrames` with the number of frames written to the first
 * video output whenever it has increased. It does not use the time in that output, which is the time of the fastest stream: audio
 * and passthrough packets run ahead of the encoder.
 */
export class ProgressReader {
  readonly #onFrames: (frames: number) => void;
  #rest = '';
  #frames = 0;

  constructor(onFrames: (frames: number) => void) {
    this.#onFrames = onFrames;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, frames] = /^frame=\s*(\d+)/.exec(line) ?? [];
      if (Number(frames ?? 0) > this.#frames) {
        this.#frames = Number(frames);
        this.#onFrames(this.#frames);
      }
    }
  }
}
