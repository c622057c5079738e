/**
 * The key that shows the progress of a run: the number of frames written to the first video output, or the time in microseconds of
 * the fastest stream. The time is misleading in a run that also encodes video: audio and stream copies are ahead of the encoder.
 */
export type ProgressKey = 'frame' | 'out_time_us';

type ProgressHandlers = {
  /** Called whenever the value of the key has increased. */
  onProgress: (value: number) => void;
  /** Called whenever any of the keys has: while a still picture is shown, only the sound goes on. */
  onMove: () => void;
};

/** Parses ffmpeg's `-progress` output: blocks of `key=value` lines. */
export class ProgressReader {
  readonly #key: ProgressKey;
  readonly #handlers: ProgressHandlers;
  readonly #values: Record<ProgressKey, number> = { frame: 0, out_time_us: 0 };
  #rest = '';

  constructor(key: ProgressKey, handlers: ProgressHandlers) {
    this.#key = key;
    this.#handlers = handlers;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, key, digits] = /^(frame|out_time_us)=\s*(\d+)/.exec(line) ?? [];
      if (key !== undefined) this.#read(key as ProgressKey, Number(digits));
    }
  }

  #read(key: ProgressKey, value: number): void {
    if (value <= this.#values[key]) return;
    this.#values[key] = value;
    this.#handlers.onMove();
    if (key === this.#key) this.#handlers.onProgress(value);
  }
}
