import { PassThrough } from 'node:stream';
import { MIMEType } from 'node:util';
import { Problem } from '@framelane/service-kit/problem';
import type { Request, Response } from 'express';
import multer, { MulterError, type StorageEngine } from 'multer';
import {
  fileEncoded,
  fileTooLarge,
  malformedMultipart,
  multipleFiles,
  notMultipart,
} from './upload-problems.ts';

/** Limits of everything in a form except the file. Browsers send a part without a file for each empty file input. */
const FORM_LIMITS = {
  fields: 100,
  parts: 200,
  fieldNameSize: 200,
  fieldSize: 16 * 1024,
  fieldNestingDepth: 5,
  fieldArrayIndexLimit: 100,
  headerPairs: 100,
};

/**
 * Reads a multipart/form-data body to its end and passes its one file to `storage`. Text parts are discarded. Throws a Problem as
 * soon as the form or the storage fails, or the reason of `signal` when that aborts. The rest of the body is unread then,
 * and the connection can still carry the response.
 */
export async function readMultipart(
  req: Request,
  res: Response,
  options: { storage: StorageEngine; maxBytes: number; signal: AbortSignal },
): Promise<void> {
  const { storage, maxBytes, signal } = options;
  signal.throwIfAborted();
  requireMultipart(req.get('content-type') ?? '');
  // A client that sent "Expect: 100-continue" may send the body now.
  if (req.get('expect') !== undefined) res.writeContinue();
  const body = new FormBody(req.headers);
  const cutOff = () => body.destroy();
  const readBody = multer({
    storage,
    limits: { ...FORM_LIMITS, fileSize: maxBytes },
    fileFilter: onlyOneFile(),
    // Without it, multer treats a file named ".." as a part without a file.
    preservePath: true,
  }).any();
  signal.addEventListener('abort', cutOff, { once: true });
  req.pipe(body);
  try {
    await new Promise<void>((resolve, reject) => {
      const done = (error?: unknown) => (error ? reject(error) : resolve());
      // Multer uses only the body and the headers of a request.
      readBody(body as unknown as Request, res, done);
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : asProblem(error, maxBytes);
  } finally {
    signal.removeEventListener('abort', cutOff);
    req.unpipe(body);
    body.destroy();
  }
}

function requireMultipart(contentType: string): void {
  let type: MIMEType;
  try {
    type = new MIMEType(contentType);
  } catch {
    throw notMultipart();
  }
  if (type.essence !== 'multipart/form-data') throw notMultipart();
  if (!type.params.get('boundary')) {
    throw malformedMultipart('The Content-Type has no boundary. Let the HTTP library set this header.');
  }
}

/** The values of Content-Transfer-Encoding with which a part contains the file as it is (RFC 2045 §6.2). */
const IDENTITY = ['7bit', '8bit', 'binary'];

/** Refuses a second file of a form, and a file that is encoded. It gets only parts with a filename. */
function onlyOneFile(): NonNullable<multer.Options['fileFilter']> {
  let files = 0;
  return (_req, { encoding }, decide) => {
    files += 1;
    if (files > 1) decide(multipleFiles());
    else if (!IDENTITY.includes(encoding.trim().toLowerCase())) decide(fileEncoded());
    else decide(null, true);
  };
}

/**
 * The body as multer reads it. When multer refuses a form, it unpipes the body and drains it to its end before it reports the
 * error. This stream ends at once instead, while the request stays open for the response.
 */
class FormBody extends PassThrough {
  readonly headers: Request['headers'];

  constructor(headers: Request['headers']) {
    super();
    this.headers = headers;
  }

  override unpipe(destination?: NodeJS.WritableStream): this {
    super.unpipe(destination);
    return this.destroy();
  }
}

function asProblem(error: unknown, maxBytes: number): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof MulterError)) {
    return malformedMultipart(
      'The body is not valid multipart/form-data. Check the boundary in the Content-Type and the closing boundary.',
      error,
    );
  }
  switch (error.code) {
    case 'LIMIT_FILE_SIZE':
      return fileTooLarge(maxBytes);
    case 'LIMIT_FIELD_VALUE':
      return malformedMultipart(
        'A text part is too long. If it is the file, give the part a filename.',
        error,
      );
    default:
      return malformedMultipart(`The form was refused: ${error.message}.`, error);
  }
}
