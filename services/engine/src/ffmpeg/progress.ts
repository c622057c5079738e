/**
 * The key that shows the progress of a run: the number of frames written to the first video output, or the time in microseconds of
 * the fastest stream. The time is misleading in a run that also encodes video: audio and stream copies are ahead of the encoder.
 */
export type ProgressKey = 'frame' | 'out_time_us';

/** Parses ffmpeg's `-progress` output: blocks of `key=value` lines. Calls `onProgress` whenever a value has increased. */
export class ProgressReader {
  readonly #pattern: RegExp;
  readonly #onProgress: (value: number) => void;
  #rest = '';
  #value = 0;

  constructor(key: ProgressKey, onProgress: (value: number) => void) {
    this.#pattern = new RegExp(String.raw`^${key}=\s*(\d+)`);
    this.#onProgress = onProgress;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, value] = this.#pattern.exec(line) ?? [];
      if (Number(value ?? 0) > this.#value) {
        this.#value = Number(value);
        this.#onProgress(this.#value);
      }
    }
  }
}
