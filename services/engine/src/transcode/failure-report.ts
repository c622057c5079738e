import { ENGINE_STOPPED } from '@framelane/contracts/failures';
import type { MessageData } from '@framelane/contracts/messages';
import { ToolOutputError } from '../output/tool-output.ts';
import { TranscodeFailure } from '../transcode-failure.ts';

/** This engine is stopping; the attempt goes back to the control plane. */
export class EngineStoppedError extends Error {
  override name = 'EngineStoppedError';
}

/** What the control plane is told of an attempt that failed, and what the log is. */
export type FailureReport = {
  outcome: Pick<MessageData<'transcode.failed'>, 'code' | 'message' | 'retryable'>;
  level: 'info' | 'warn' | 'error';
  facts: { reason: string } | { error: unknown };
};

/**
 * Judges an error that ended an attempt. A file that is at fault and an engine that stops are ordinary ends, and where
 * in our code they came to light tells nobody anything: of them the log has the reason alone, in ffmpeg's own words if
 * it gave one.
 */
export function reportFailure(error: unknown): FailureReport {
  if (error instanceof EngineStoppedError) {
    return {
      outcome: { code: ENGINE_STOPPED, message: 'The engine stopped.', retryable: true },
      level: 'info',
      facts: { reason: error.message },
    };
  }
  if (!(error instanceof TranscodeFailure)) {
    const message = 'Something went wrong in the engine.';
    return {
      outcome: { code: 'internal_error', message, retryable: true },
      level: 'error',
      facts: { error },
    };
  }
  const { code, message, retryable, cause } = error;
  const outcome = { code, message, retryable };
  // A tool that was taken over is something to look into.
  if (cause instanceof ToolOutputError) return { outcome, level: 'error', facts: { error } };
  if (!retryable) {
    const reason = cause instanceof Error ? cause.message : message;
    return { outcome, level: 'info', facts: { reason } };
  }
  return { outcome, level: code === 'internal_error' ? 'error' : 'warn', facts: { error } };
}
