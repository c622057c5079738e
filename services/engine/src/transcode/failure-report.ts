import { ENGINE_STOPPED } from '@framelane/contracts/failures';
import type { MessageData } from '@framelane/contracts/messages';
import { ToolOutputError } from '../sandbox/tool-output.ts';
import { TranscodeFailure } from '../transcode-failure.ts';

/** This engine is stopping; the control plane lets another engine repeat the work. */
export class EngineStoppedError extends Error {
  override name = 'EngineStoppedError';
}

/** A failed try, as reported to the control plane and logged. */
export type FailureReport = {
  outcome: Pick<MessageData<'task.failed'>, 'code' | 'message' | 'retryable'>;
  level: 'info' | 'warn' | 'error';
  facts: { reason: string } | { error: unknown };
};

/**
 * Classifies the error of a try. For a refused file and for a stop, the log gets the reason without a stack trace. The
 * reason includes ffmpeg's own message if there is one.
 */
export function reportFailure(error: unknown): FailureReport {
  if (error instanceof EngineStoppedError) {
    return {
      outcome: {
        code: ENGINE_STOPPED,
        message: 'The engine stopped during its work. Retry the video.',
        retryable: true,
      },
      level: 'info',
      facts: { reason: error.message },
    };
  }
  if (!(error instanceof TranscodeFailure)) {
    const message = 'An internal error occurred in the engine. Retry the video later.';
    return {
      outcome: { code: 'internal_error', message, retryable: true },
      level: 'error',
      facts: { error },
    };
  }
  const { code, message, retryable, cause } = error;
  const outcome = { code, message, retryable };
  // Operators should investigate a possibly compromised tool.
  if (cause instanceof ToolOutputError) return { outcome, level: 'error', facts: { error } };
  if (!retryable) {
    const reason = cause instanceof Error ? cause.message : message;
    return { outcome, level: 'info', facts: { reason } };
  }
  return { outcome, level: code === 'internal_error' ? 'error' : 'warn', facts: { error } };
}
