import { InvalidSegmentError } from '../packagers/packager.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { TranscodeFailure } from '../transcode-failure.ts';

/** What ended a run, without its explanation. */
export function causeOf(error: unknown): unknown {
  return error instanceof TranscodeFailure ? error.cause : error;
}

/**
 * Whether a stream copy may be the cause: ffmpeg could not copy a track, or a segment is invalid. The cause of a retryable
 * failure is in the engine, not in the source.
 */
export function isCopyFailure(error: unknown): boolean {
  if (error instanceof TranscodeFailure && error.retryable) return false;
  const cause = causeOf(error);
  return cause instanceof InvalidSegmentError || (cause instanceof ToolError && cause.end === 'exit');
}
