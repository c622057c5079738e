import { PROBLEMS, type ProblemCode } from '@framelane/contracts/problem-codes';

/** One invalid field of a request. `field` as in the contract, e.g. `body/filename`; `code` names the rule. */
export type FieldError = { field: string; code: string; message: string };

type ProblemOptions = {
  errors?: readonly FieldError[];
  /** Extra response headers, e.g. `WWW-Authenticate`. */
  headers?: Readonly<Record<string, string>>;
  /** Extra members of the body, e.g. `maxBytes`. */
  extra?: Readonly<Record<string, unknown>>;
  /** Refuse the rest of the request body: the connection is closed after the response. */
  closeConnection?: boolean;
  /** For the log only. */
  cause?: unknown;
};

/** An error for the client, sent as RFC 9457 `application/problem+json`. `detail` says what is wrong and what to do. */
export class Problem extends Error {
  override name = 'Problem';
  readonly code: ProblemCode;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.options = options;
  }

  /** The HTTP status. */
  get status(): number {
    return PROBLEMS[this.code].status;
  }

  /** The body of the response. `publicUrl` is the public URL of the control planes, which serve a page about each type of problem. */
  toBody(request: { id: string; path: string }, publicUrl: string): Record<string, unknown> {
    return {
      type: `${publicUrl}/docs/errors/${this.code}`,
      ...PROBLEMS[this.code],
      detail: this.message,
      instance: request.path,
      code: this.code,
      requestId: request.id,
      ...(this.options.errors && { errors: this.options.errors }),
      ...this.options.extra,
    };
  }
}

/** The response to input that breaks the contract. */
export function validationFailed(errors: readonly FieldError[]): Problem {
  const summary = errors.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new Problem('validation_failed', `The request is invalid: ${summary}.`, { errors });
}

/** The same for one field, e.g. `query/limit`. */
export function invalidField(field: string, code: string, message: string): Problem {
  return validationFailed([{ field, code, message }]);
}

/** The response to an unforeseen error. The cause goes to the log only. */
export function internalError(cause: unknown): Problem {
  return new Problem(
    'internal_error',
    'An unexpected error occurred. Quote the requestId when you report it.',
    { cause },
  );
}

/** The response while something Framelane needs is unavailable. The client may retry after `retryAfterSeconds`. */
export function unavailable(detail: string, cause?: unknown, retryAfterSeconds = 5): Problem {
  return new Problem('unavailable', detail, {
    cause,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}
