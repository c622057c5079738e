/** The largest accepted file with captions, in bytes. */
export const MAX_CAPTIONS_BYTES = 2 * 1024 ** 2;

/** The most cues of one language. */
export const MAX_CUES = 50_000;

/** A text with the time when it is shown, in milliseconds from the first frame of the video. */
export type Cue = {
  start: number;
  end: number;
  /** WebVTT cue settings, e.g. `line:0 align:left`; empty for the default position. */
  settings: string;
  /** WebVTT cue text without blank lines. Its only tags are those of `cue-text.ts`. */
  text: string;
};

/** Captions cannot be read. The message is for the author of the file. */
export class CaptionsError extends Error {
  override name = 'CaptionsError';
  /** The error in the file, as part of a sentence. */
  readonly flaw: string;
  /** The line that cannot be read, counted from 1; null if the error is not in one line. */
  readonly line: number | null;

  /** `advice` is a sentence. */
  constructor(line: number | null, flaw: string, advice?: string) {
    super(
      `${line === null ? 'The file cannot be read' : `Line ${line}`}: ${flaw}.${advice ? ` ${advice}` : ''}`,
    );
    this.line = line;
    this.flaw = flaw;
  }
}
