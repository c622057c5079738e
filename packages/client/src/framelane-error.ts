import type { Problem, Video } from './contract.ts';

type Facts = {
  code: string;
  status?: number;
  requestId?: string | null;
  problem?: Problem | null;
  cause?: unknown;
};

/** Whatever goes wrong between this client and Framelane. `message` is for people, `code` for programs. */
export class FramelaneError extends Error {
  override readonly name: string = 'FramelaneError';
  /**
   * The `code` of the problem Framelane answered with. Where there is none: `connection_failed` when there was no answer,
   * `unexpected_answer` when it was not Framelane's, `source_changed` when a file became shorter while it was sent,
   * `webhook_not_verified` when an event is not signed by Framelane.
   */
  readonly code: string;
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** Quote it when you report the problem. */
  readonly requestId: string | null;
  /** The whole of what Framelane answered (RFC 9457). */
  readonly problem: Problem | null;

  constructor(message: string, { code, status, requestId, problem, cause }: Facts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status ?? null;
    this.requestId = requestId ?? null;
    this.problem = problem ?? null;
  }
}

/** A video that will not become ready. `code` and `message` are those of its `error`. */
export class VideoFailedError extends FramelaneError {
  override readonly name = 'VideoFailedError';
  readonly video: Video;

  constructor(video: Video) {
    const { code, message } = video.error ?? { code: 'internal_error', message: 'The video has failed.' };
    super(message, { code });
    this.video = video;
  }
}

/** Of an answer that is an error. `body` is what it said: an object if it was JSON, otherwise a text. */
export function refusal(status: number, requestId: string | null, body: unknown): FramelaneError {
  if (isProblem(body)) {
    const { code, detail } = body;
    return new FramelaneError(detail, { code, status, requestId: body.requestId, problem: body });
  }
  const message = `The answer, with the status ${status}, is not one of Framelane's. Something may stand in between.`;
  return new FramelaneError(message, { code: 'unexpected_answer', status, requestId });
}

/** Of a request that was not answered. */
export function connectionFailed(url: string, cause?: unknown): FramelaneError {
  const message = `There was no answer from ${new URL(url).origin}.`;
  return new FramelaneError(message, { code: 'connection_failed', cause });
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
}
