import type { TranscodeFailureCode } from '@framelane/contracts/failures';

/** Why a try failed. The message is shown to the owner of the video; the `cause` is for the log only. */
export class TranscodeFailure extends Error {
  override name = 'TranscodeFailure';
  readonly code: TranscodeFailureCode;
  /** Whether another try may succeed: false if the file itself is the reason. */
  readonly retryable: boolean;

  constructor(code: TranscodeFailureCode, message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable;
  }
}

/** The file cannot be transcoded. Another try would fail, too. */
export function refusal(code: TranscodeFailureCode, message: string, cause?: unknown): TranscodeFailure {
  return new TranscodeFailure(code, message, { retryable: false, cause });
}

/** The object store failed to read or write. */
export function storageFailure(cause: unknown): TranscodeFailure {
  return new TranscodeFailure(
    'storage_failed',
    'The object store could not be read or written. Retry the video later.',
    {
      retryable: true,
      cause,
    },
  );
}

/** The disk of the engine or of the objects has no free space apart from its reserve. */
export function outOfDiskSpace(cause?: unknown): TranscodeFailure {
  return new TranscodeFailure('internal_error', 'The engine ran out of disk space. Retry the video later.', {
    retryable: true,
    cause,
  });
}

/**
 * ffmpeg ended without an error, but its output is incomplete. That happens when the disk is full for a while.
 *
 * @param what for the log
 */
export function incompleteOutput(what: string): TranscodeFailure {
  return new TranscodeFailure(
    'internal_error',
    'The engine could not write the complete output. Retry the video later.',
    {
      retryable: true,
      cause: new Error(what),
    },
  );
}
