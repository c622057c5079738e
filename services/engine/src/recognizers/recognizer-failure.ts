import { TranscodeFailure } from '../transcode-failure.ts';

type FailureOptions = {
  retryable: boolean;
  cause?: unknown;
  /** The pause that the recogniser asks for, in seconds. */
  retryAfterSeconds?: number | undefined;
  /** Whether the sound was too long for it. */
  isTooLong?: boolean;
};

/** The recogniser has failed, or sent something that cannot be used. Only the log has the reason. */
export class RecognizerFailure extends TranscodeFailure {
  readonly retryAfterSeconds: number;
  readonly isTooLong: boolean;

  constructor(
    reason: string,
    { retryable, cause, retryAfterSeconds = 0, isTooLong = false }: FailureOptions,
  ) {
    super('transcode_failed', 'The speech could not be recognised.', {
      retryable,
      cause: new Error(reason, { cause }),
    });
    this.retryAfterSeconds = retryAfterSeconds;
    this.isTooLong = isTooLong;
  }
}

export function recognizerFailure(reason: string, options: FailureOptions): RecognizerFailure {
  return new RecognizerFailure(reason, options);
}

/** The recogniser has not responded in time. */
export function recognizerTimeout(seconds: number): TranscodeFailure {
  return new TranscodeFailure('transcode_timeout', 'Speech recognition took too long.', {
    retryable: true,
    cause: new Error(`The recogniser took more than ${seconds} s`),
  });
}
