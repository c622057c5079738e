import { TranscodeFailure } from '../transcode-failure.ts';

/** The recogniser has failed, or sent something that cannot be used. Only the log has the reason. */
export function recognizerFailure(
  reason: string,
  { retryable, cause }: { retryable: boolean; cause?: unknown },
): TranscodeFailure {
  return new TranscodeFailure('transcode_failed', 'The speech could not be recognised.', {
    retryable,
    cause: new Error(reason, { cause }),
  });
}

/** The recogniser has not responded in time. */
export function recognizerTimeout(seconds: number): TranscodeFailure {
  return new TranscodeFailure('transcode_timeout', 'Speech recognition took too long.', {
    retryable: true,
    cause: new Error(`The recogniser took more than ${seconds} s`),
  });
}
