import type { FailureCode } from '@framelane/contracts/failures';

/** Why an attempt failed, in words its owner may read. What went wrong inside is the `cause`, for the log. */
export class TranscodeFailure extends Error {
  override name = 'TranscodeFailure';
  readonly code: FailureCode;
  /** Whether another attempt may end better: false when the file itself is at fault. */
  readonly retryable: boolean;

  constructor(code: FailureCode, message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable;
  }
}

/** The file cannot be transcoded, however often one tries. */
export function refusal(code: FailureCode, message: string, cause?: unknown): TranscodeFailure {
  return new TranscodeFailure(code, message, { retryable: false, cause });
}

/** Storage did not do what was asked of it. */
export function storageFailure(cause: unknown): TranscodeFailure {
  return new TranscodeFailure('storage_failed', 'The storage could not be read or written.', {
    retryable: true,
    cause,
  });
}

/** A disk that the engine writes to is full, or down to what others need of it. */
export function outOfDiskSpace(cause?: unknown): TranscodeFailure {
  return new TranscodeFailure('internal_error', 'The engine ran out of disk space.', {
    retryable: true,
    cause,
  });
}

/** A tool ended well but wrote less than it was to write, as ffmpeg does when the disk was full in between. */
export function incompleteOutput(what: string): TranscodeFailure {
  return new TranscodeFailure('internal_error', 'The engine could not write all of the video.', {
    retryable: true,
    cause: new Error(what),
  });
}
