import { PassThrough } from 'node:stream';
import { Problem } from '@framelane/service-kit/problem';
import type { Request, Response } from 'express';
import multer, { MulterError, type StorageEngine } from 'multer';
import { fileTooLarge, malformedMultipart, multipleFiles } from './upload-problems.ts';

/** Bounds of everything in a form but the file. */
const FORM_LIMITS = {
  files: 1,
  fields: 100,
  parts: 101,
  fieldNameSize: 200,
  fieldSize: 16 * 1024,
  fieldNestingDepth: 5,
  fieldArrayIndexLimit: 100,
  headerPairs: 100,
};

/**
 * Reads a multipart/form-data body to its end and hands its one file to `storage`; text parts are thrown away.
 * Throws a Problem as soon as the form or the storage fails, or the reason of `signal` as soon as that aborts. The
 * rest of the body is left unread then, and the connection is fit for the answer.
 */
export async function readMultipart(
  req: Request,
  res: Response,
  options: { storage: StorageEngine; maxBytes: number; signal: AbortSignal },
): Promise<void> {
  const { storage, maxBytes, signal } = options;
  signal.throwIfAborted();
  const body = new FormBody(req.headers);
  const cutOff = () => body.destroy();
  const readBody = multer({
    storage,
    limits: { ...FORM_LIMITS, fileSize: maxBytes },
    // The name is only noted down, and one such as ".." must not count as none.
    preservePath: true,
    defParamCharset: 'utf8',
  }).any();
  signal.addEventListener('abort', cutOff, { once: true });
  req.pipe(body);
  try {
    await new Promise<void>((resolve, reject) => {
      const done = (error?: unknown) => (error ? reject(error) : resolve());
      // All that multer asks of a request is a body and its headers.
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

/**
 * The body as multer gets it. Multer lets go of what it refuses, then drains it before it says so, however long that
 * takes. This stream ends there instead, while the request itself stays open for the answer.
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
      'The body is not multipart/form-data as its Content-Type says, or its closing boundary is missing.',
      error,
    );
  }
  switch (error.code) {
    case 'LIMIT_FILE_SIZE':
      return fileTooLarge(maxBytes);
    case 'LIMIT_FILE_COUNT':
      return multipleFiles();
    case 'LIMIT_FIELD_VALUE':
      return malformedMultipart(
        'A text part is too long. If it is the file: a file part has a filename.',
        error,
      );
    default:
      return malformedMultipart(`The form is not acceptable: ${error.message}.`, error);
  }
}
