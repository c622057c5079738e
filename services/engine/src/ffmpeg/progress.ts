/**
 * Reads ffmpeg's `-progress` output: blocks of `key=value` lines. Calls `onFrames` with the number of frames written to
 * its first video output so far, whenever it has grown. The time ffmpeg also gives is that of whatever is furthest: of
 * sound, or of packets that are passed on while frames still wait to be encoded.
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
