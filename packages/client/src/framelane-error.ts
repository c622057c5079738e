import type { Problem, Video } from './contract.ts';

type Facts = {
  code: string;
  status?: number;
  requestId?: string | null;
  problem?: Problem;
  cause?: unknown;
};

/** The base of all errors of this package. `message` is for people, `code` for programs. */
export class FramelaneError extends Error {
  override readonly name: string = 'FramelaneError';
  /**
   * The `code` of the API's problem. Other codes are `connection_failed` without a complete response, `unexpected_response` if an error
   * response has no problem or a response is not from Framelane, `invalid_path_parameter` if an id is empty, `.` or `..`,
   * `source_changed` if a file became shorter during the upload, `upload_incomplete` if the engine received no more of it, and
   * `webhook_not_verified` if the signature of an event is not valid.
   */
  readonly code: string;
  /** HTTP status; null without a response, and if a successful response is not JSON. */
  readonly status: number | null;
  /** Quote it when you report the problem. */
  readonly requestId: string | null;
  /** The whole problem (RFC 9457); null without a response, or if the response has none. */
  readonly problem: Problem | null;

  constructor(message: string, { code, status, requestId, problem, cause }: Facts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status ?? null;
    this.requestId = requestId ?? null;
    this.problem = problem ?? null;
  }
}

/** The API or the engine responded with a problem. `problem.errors` lists errors in the input. */
export class ApiError extends FramelaneError {
  override readonly name = 'ApiError';
  declare readonly status: number;
  declare readonly requestId: string;
  declare readonly problem: Problem;
}

/** The server sent no complete response: `cause` says why. */
export class ConnectionError extends FramelaneError {
  override readonly name = 'ConnectionError';

  constructor(url: string, cause?: unknown) {
    super(`${new URL(url).origin} sent no complete response.`, { code: 'connection_failed', cause });
  }
}

/** The video has failed. `code` and `message` are those of its `error`. */
export class VideoFailedError extends FramelaneError {
  override readonly name = 'VideoFailedError';
  readonly video: Video;

  constructor(video: Video) {
    const { code, message } = video.error ?? { code: 'internal_error', message: 'The video has failed.' };
    super(message, { code });
    this.video = video;
  }
}

/** What a call resolves with: `data`, or `error` instead. */
export type Outcome<Data> = { data?: Data; error?: unknown; response: Response };

/** Returns the data of a call. Throws a FramelaneError if the response is an error. */
export async function unwrap<Data>(call: Promise<Outcome<Data>>): Promise<Data> {
  const { data, error, response } = await call;
  if (!response.ok) throw errorOf(response.status, response.headers.get('x-request-id'), error);
  return data as Data;
}

/** The error of an error response. `body` is an object if it was JSON, otherwise a text. */
export function errorOf(status: number, requestId: string | null, body: unknown): FramelaneError {
  if (isProblem(body)) {
    const { code, detail } = body;
    return new ApiError(detail, { code, status, requestId: body.requestId, problem: body });
  }
  const message = `The response with the status ${status} is not from Framelane. A proxy may have sent it.`;
  return new FramelaneError(message, { code: 'unexpected_response', status, requestId });
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
}
