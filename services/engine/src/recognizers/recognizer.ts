/** Sound for a recogniser. */
export type Sound = {
  /** A WAV file: mono, 16 kHz, 16 bits. */
  wav: Buffer;
  /** Its duration. */
  seconds: number;
};

/** What a recogniser needs besides the sound. */
export type RecognitionRequest = {
  /** The language that is spoken, ISO 639; null if it is to be detected. */
  language: string | null;
  /** The directory of the job. */
  directory: string;
  signal: AbortSignal;
};

/** Turns speech into text. */
export interface Recognizer {
  /** The longest sound that it gets at once. */
  readonly maxSeconds: number;
  /** The pauses before further requests for a part, in milliseconds. */
  readonly retryDelaysMs: readonly number[];
  /** Whether it needs the processors of this machine, so that it begins only while nothing is transcoded. */
  readonly isLocal: boolean;
  /**
   * Resolves with the JSON that the recogniser has written, at most `MAX_ANSWER_BYTES`. It is not trusted: `readAnswer` reads it. Throws a
   * TranscodeFailure, or the reason of the signal.
   */
  recognize(sound: Sound, request: RecognitionRequest): Promise<string>;
}

/** The largest JSON of a recogniser. That of ten minutes of speech, with each part of a word, has about 1 MiB. */
export const MAX_ANSWER_BYTES = 4 * 1024 ** 2;
