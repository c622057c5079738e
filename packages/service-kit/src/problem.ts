import { STATUS_CODES } from 'node:http';

/** What the statuses are called (RFC 9110 §15); Node has older names for two of them. */
const TITLES: Readonly<Record<number, string | undefined>> = {
  ...STATUS_CODES,
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** One faulty field of a request. `field` is a JSON path without the leading `/`, e.g. `filename`. */
export type FieldError = { field: string; code: string; message: string };

type ProblemOptions = {
  errors?: readonly FieldError[];
  /** Extra response headers, e.g. `WWW-Authenticate`. */
  headers?: Readonly<Record<string, string>>;
  /** Extra members of the body, e.g. `maxBytes`. */
  extra?: Readonly<Record<string, unknown>>;
  /** Refuse the rest of the body: the connection is closed after the answer. */
  closeConnection?: boolean;
  cause?: unknown;
};

/** An error the client may see: rendered as RFC 9457 `application/problem+json`. `detail` says what to do. */
export class Problem extends Error {
  override name = 'Problem';
  readonly status: number;
  /** Stable, snake_case; what programs look at. */
  readonly code: string;
  readonly options: ProblemOptions;

  constructor(status: number, code: string, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.code = code;
    this.options = options;
  }

  /** The body of the answer. */
  toBody(request: { id: string; path: string }): Record<string, unknown> {
    return {
      type: `urn:framelane:problem:${this.code}`,
      title: TITLES[this.status] ?? 'Error',
      status: this.status,
      detail: this.message,
      instance: request.path,
      code: this.code,
      requestId: request.id,
      ...(this.options.errors && { errors: this.options.errors }),
      ...this.options.extra,
    };
  }
}

/** The answer to anything unforeseen. The cause goes to the log only. */
export function internalError(cause: unknown): Problem {
  return new Problem(
    500,
    'internal_error',
    'Something went wrong on our side. Quote the requestId when you report it.',
    {
      cause,
    },
  );
}

/** Something Framelane needs is away; the client may try again after `retryAfterSeconds`. */
export function unavailable(detail: string, cause?: unknown, retryAfterSeconds = 5): Problem {
  return new Problem(503, 'unavailable', detail, {
    cause,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}
