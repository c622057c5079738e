import { Problem, unavailable } from '@framelane/service-kit/problem';

/** The problems with which the engine itself refuses an upload. */

const TOKEN_STAYS_VALID = 'The upload token stays valid: send the file again.';

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

/** RFC 7578 §4.7 says that clients do not use this header. */
export function fileEncoded(): Problem {
  return malformedMultipart(
    'The part with the file has a Content-Transfer-Encoding. Send the bytes of the file as they are, without this header.',
  );
}

export function fileTooLarge(maxBytes: number): Problem {
  return new Problem('file_too_large', `The file is too large. Send at most ${maxBytes} bytes.`, {
    extra: { maxBytes },
  });
}

/** The client does not read this response. Its code goes to the log and to the control plane. */
export function clientDisconnected(): Problem {
  return new Problem('upload_interrupted', 'The connection closed before the file was complete.');
}

/** @param detail which limit the client missed */
export function uploadTimeout(detail: string): Problem {
  return new Problem('upload_timeout', `${detail} ${TOKEN_STAYS_VALID}`);
}

export function uploadCancelled(): Problem {
  return new Problem(
    'upload_cancelled',
    'The video was deleted during the upload, or the ticket expired or is used by another upload.',
  );
}

export function engineStopping(): Problem {
  return unavailable(`This engine is shutting down. ${TOKEN_STAYS_VALID}`);
}

export function tooManyUploads(): Problem {
  return unavailable(`This engine has reached its limit of concurrent uploads. ${TOKEN_STAYS_VALID}`);
}

/** @param start where the body must begin */
export function offsetMismatch(start: number): Problem {
  return new Problem(
    'upload_offset_mismatch',
    `The upload continues at byte ${start}. Send a HEAD request to get the offset, and send the file from there.`,
    { extra: { offset: start } },
  );
}

/** The state of the upload cannot be read now. After this status, clients retry a HEAD; after a 503, they create a new upload. */
export function uploadLocked(cause: unknown): Problem {
  return new Problem('upload_locked', 'The upload is busy. Retry.', { cause });
}

/** Another engine continues the upload. */
export function uploadTakenOver(cause?: unknown): Problem {
  return new Problem(
    'upload_offset_mismatch',
    'Another engine has continued the upload, or it was cancelled. Get its offset by HEAD.',
    { cause },
  );
}

export function uploadNotResumable(cause: unknown): Problem {
  return new Problem('upload_ended', 'The stored part of this upload is lost. Create a new upload.', {
    cause,
  });
}

export function checksumMismatch(): Problem {
  return new Problem(
    'checksum_mismatch',
    'The body does not match Upload-Checksum, so it was discarded. Send it again.',
  );
}

export function bodyTooLong(): Problem {
  return new Problem(
    'body_too_large',
    'The body is longer than the rest of the file according to Upload-Length. Send only the remaining bytes.',
  );
}

/** How Node, the file systems and S3 servers report that the storage is full. */
const FULL = /^(ENOSPC|EDQUOT|EFBIG|XMinioStorageFull|InsufficientStorage)$/;

export function storageFull(cause?: unknown): Problem {
  return new Problem(
    'insufficient_storage',
    'The storage has too little free space for this file. Retry later.',
    { cause },
  );
}

/** The problem for an error of the object store. */
export function storageFailed(cause: unknown): Problem {
  if (cause instanceof Problem) return cause;
  if (isFull(cause)) return storageFull(cause);
  return unavailable(`The file could not be stored. ${TOKEN_STAYS_VALID}`, cause);
}

function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as NodeJS.ErrnoException).code;
  return FULL.test(code ?? '') || FULL.test(error.name) || isFull(error.cause);
}
