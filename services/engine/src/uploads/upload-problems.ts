import { Problem, unavailable } from '@framelane/service-kit/problem';

/** Every reason for which the engine itself refuses an upload. */

export function tokenMissing(): Problem {
  return new Problem('upload_token_missing', 'Send the token of the upload ticket as X-Upload-Token.');
}

export function tokenInvalid(): Problem {
  return new Problem(
    'upload_token_invalid',
    'This upload token does not exist. Request a new upload ticket.',
  );
}

export function notMultipart(): Problem {
  return new Problem('unsupported_media_type', 'Send the file as a part of a multipart/form-data body.');
}

export function malformedMultipart(detail: string, cause?: unknown): Problem {
  return new Problem('malformed_multipart', detail, { cause });
}

export function fileMissing(): Problem {
  return new Problem('file_missing', 'The form has no file. Send exactly one file part with a filename.');
}

export function fileEmpty(): Problem {
  return new Problem('file_empty', 'The file is empty. Send a file with content.');
}

export function multipleFiles(): Problem {
  return new Problem('multiple_files', 'The form has more than one file. Send one file per upload ticket.');
}

export function fileTooLarge(maxBytes: number): Problem {
  return new Problem('file_too_large', `The file is too large. Send at most ${maxBytes} bytes.`, {
    extra: { maxBytes },
  });
}

/** Nobody reads this answer; it names the case in the log and to the control plane. */
export function clientGone(): Problem {
  return new Problem('upload_interrupted', 'The connection ended before the file was complete.');
}

export function clientTooSlow(detail: string): Problem {
  return new Problem('upload_timeout', `${detail} The token can be used again.`);
}

export function notWanted(): Problem {
  return new Problem(
    'upload_cancelled',
    'The video was deleted during the upload, or the ticket expired or is used by another upload.',
  );
}

export function engineStopping(): Problem {
  return unavailable('This engine is shutting down. The token can be used again.');
}

export function tooManyUploads(): Problem {
  return unavailable('This engine takes no more uploads at once. The token can be used again.');
}

/** What keeps a store from taking more, as Node, the file systems and S3 servers call it. */
const FULL = /^(ENOSPC|EDQUOT|EFBIG|XMinioStorageFull|InsufficientStorage)$/;

/** The file does not fit into the store. */
export function noRoom(cause?: unknown): Problem {
  return new Problem('insufficient_storage', 'The storage has no room for this file. Retry later.', {
    cause,
  });
}

/** The store could not take the file. */
export function storageFailed(cause: unknown): Problem {
  if (cause instanceof Problem) return cause;
  if (isFull(cause)) return noRoom(cause);
  return unavailable('The file could not be stored. The token can be used again.', cause);
}

function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as NodeJS.ErrnoException).code;
  return FULL.test(code ?? '') || FULL.test(error.name) || isFull(error.cause);
}
