/**
 * Reads ffmpeg's `-progress` output: blocks of `key=value` lines. Calls `onTime` with the seconds of video written so
 * far, whenever they have grown.
 */
export class ProgressReader {
  readonly #onTime: (seconds: number) => void;
  #rest = '';
  #seconds = 0;

  constructor(onTime: (seconds: number) => void) {
    this.#onTime = onTime;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, microseconds] = /^out_time_us=(\d+)/.exec(line) ?? [];
      const seconds = Number(microseconds ?? 0) / 1e6;
      if (seconds > this.#seconds) {
        this.#seconds = seconds;
        this.#onTime(seconds);
      }
    }
  }
}
