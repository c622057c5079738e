import { type FieldError, Problem, unavailable, validationFailed } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import { error as validatorErrors } from 'express-openapi-validator';
import { isDatabaseUnavailable, isTooSlow } from '../db/database-unavailable.ts';
import { type PatternMessages, toFieldErrors, type ValidatorIssue } from './field-errors.ts';
import { unknownField } from './unknown-fields.ts';

/** Turns the errors of the body parser, the OpenAPI validator and the database into Problems. */
export function translateHttpError(error: unknown, req: Request): Problem | undefined {
  if (error instanceof validatorErrors.NotFound) {
    return noSuchOperation(req);
  }
  if (error instanceof validatorErrors.MethodNotAllowed) {
    return methodNotAllowed(req, error.headers?.Allow ?? '');
  }
  if (error instanceof validatorErrors.UnsupportedMediaType) {
    return new Problem('unsupported_media_type', `Send the body as ${acceptedTypes(req)}.`);
  }
  if (isDatabaseUnavailable(error))
    return unavailable('The service cannot reach its database. Retry in a few seconds.', error);
  if (isTooSlow(error)) return unavailable('The database takes too long. Retry in a few seconds.', error);
  return translateBodyParserError(error);
}

/** The types of the body that the operation of the request accepts. */
function acceptedTypes(req: Request): string {
  const { openapi } = req as { openapi?: { schema?: { requestBody?: { content: object } } } };
  return Object.keys(openapi?.schema?.requestBody?.content ?? { 'application/json': {} }).join(' or ');
}

/** Turns the input errors of the validator into a Problem. `unknown` are the unknown fields of the body. */
export function invalidInput(
  error: { errors: ValidatorIssue[]; message: string },
  req: Request,
  { patterns, unknown }: { patterns: PatternMessages; unknown: readonly FieldError[] },
): Problem {
  if (isAboutPath(error)) return noSuchOperation(req);
  // A misspelt name is reported before the field that is missing because of it.
  return unknown.length > 0 ? unknownField(unknown) : validationFailed(toFieldErrors(error.errors, patterns));
}

/** Whether only the path is invalid, such as segment `-1.ts` or a malformed escape: that is 404 and not 400. */
function isAboutPath({ errors, message }: { errors: ValidatorIssue[]; message: string }): boolean {
  return message.startsWith('malformed uri') || errors.every(({ path }) => path.startsWith('/params/'));
}

function noSuchOperation(req: Request): Problem {
  return new Problem(
    'route_not_found',
    `There is no operation ${req.method} ${req.baseUrl}${req.path}. Check the method and the path.`,
  );
}

function methodNotAllowed(req: Request, documented: string): Problem {
  const methods = documented.split(', ');
  const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  return new Problem(
    'method_not_allowed',
    `This path does not support ${req.method}. Supported: ${allowed}.`,
    {
      headers: { Allow: allowed },
    },
  );
}

/** Errors of `jsonBody` have a `type`, except those of zlib. */
function translateBodyParserError(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isZlibError(error))
    return new Problem(
      'invalid_json',
      'The body cannot be decompressed. Send it in the encoding that Content-Encoding names.',
    );
  if (!('type' in error)) return undefined;
  switch (error.type) {
    case 'entity.parse.failed':
      return new Problem('invalid_json', 'The body is not valid JSON. Send a JSON object.');
    case 'entity.verify.failed':
      return new Problem('invalid_json', 'The body contains bytes that are not UTF-8. Encode it in UTF-8.');
    case 'entity.too.large': {
      const { limit } = error as unknown as { limit: number };
      return new Problem('body_too_large', `The JSON body is too large. Send at most ${limit / 1024} kB.`, {
        closeConnection: true,
      });
    }
    case 'encoding.unsupported':
      return new Problem(
        'unsupported_media_type',
        'The Content-Encoding is not supported. Send the body uncompressed, or compressed with gzip.',
      );
    case 'charset.unsupported':
      return new Problem('unsupported_media_type', 'Send the body as application/json in UTF-8.');
    case 'request.aborted':
    case 'request.size.invalid':
      return new Problem('incomplete_body', 'The body ended before it was complete. Send the request again.');
    default:
      return undefined;
  }
}

/** Errors of decompression: `Z_DATA_ERROR` and similar, of Brotli `ERR__ERROR_FORMAT_…`. */
function isZlibError(error: Error): boolean {
  return 'code' in error && /^(Z_|ERR__ERROR_|ZSTD_)/.test(String(error.code));
}
